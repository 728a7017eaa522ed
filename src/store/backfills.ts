import type { BackfillCounts, BackfillState, BackfillTerms } from '../core/backfill/backfill.ts'
import type { StandingCounts } from '../core/backfill/moments.ts'
import { orgId, runId, scheduleId, type OrgId, type RunId, type ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import type { TerminalState } from '../core/run/run-machine.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { readPage, type Listed, type OrgPage } from './page.ts'
import { countRemoved, type OldRows } from './removal.ts'
import { jsonOrNull, timestampOrNull } from './rows.ts'
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

/** A row of `backfill`, without the list of its moments. */
export interface BackfillRow {
  readonly orgId: OrgId
  readonly id: string
  readonly scheduleId: ScheduleId
  readonly state: BackfillState
  readonly why: Why | null
  readonly terms: BackfillTerms
  readonly total: number
  readonly taken: number
  readonly inFlight: readonly RunId[]
  readonly counts: BackfillCounts
  readonly failuresInRow: number
  readonly nextAt: Instant | null
  readonly outlook: BackfillOutlook
  readonly createdBy: string
  readonly createdAt: Instant
  readonly finishedAt: Instant | null
}

const COLUMNS = `org_id, id, schedule_id, state, why, terms, total, taken, in_flight, counts, failures_in_row, next_at,
  outlook, created_by, created_at, finished_at`

interface Named {
  readonly orgId: OrgId
  readonly id: string
}

/** Puts a backfill on record with its moments. */
export async function insertBackfill(tx: Transaction, row: BackfillRow, moments: readonly Instant[]): Promise<void> {
  await tx.query(
    `insert into backfill (${COLUMNS}, moments)
     values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8, $9::text[], $10::jsonb, $11, $12::timestamptz, $13::jsonb, $14,
       $15::timestamptz, $16::timestamptz, $17::timestamptz[])`,
    [
      ...[row.orgId, row.id, row.scheduleId, row.state, jsonOrNull(row.why), JSON.stringify(row.terms)],
      ...[row.total, row.taken, row.inFlight, JSON.stringify(row.counts), row.failuresInRow],
      ...[timestampOrNull(row.nextAt), JSON.stringify(row.outlook), row.createdBy, toTimestamp(row.createdAt)],
      ...[timestampOrNull(row.finishedAt), moments.map(toTimestamp)],
    ],
  )
}

/** Writes how far a backfill has come. */
export async function saveBackfill(tx: Transaction, row: BackfillRow): Promise<void> {
  await tx.query(
    `update backfill set state = $3, why = $4::jsonb, taken = $5, in_flight = $6::text[], counts = $7::jsonb,
       failures_in_row = $8, next_at = $9::timestamptz, finished_at = $10::timestamptz
     where org_id = $1 and id = $2`,
    [
      ...[row.orgId, row.id, row.state, jsonOrNull(row.why), row.taken, row.inFlight, JSON.stringify(row.counts)],
      ...[row.failuresInRow, timestampOrNull(row.nextAt), timestampOrNull(row.finishedAt)],
    ],
  )
}

/** The backfill, or undefined. */
export async function loadBackfill(connection: Connection, wanted: Named): Promise<BackfillRow | undefined> {
  const [row] = await connection.query(`select ${COLUMNS} from backfill where org_id = $1 and id = $2`, [
    ...[wanted.orgId, wanted.id],
  ])
  return row === undefined ? undefined : backfillOf(row)
}

/** The next moments a backfill takes, at most so many. */
export async function loadNextMoments(
  connection: Connection,
  wanted: Named & { readonly limit: number },
): Promise<readonly Instant[]> {
  const [row] = await connection.query(
    'select moments[taken + 1 : taken + $3::int] as moments from backfill where org_id = $1 and id = $2',
    [wanted.orgId, wanted.id, wanted.limit],
  )
  return (row?.['moments'] as readonly Instant[] | undefined) ?? []
}

/** The backfill of a schedule that is under way, if one is. */
export async function loadRunningBackfill(
  connection: Connection,
  of: { readonly orgId: OrgId; readonly scheduleId: ScheduleId },
): Promise<BackfillRow | undefined> {
  const [row] = await connection.query(
    `select ${COLUMNS} from backfill where org_id = $1 and schedule_id = $2 and state = 'running'`,
    [of.orgId, of.scheduleId],
  )
  return row === undefined ? undefined : backfillOf(row)
}

/** Backfills of the org, newest first. */
export function listBackfills(
  connection: Connection,
  page: OrgPage & { readonly scheduleId: ScheduleId | null; readonly state: BackfillState | null },
): Promise<Listed<BackfillRow>> {
  const text = `select ${COLUMNS} from backfill
      where org_id = $1 and ($2::text is null or schedule_id = $2) and ($3::text is null or state = $3)
        and ($4::timestamptz is null or (created_at, id) < ($4::timestamptz, $5::text))
      order by created_at desc, id desc limit $6`
  const values = [
    ...[page.orgId, page.scheduleId, page.state],
    ...[timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? '', page.limit + 1],
  ]
  return readPage(connection, { text, values, large: ['outlook', 'in_flight', 'why'], limit: page.limit }, backfillOf)
}

/** A backfill that somebody has to look after. */
export interface OpenBackfill {
  readonly orgId: OrgId
  readonly id: string
  readonly scheduleId: ScheduleId
  readonly inFlight: readonly RunId[]
  readonly nextAt: Instant | null
  /** Whether there is something to do: a run of it has ended, or there is room for another. */
  readonly isReady: boolean
}

/** The open backfills of every org that is there. There are few, and an index has nothing but them. */
export async function loadOpenBackfills(
  connection: Connection,
  at: { readonly now: Instant; readonly limit: number },
): Promise<readonly OpenBackfill[]> {
  const rows = await connection.query(
    `select b.org_id, b.id, b.schedule_id, b.in_flight, b.next_at,
       exists (select 1 from unnest(b.in_flight) as f (id)
                where not exists (select 1 from pending p where p.org_id = b.org_id and p.id = f.id))
       or (b.state = 'running' and (b.next_at is null or b.next_at <= $1::timestamptz)
           and (b.in_flight = '{}'
                or (b.taken < b.total and cardinality(b.in_flight) < (b.terms->>'maxActive')::int))) as is_ready
       from backfill b join org o on o.id = b.org_id and o.deleted_at is null
      where b.state = 'running' or b.in_flight <> '{}' order by b.org_id, b.id limit $2`,
    [toTimestamp(at.now), at.limit],
  )
  return rows.map((row) => ({
    orgId: orgId(row['org_id'] as string),
    id: row['id'] as string,
    scheduleId: scheduleId(row['schedule_id'] as string),
    inFlight: row['in_flight'] as readonly RunId[],
    nextAt: row['next_at'] as Instant | null,
    isReady: row['is_ready'] as boolean,
  }))
}

/** A run that has ended, and how. */
export interface EndedRun {
  readonly id: RunId
  readonly state: TerminalState
}

/** Those of the runs that have ended, in the order in which they did. One that is not kept any more ended unseen. */
export async function loadEndedRuns(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly EndedRun[]> {
  const rows = await connection.query(
    `select i.id, coalesce(r.state, 'expired') as state from unnest($2::text[]) as i (id)
       left join run r on r.org_id = $1 and r.id = i.id
      where r.id is null or r.state is not null order by r.finished_at nulls first, i.id`,
    [wanted.orgId, wanted.ids],
  )
  return rows.map((row) => ({ id: runId(row['id'] as string), state: row['state'] as TerminalState }))
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

const backfillOf = (row: Row): BackfillRow => ({
  orgId: orgId(row['org_id'] as string),
  id: row['id'] as string,
  scheduleId: scheduleId(row['schedule_id'] as string),
  state: row['state'] as BackfillState,
  why: row['why'] as Why | null,
  terms: row['terms'] as BackfillTerms,
  total: row['total'] as number,
  taken: row['taken'] as number,
  inFlight: row['in_flight'] as readonly RunId[],
  counts: row['counts'] as BackfillCounts,
  failuresInRow: row['failures_in_row'] as number,
  nextAt: row['next_at'] as Instant | null,
  outlook: row['outlook'] as BackfillOutlook,
  createdBy: row['created_by'] as string,
  createdAt: row['created_at'] as Instant,
  finishedAt: row['finished_at'] as Instant | null,
})
