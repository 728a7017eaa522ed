import type { OrgId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { RUN_SESSION_PATTERN } from '../../domain/session/session.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import {
  column,
  columns,
  countRemoved,
  type OldRows,
  type RowOf,
  timestampOrNull,
  toTimestamp,
} from '../../platform/db/table.ts'

/**
 * Finds the orgs that have rows to delete. One statement checks all kinds for a page of orgs, each by the oldest row of
 * an index, so an org without old rows costs a few index lookups and no statement of its own.
 */

/** A condition per kind: whether the org has old rows of it. */
const OLD_ROWS_SQL = {
  tasks: `select from run r where r.org_id = o.id and r.trigger = 'task' and r.created_at < $3::timestamptz`,
  skips: 'select from run r where r.org_id = o.id and r.created_at < $4::timestamptz',
  runs: 'select from run r where r.org_id = o.id and r.created_at < $5::timestamptz',
  surplus: 'select from schedule s where s.org_id = o.id and s.fires > $6',
  deliveries: `select from delivery d where d.org_id = o.id and d.finished_at is not null
    and d.kind = any (array['callback', 'saved', 'session', 'channel']) and d.finished_at < $4::timestamptz`,
  alerts: 'select from alert a where a.org_id = o.id and a.raised_at < $5::timestamptz',
  backfills: 'select from backfill b where b.org_id = o.id and b.created_at < $5::timestamptz',
  heartbeats: 'select from heartbeat_log l where l.org_id = o.id',
  probes: 'select from probe p where p.org_id = o.id',
  sessions: 'select from session s where s.org_id = o.id and s.created_at < $5::timestamptz',
  timelineCounts: 'select from timeline_count l where l.org_id = o.id',
  taskCounts: `select from task_count c where c.org_id = o.id and c.agent_id <> '' and c.counted_at < $5::timestamptz`,
} as const

export type PrunedKind = keyof typeof OLD_ROWS_SQL

/** The times before which rows are old: tasks, rows kept for a day, rows kept as long as runs (null: forever). */
export interface OldBefore {
  readonly tasks: Instant
  readonly day: Instant
  readonly runs: Instant | null
  /** A schedule that has fired more often may have more runs than it may keep. */
  readonly fires: number
}

const oldKindColumns = columns({
  orgId: column.text<OrgId>('o.id'),
  kinds: column.texts<readonly PrunedKind[]>(
    `array_remove(array[${Object.entries(OLD_ROWS_SQL)
      .map(([kind, rows]) => `case when exists (${rows}) then '${kind}' end`)
      .join(', ')}], null)`,
  ),
})

/** Loads the next orgs by id, each with the kinds of which it has old rows. */
export async function loadOrgsToPrune(
  connection: Connection,
  query: { readonly after: string; readonly limit: number; readonly before: OldBefore },
): Promise<readonly RowOf<typeof oldKindColumns>[]> {
  const { tasks, day, runs, fires } = query.before
  const rows = await connection.query(
    `select ${oldKindColumns.list}
       from (select id from org where deleted_at is null and id > $1 order by id limit $2) o order by o.id`,
    [query.after, query.limit, toTimestamp(tasks), toTimestamp(day), timestampOrNull(runs), fires],
  )
  return oldKindColumns.read(rows)
}

const orgIdColumn = columns({ id: column.text<OrgId>('o.id') })

/** Loads the ids of orgs with tasks from before a time. Run often, because tasks are many and kept for minutes. */
export async function loadOrgsWithOldTasks(connection: Connection, before: Instant): Promise<readonly OrgId[]> {
  const rows = await connection.query(
    `select ${orgIdColumn.list} from org o where o.deleted_at is null and exists (
       select from run r where r.org_id = o.id and r.trigger = 'task' and r.created_at < $1::timestamptz) order by o.id`,
    [toTimestamp(before)],
  )
  return orgIdColumn.read(rows).map(({ id }) => id)
}

/** Loads the next orgs by id whose newest history has not been added to the counts. */
export async function loadOrgsWithUncountedHistory(
  connection: Connection,
  query: { readonly after: string; readonly limit: number },
): Promise<readonly OrgId[]> {
  const rows = await connection.query(
    `select ${orgIdColumn.list} from org o join org_version v on v.org_id = o.id
       left join run_count_place r on r.org_id = o.id left join task_count_place t on t.org_id = o.id
       left join timeline_count_place l on l.org_id = o.id
      where o.deleted_at is null and o.id > $1 and least(coalesce(r.no, 0), coalesce(t.no, 0), coalesce(l.no, 0)) < v.no
      order by o.id limit $2`,
    [query.after, query.limit],
  )
  return orgIdColumn.read(rows).map(({ id }) => id)
}

/** The last session read by a walk through the sessions of an org. */
export interface SessionPosition {
  readonly createdAt: Instant
  readonly key: SessionKey
}

/**
 * A session without rules of its own, runs and chats: the next message creates it again. The session of a schedule's
 * run is deleted after the run, even if it has rules.
 */
const IDLE_SESSION_SQL = `(num_nonnulls(s.mode, s.cap, s.drop_policy, s.debounce_ms, s.max_concurrent) = 0 or
    (s.key ~ '${RUN_SESSION_PATTERN}'
      and not exists (select from run r where r.org_id = s.org_id and r.id = split_part(s.key, ':run:', 2))))
  and not exists (select from run r where r.org_id = s.org_id and r.session_key = s.key)
  and not exists (select from chat c where c.org_id = s.org_id and c.session_key = s.key)`

const sessionColumns = columns({
  key: column.text<SessionKey>('s.key'),
  createdAt: column.instant('s.created_at'),
  isIdle: column.boolean(IDLE_SESSION_SQL),
})

/** Loads one step of sessions created before a time, oldest first: the idle ones, and where to continue. */
export async function loadIdleSessions(
  connection: Connection,
  query: OldRows & { readonly after: SessionPosition },
): Promise<{ readonly idle: readonly SessionKey[]; readonly next: SessionPosition | null }> {
  const rows = await connection.query(
    `select ${sessionColumns.list} from session s
      where s.org_id = $1 and s.created_at < $2::timestamptz and (s.created_at, s.key) > ($3::timestamptz, $4::text)
      order by s.created_at, s.key limit $5`,
    [query.orgId, toTimestamp(query.before), toTimestamp(query.after.createdAt), query.after.key, query.limit],
  )
  const seen = sessionColumns.read(rows)
  const last = seen.length < query.limit ? undefined : seen.at(-1)
  return {
    idle: seen.filter(({ isIdle }) => isIdle).map(({ key }) => key),
    next: last === undefined ? null : { createdAt: last.createdAt, key: last.key },
  }
}

const sessionKeyColumn = columns({ key: column.text<SessionKey>('s.key') })

/** Deletes those of the sessions that are still idle, under the lock of the org. Returns their keys. */
export async function deleteIdleSessions(
  tx: Transaction,
  of: { readonly orgId: OrgId; readonly keys: readonly SessionKey[] },
): Promise<readonly SessionKey[]> {
  const rows = await tx.query(
    `delete from session s where s.org_id = $1 and s.key = any ($2::text[]) and ${IDLE_SESSION_SQL} returning ${sessionKeyColumn.list}`,
    [of.orgId, of.keys],
  )
  return sessionKeyColumn.read(rows).map(({ key }) => key)
}

/** Deletes the counts of agents without tasks since a time, but not the counts of all agents together. */
export function deleteOldTaskCounts(connection: Connection, old: OldRows): Promise<number> {
  return countRemoved(
    connection,
    `with gone as (
       delete from task_count c where c.ctid = any (array(
         select t.ctid from task_count t
          where t.org_id = $1 and t.counted_at < $2::timestamptz and t.agent_id <> '' limit $3)) returning 1)
     select count(*) as removed from gone`,
    [old.orgId, toTimestamp(old.before), old.limit],
  )
}

/** Acquires or renews the lease for pruning, which lasts `forMs`. False while another node holds it. */
export async function acquirePruneLease(
  connection: Connection,
  query: { readonly holder: string; readonly now: Instant; readonly forMs: number },
): Promise<boolean> {
  const rows = await connection.query(
    `insert into pruner (holder, until) values ($1, $2::timestamptz + $3 * interval '1 ms')
     on conflict (one) do update set holder = excluded.holder, until = excluded.until
       where pruner.holder = excluded.holder or pruner.until < $2::timestamptz
          or pruner.until > excluded.until + interval '1 minute' returning 1`,
    [query.holder, toTimestamp(query.now), query.forMs],
  )
  return rows.length > 0
}
