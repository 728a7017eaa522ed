import type { RunId, ScheduleId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'

/**
 * What makes an occurrence the same occurrence. The ledger has one row for each key, whatever node decides it and however
 * often: that is why nothing fires twice. Occurrences on time and made up for share a kind; a manual run is told apart by
 * its own id and a backfill by the backfill's, so that run-now in the second of an occurrence leaves both.
 */
export type OccurrenceKey =
  | { readonly kind: 'occurrence'; readonly scheduleId: ScheduleId; readonly nominal: Instant }
  | { readonly kind: 'manual'; readonly scheduleId: ScheduleId; readonly nominal: Instant; readonly runId: RunId }
  | {
      readonly kind: 'backfill'
      readonly scheduleId: ScheduleId
      readonly nominal: Instant
      readonly backfillId: string
    }

/** The part of the key that tells two of the same kind and time apart. */
export function discriminatorOf(key: OccurrenceKey): string {
  switch (key.kind) {
    case 'occurrence':
      return ''
    case 'manual':
      return key.runId
    case 'backfill':
      return key.backfillId
  }
}

/**
 * The `job_run_id` that executors see. It follows from the key alone, so all attempts share it and a repeated delivery is
 * recognised by whoever receives it; it is readable, because people search logs for it.
 */
export function jobRunIdOf(key: OccurrenceKey): string {
  const discriminator = discriminatorOf(key)
  const base = `${key.scheduleId}@${formatInstant(key.nominal)}`
  return discriminator === '' ? base : `${base}/${key.kind}:${discriminator}`
}
