import type { OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import type { OrgPage } from '../../platform/db/page.ts'
import { column, columns, counted, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const owners = columns({ owner: column.text<string | null>() })

/** The owner of the schedule; undefined if there is no such schedule. */
export async function loadScheduleOwner(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: ScheduleId },
): Promise<string | null | undefined> {
  const rows = await connection.query(`select ${owners.list} from schedule where org_id = $1 and id = $2`, [
    query.orgId,
    query.id,
  ])
  return owners.first(rows)?.owner
}

/** The owner of the run; undefined if there is no such run. */
export async function loadRunOwner(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: RunId },
): Promise<string | null | undefined> {
  const rows = await connection.query(`select ${owners.list} from run where org_id = $1 and id = $2`, [
    query.orgId,
    query.id,
  ])
  return owners.first(rows)?.owner
}

/** The number of schedules an owner has, in any state. */
export async function countOwned(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly owner: string },
): Promise<number> {
  const rows = await connection.query(`select ${counted.list} from schedule where org_id = $1 and owner = $2`, [
    query.orgId,
    query.owner,
  ])
  return counted.only(rows).count
}

const actionColumns = table('rail_act', {
  kind: column.text<'made' | 'moved' | 'woken' | 'task' | 'message'>(),
  scheduleId: column.text<ScheduleId | null>(),
  /** The occurrence of an `at` schedule. */
  moment: column.instant<Instant | null>(),
})

/** An action that counts toward the limits of a restricted key. */
export type RestrictedAction = RowOf<typeof actionColumns>

/** Records actions of an owner. */
export async function insertRestrictedActions(
  tx: Transaction,
  done: {
    readonly orgId: OrgId
    readonly owner: string
    readonly at: Instant
    readonly acts: readonly RestrictedAction[]
  },
): Promise<void> {
  await tx.query(
    `insert into rail_act (org_id, owner, at, ${actionColumns.names})
     select $1, $2, $3::timestamptz, * from unnest(${actionColumns.arrays(4)})`,
    [done.orgId, done.owner, toTimestamp(done.at), ...actionColumns.lists(done.acts)],
  )
}

const actionTotals = columns({ ...counted.definitions, oldest: column.instant<Instant | null>('min(at)') })

/** The number of actions of an owner since a time, and the time of the first. */
export async function loadRestrictedActions(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly owner: string; readonly since: Instant },
): Promise<RowOf<typeof actionTotals>> {
  const rows = await connection.query(
    `select ${actionTotals.list} from rail_act where org_id = $1 and owner = $2 and at > $3::timestamptz`,
    [query.orgId, query.owner, toTimestamp(query.since)],
  )
  return actionTotals.only(rows)
}

const lastRuns = columns({ at: column.instant() })

/** When a restricted key last started a run of the schedule; null: never, or too long ago to be stored. */
export async function loadLastManualRun(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: ScheduleId },
): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${lastRuns.list} from rail_act where org_id = $1 and schedule_id = $2 and kind = 'woken' order by at desc limit 1`,
    [query.orgId, query.id],
  )
  return lastRuns.first(rows)?.at ?? null
}

const occurrenceColumns = columns({ moment: column.instant() })

/** The occurrence of another `at` schedule of the owner that is nearest to this time; null: there is none. */
export async function loadNearestOccurrence(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly owner: string; readonly moment: Instant; readonly except: ScheduleId },
): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${occurrenceColumns.list} from (
       (select moment from rail_act where org_id = $1 and owner = $2 and moment >= $3::timestamptz
          and schedule_id is distinct from $4 order by moment limit 1)
       union all
       (select moment from rail_act where org_id = $1 and owner = $2 and moment < $3::timestamptz
          and schedule_id is distinct from $4 order by moment desc limit 1)) near
     order by greatest(moment, $3::timestamptz) - least(moment, $3::timestamptz) limit 1`,
    [query.orgId, query.owner, toTimestamp(query.moment), query.except],
  )
  return occurrenceColumns.first(rows)?.moment ?? null
}

/** Drops the future occurrences of a schedule that was rescheduled or deleted. */
export async function clearFutureOccurrences(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: ScheduleId; readonly after: Instant },
): Promise<void> {
  await tx.query(
    `update rail_act set moment = null where org_id = $1 and schedule_id = $2 and moment > $3::timestamptz`,
    [gone.orgId, gone.id, toTimestamp(gone.after)],
  )
}

/**
 * Deletes actions that no limit counts any more. Actions with an hourly limit are deleted after a day; actions with a
 * minimum interval, after the longest interval that can be set. Returns how many.
 */
export async function deleteOldRestrictedActions(
  connection: Connection,
  old: { readonly before: Instant; readonly longBefore: Instant; readonly limit: number },
): Promise<number> {
  const rows = await connection.query(
    `delete from rail_act a using (
       select org_id, id from rail_act
        where at < $1::timestamptz and (kind <> 'woken' or at < $2::timestamptz)
          and (moment is null or moment < $2::timestamptz)
        order by at limit $3) d
      where a.org_id = d.org_id and a.id = d.id returning a.id`,
    [toTimestamp(old.before), toTimestamp(old.longBefore), old.limit],
  )
  return rows.length
}

const currentAttempts = columns({ attemptId: column.text<string | null>(), state: column.text() })

/** The current attempt of a pending run and the run's state; undefined if the run is not pending. */
export async function loadCurrentAttempt(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<RowOf<typeof currentAttempts> | undefined> {
  const rows = await connection.query(`select ${currentAttempts.list} from pending where org_id = $1 and id = $2`, [
    query.orgId,
    query.runId,
  ])
  return currentAttempts.first(rows)
}

const runs = columns({
  kind: column.text<'run' | 'schedule'>("'run'"),
  id: column.text('r.id'),
  parentRunId: column.text<string | null>('r.parent_run_id'),
  agentId: column.text('r.agent_id'),
  scheduleId: column.text<string | null>('r.schedule_id'),
  name: column.text<string | null>('null::text'),
  state: column.text(
    "coalesce(r.state, (select p.state from pending p where p.org_id = r.org_id and p.id = r.id), 'queued')",
  ),
  trigger: column.text<string | null>('r.trigger'),
  owner: column.text<string | null>('r.owner'),
  createdAt: column.instant('r.created_at'),
})

const schedules = columns({
  kind: column.text("'schedule'"),
  id: column.text('s.id'),
  parentRunId: column.text('s.created_by_run'),
  agentId: column.text('s.agent_id'),
  scheduleId: column.text('null::text'),
  name: column.text('s.name'),
  state: column.text('s.state'),
  trigger: column.text('null::text'),
  owner: column.text('s.owner'),
  createdAt: column.instant('s.created_at'),
})

/** A run or a schedule as a node of the lineage tree. */
export type LineageRow = RowOf<typeof runs>

/** The run and its stored ancestors, the run first, up to `most` levels. */
export async function loadRunWithAncestors(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: RunId; readonly most: number },
): Promise<readonly LineageRow[]> {
  const rows = await connection.query(
    `with recursive above (no, id, parent_run_id) as (
       select 0, id, parent_run_id from run where org_id = $1 and id = $2
       union all
       select a.no + 1, r.id, r.parent_run_id from above a join run r on r.org_id = $1 and r.id = a.parent_run_id
        where a.no < $3)
     select ${runs.list} from above a join run r on r.org_id = $1 and r.id = a.id order by a.no`,
    [query.orgId, query.id, query.most],
  )
  return runs.read(rows)
}

/** The runs and schedules that a run created, oldest first. */
export async function loadRunChildren(
  connection: Connection,
  query: OrgPage & {
    readonly id: RunId
    /** Only objects of this owner; null: of any owner. */
    readonly owner: string | null
  },
): Promise<readonly LineageRow[]> {
  const rows = await connection.query(
    `select * from (
       (select ${runs.list} from run r where r.org_id = $1 and r.parent_run_id = $2 and ($3::text is null or r.owner = $3)
           and ($4::timestamptz is null or (r.created_at, r.id) > ($4::timestamptz, $5::text))
         order by r.created_at, r.id limit $6)
       union all
       (select ${schedules.list} from schedule s where s.org_id = $1 and s.created_by_run = $2
           and ($3::text is null or s.owner = $3)
           and ($4::timestamptz is null or (s.created_at, s.id) > ($4::timestamptz, $5::text))
         order by s.created_at, s.id limit $6)) below
     order by "createdAt", id limit $6`,
    [
      query.orgId,
      query.id,
      query.owner,
      timestampOrNull(query.after?.createdAt ?? null),
      query.after?.id ?? null,
      query.limit,
    ],
  )
  return runs.read(rows)
}
