import type { OrgId, RunId, ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Transaction } from './database.ts'
import { column, table, type RowOf } from './table.ts'
import { toTimestamp } from './timestamp.ts'

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
