import type { OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, columns, counted, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

export const occurrences = table('occurrence', {
  orgId: column.text<OrgId>(),
  scheduleId: column.text<ScheduleId>(),
  nominal: column.instant('nominal_at'),
  kind: column.text<'occurrence' | 'manual' | 'backfill'>(),
  /** Empty for occurrences, the run's id for manual ones, the backfill's id for backfills. */
  discriminator: column.text(),
  runId: column.text<RunId>(),
})

/** A row of `occurrence`, the ledger whose unique key prevents deciding an occurrence twice. */
export type OccurrenceRow = RowOf<typeof occurrences>

/** Inserts occurrences. A duplicate fails the transaction, because no run is better than a second one. */
export function insertOccurrences(tx: Transaction, rows: readonly OccurrenceRow[]): void {
  tx.send(occurrences.insertMany, occurrences.lists(rows))
}

/** The entry of a scheduled occurrence, or undefined. */
export async function loadOccurrence(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly nominal: Instant },
): Promise<OccurrenceRow | undefined> {
  return occurrences.first(
    await connection.query(
      `select ${occurrences.list} from occurrence
      where org_id = $1 and schedule_id = $2 and nominal_at = $3::timestamptz and kind = 'occurrence'
        and discriminator = ''`,
      [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.nominal)],
    ),
  )
}

/** The entries of a schedule between two times, both inclusive, of every kind, in order. */
export async function loadOccurrences(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly from: Instant; readonly to: Instant },
): Promise<readonly OccurrenceRow[]> {
  return occurrences.read(
    await connection.query(
      `select ${occurrences.list} from occurrence
      where org_id = $1 and schedule_id = $2 and nominal_at between $3::timestamptz and $4::timestamptz
      order by nominal_at, kind, discriminator`,
      [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.from), toTimestamp(wanted.to)],
    ),
  )
}

export const decisions = table('decision', {
  orgId: column.text<OrgId>(),
  scheduleId: column.text<ScheduleId>(),
  first: column.instant('first_at'),
  last: column.instant('last_at'),
  count: column.bigint(),
  why: column.json<Why>(),
  decidedAt: column.instant(),
})

/** A row of `decision`: occurrences decided together that created no run, or whose skipped runs were folded. */
export type DecisionRow = RowOf<typeof decisions>

/** Inserts decided ranges. */
export function insertDecisions(tx: Transaction, rows: readonly DecisionRow[]): void {
  tx.send(decisions.insertMany, decisions.lists(rows))
}

/** The latest-starting range of the schedule that covers the time, or undefined. */
export async function loadDecisionAt(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly at: Instant },
): Promise<DecisionRow | undefined> {
  const rows = await connection.query(
    `select ${decisions.list} from decision
      where org_id = $1 and schedule_id = $2 and first_at <= $3::timestamptz and last_at >= $3::timestamptz
      order by first_at desc limit 1`,
    [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.at)],
  )
  return decisions.first(rows)
}

/** The state of one run of a schedule. A schedule without runs has one row with `run` null. */
interface OutcomeRow {
  readonly scheduleId: ScheduleId
  readonly run: { readonly id: RunId; readonly state: RunState; readonly createdAt: Instant } | null
}

const outcomes = columns({
  scheduleId: column.text<ScheduleId>('s.id'),
  id: column.text<RunId | null>('o.id'),
  state: column.text<RunState>('o.state'),
  createdAt: column.instant('o.created_at'),
})

/**
 * The last runs of some schedules, newest first, at most `limit` of each. Reads the end of each schedule's part of one
 * index, so the cost does not grow with the number of runs. `pending` is read only for pending runs; a join would read
 * it for every run.
 */
export async function loadOutcomes(
  connection: Connection,
  filter: {
    readonly orgId: OrgId
    readonly ids: readonly ScheduleId[]
    readonly limit: number
    /** The required owner of the schedules; null: any. */
    readonly owner: string | null
  },
): Promise<readonly OutcomeRow[]> {
  const rows = await connection.query(
    `select ${outcomes.list}
       from schedule s left join lateral (
         select r.id, r.created_at, coalesce(r.state,
                  (select p.state from pending p where p.org_id = r.org_id and p.id = r.id)) as state
           from (select org_id, id, state, created_at from run
                  where org_id = $1 and schedule_id = s.id order by created_at desc, id desc limit $3) r
       ) o on true
      where s.org_id = $1 and s.id = any($2::text[]) and ($4::text is null or s.owner = $4)
      order by s.id, o.created_at desc, o.id desc`,
    [filter.orgId, filter.ids, filter.limit, filter.owner],
  )
  return outcomes.read(rows).map(({ scheduleId, id, state, createdAt }) => ({
    scheduleId,
    run: id === null ? null : { id, state, createdAt },
  }))
}

/** Counts the stored runs of a schedule. Retention keeps at most 10,000 of them. */
export async function countRunsOfSchedule(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly id: ScheduleId },
): Promise<number> {
  const rows = await connection.query(`select ${counted.list} from run where org_id = $1 and schedule_id = $2`, [
    filter.orgId,
    filter.id,
  ])
  return counted.only(rows).count
}
