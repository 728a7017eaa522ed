import type { BackfillCounts, BackfillState, BackfillTerms, StandingCounts } from '../core/backfill/backfill.ts'
import type { OrgId, RunId, ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import type { TerminalState } from '../core/run/run-machine.ts'
import type { Connection, Transaction } from './database.ts'
import { type Listed, type OrgPage, readPage } from './page.ts'
import { countRemoved, type OldRows } from './removal.ts'
import { column, columns, type RowOf, table, timestampOrNull } from './table.ts'
import { toTimestamp } from './timestamp.ts'

/** What was known of a backfill when it began. */
export interface BackfillOutlook {
  readonly leftOut: StandingCounts
  readonly first: Instant | null
  readonly last: Instant | null
  /** Runs at a time, as far as the schedule lets it. */
  readonly atOnce: number
  readonly durationMs: number | null
  readonly tokens: number | null
  readonly cost: number | null
  readonly notes: readonly string[]
}

const backfills = table('backfill', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  scheduleId: column.text<ScheduleId>(),
  state: column.text<BackfillState>(),
  why: column.json<Why | null>(),
  terms: column.json<BackfillTerms>(),
  total: column.int(),
  taken: column.int(),
  inFlight: column.texts<readonly RunId[]>(),
  counts: column.json<BackfillCounts>(),
  failuresInRow: column.int(),
  nextAt: column.instant<Instant | null>(),
  outlook: column.json<BackfillOutlook>(),
  createdBy: column.text(),
  createdAt: column.instant(),
  finishedAt: column.instant<Instant | null>(),
})

/** A row of `backfill`, without the list of its moments. */
export type BackfillRow = RowOf<typeof backfills>

interface Named {
  readonly orgId: OrgId
  readonly id: string
}

/** Puts a backfill on record with its moments. */
export async function insertBackfill(tx: Transaction, row: BackfillRow, moments: readonly Instant[]): Promise<void> {
  await tx.query(
    `insert into backfill (moments, ${backfills.names}) values ($1::timestamptz[], ${backfills.params(2)})`,
    [moments.map(toTimestamp), ...backfills.values(row)],
  )
}

const PROGRESS = backfills.pick('state', 'why', 'taken', 'inFlight', 'counts', 'failuresInRow', 'nextAt', 'finishedAt')

/** Writes how far a backfill has come. */
export async function saveBackfill(tx: Transaction, row: BackfillRow): Promise<void> {
  await tx.query(`update backfill set ${PROGRESS.assigned(3)} where org_id = $1 and id = $2`, [
    row.orgId,
    row.id,
    ...PROGRESS.values(row),
  ])
}

/** The backfill, or undefined. */
export async function loadBackfill(connection: Connection, wanted: Named): Promise<BackfillRow | undefined> {
  return backfills.first(
    await connection.query(`select ${backfills.list} from backfill where org_id = $1 and id = $2`, [
      ...[wanted.orgId, wanted.id],
    ]),
  )
}

const nextMoments = columns({ moments: column.json<readonly Instant[]>('moments[taken + 1 : taken + $3::int]') })

/** The next moments a backfill takes, at most so many. */
export async function loadNextMoments(
  connection: Connection,
  wanted: Named & { readonly limit: number },
): Promise<readonly Instant[]> {
  const rows = await connection.query(`select ${nextMoments.list} from backfill where org_id = $1 and id = $2`, [
    wanted.orgId,
    wanted.id,
    wanted.limit,
  ])
  return nextMoments.first(rows)?.moments ?? []
}

/** The backfill of a schedule that is under way, if one is. */
export async function loadRunningBackfill(
  connection: Connection,
  of: { readonly orgId: OrgId; readonly scheduleId: ScheduleId },
): Promise<BackfillRow | undefined> {
  return backfills.first(
    await connection.query(
      `select ${backfills.list} from backfill where org_id = $1 and schedule_id = $2 and state = 'running'`,
      [of.orgId, of.scheduleId],
    ),
  )
}

/** Backfills of the org, newest first. */
export function listBackfills(
  connection: Connection,
  page: OrgPage & { readonly scheduleId: ScheduleId | null; readonly state: BackfillState | null },
): Promise<Listed<BackfillRow>> {
  const text = `select ${backfills.list} from backfill
      where org_id = $1 and ($2::text is null or schedule_id = $2) and ($3::text is null or state = $3)
        and ($4::timestamptz is null or (created_at, id) < ($4::timestamptz, $5::text))
      order by created_at desc, id desc limit $6`
  const values = [
    ...[page.orgId, page.scheduleId, page.state],
    ...[timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? '', page.limit + 1],
  ]
  return readPage(connection, { text, values, large: ['outlook', 'inFlight', 'why'], limit: page.limit }, backfills)
}

const open = columns({
  ...backfills.pick('orgId', 'id', 'scheduleId', 'inFlight', 'nextAt').definitions,
  /** Whether there is something to do: a run of it has ended, or there is room for another. */
  isReady: column.boolean(`exists (select 1 from unnest(b.in_flight) as f (id)
      where not exists (select 1 from pending p where p.org_id = b.org_id and p.id = f.id))
    or (b.state = 'running' and (b.next_at is null or b.next_at <= $1::timestamptz)
        and (b.in_flight = '{}'
             or (b.taken < b.total and cardinality(b.in_flight) < (b.terms->>'maxActive')::int)))`),
})

/** A backfill that somebody has to look after. */
export type OpenBackfill = RowOf<typeof open>

/** The open backfills of every org that is there. There are few, and an index has nothing but them. */
export async function loadOpenBackfills(
  connection: Connection,
  at: { readonly now: Instant; readonly limit: number },
): Promise<readonly OpenBackfill[]> {
  return open.read(
    await connection.query(
      `select ${open.of('b')}
       from backfill b join org o on o.id = b.org_id and o.deleted_at is null
      where b.state = 'running' or b.in_flight <> '{}' order by b.org_id, b.id limit $2`,
      [toTimestamp(at.now), at.limit],
    ),
  )
}

const ended = columns({
  id: column.text<RunId>('i.id'),
  state: column.text<TerminalState>("coalesce(r.state, 'expired')"),
})

/** A run that has ended, and how. */
export type EndedRun = RowOf<typeof ended>

/** Those of the runs that have ended, in the order in which they did. One that is not kept any more ended unseen. */
export async function loadEndedRuns(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly EndedRun[]> {
  return ended.read(
    await connection.query(
      `select ${ended.list} from unnest($2::text[]) as i (id)
       left join run r on r.org_id = $1 and r.id = i.id
      where r.id is null or r.state is not null order by r.finished_at nulls first, i.id`,
      [wanted.orgId, wanted.ids],
    ),
  )
}

/** Backfills that ended before a moment. Answers with how many went. */
export function deleteOldBackfills(connection: Connection, old: OldRows): Promise<number> {
  return countRemoved(
    connection,
    `with doomed as (
       select id from backfill where org_id = $1 and created_at < $2::timestamptz and finished_at < $2::timestamptz
          and in_flight = '{}' order by created_at, id limit $3 for update skip locked),
     gone as (delete from backfill b using doomed d where b.org_id = $1 and b.id = d.id returning 1)
     select count(*) as removed from gone`,
    [old.orgId, toTimestamp(old.before), old.limit],
  )
}
