import type { OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { column, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

export const occurrences = table('occurrence', {
  orgId: column.text<OrgId>(),
  scheduleId: column.text<ScheduleId>(),
  nominal: column.instant('nominal_at'),
  kind: column.text<'occurrence' | 'manual' | 'backfill'>(),
  /** Empty for occurrences, the run's id for manual ones, the backfill's id for backfills. */
  discriminator: column.text(),
  runId: column.text<RunId>(),
})

/** A row of `occurrence`, the ledger that keeps a moment from being decided twice. */
export type OccurrenceRow = RowOf<typeof occurrences>

/** Enters occurrences. One that was decided before fails the transaction: better no run than a second one. */
export function insertOccurrences(tx: Transaction, rows: readonly OccurrenceRow[]): void {
  tx.send(occurrences.insertMany, occurrences.lists(rows))
}

/** What the schedule's plan made of a moment, or undefined. */
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

/** The entries of a schedule from a moment on up to and including another, of every kind, in order. */
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

/** A row of `decision`: occurrences that were decided together and made no run, or whose skipped runs were folded. */
export type DecisionRow = RowOf<typeof decisions>

/** Puts ranges on record. */
export function insertDecisions(tx: Transaction, rows: readonly DecisionRow[]): void {
  tx.send(decisions.insertMany, decisions.lists(rows))
}

/** The narrowest range of the schedule that covers the moment, or undefined: the one that begins last. */
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
