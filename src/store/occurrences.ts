import { orgId, runId, scheduleId, type OrgId, type RunId, type ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { columnsOf } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `occurrence`, the ledger that keeps a moment from being decided twice. */
export interface OccurrenceRow {
  readonly orgId: OrgId
  readonly scheduleId: ScheduleId
  readonly nominal: Instant
  readonly kind: 'occurrence' | 'manual' | 'backfill'
  /** Empty for occurrences, the run's id for manual ones, the backfill's id for backfills. */
  readonly discriminator: string
  readonly runId: RunId
}

const COLUMNS = 'org_id, schedule_id, nominal_at, kind, discriminator, run_id'

/** Enters occurrences. One that was decided before fails the transaction: better no run than a second one. */
export function insertOccurrences(tx: Transaction, occurrences: readonly OccurrenceRow[]): void {
  tx.send(
    `insert into occurrence (${COLUMNS})
     select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[])`,
    columnsOf(
      occurrences,
      (occurrence) => occurrence.orgId,
      (occurrence) => occurrence.scheduleId,
      (occurrence) => toTimestamp(occurrence.nominal),
      (occurrence) => occurrence.kind,
      (occurrence) => occurrence.discriminator,
      (occurrence) => occurrence.runId,
    ),
  )
}

/** What the schedule's plan made of a moment, or undefined. */
export async function loadOccurrence(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly nominal: Instant },
): Promise<OccurrenceRow | undefined> {
  const [row] = await connection.query(
    `select ${COLUMNS} from occurrence
      where org_id = $1 and schedule_id = $2 and nominal_at = $3::timestamptz and kind = 'occurrence'
        and discriminator = ''`,
    [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.nominal)],
  )
  return row === undefined ? undefined : occurrenceOf(row)
}

/** The entries of a schedule from a moment on up to and including another, of every kind, in order. */
export async function loadOccurrences(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly from: Instant; readonly to: Instant },
): Promise<readonly OccurrenceRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from occurrence
      where org_id = $1 and schedule_id = $2 and nominal_at between $3::timestamptz and $4::timestamptz
      order by nominal_at, kind, discriminator`,
    [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.from), toTimestamp(wanted.to)],
  )
  return rows.map(occurrenceOf)
}

const occurrenceOf = (row: Row): OccurrenceRow => ({
  orgId: orgId(row['org_id'] as string),
  scheduleId: scheduleId(row['schedule_id'] as string),
  nominal: row['nominal_at'] as Instant,
  kind: row['kind'] as OccurrenceRow['kind'],
  discriminator: row['discriminator'] as string,
  runId: runId(row['run_id'] as string),
})
