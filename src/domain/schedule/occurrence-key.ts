import type { RunId, ScheduleId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'

/**
 * The identity of an occurrence. The ledger has one row per key, whichever node decides it and however often, so
 * nothing fires twice. Occurrences on time and caught up share a kind; a manual run is distinguished by its id and a
 * backfilled one by the backfill's id, so that a run-now in the second of an occurrence keeps both.
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

/** The part of the key that distinguishes two of the same kind and time. */
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
 * The `job_run_id` that executors receive. It is derived from the key alone, so that all attempts share it and
 * receivers can recognize a repeated delivery; it is readable because people search logs for it.
 */
export function jobRunIdOf(key: OccurrenceKey): string {
  const discriminator = discriminatorOf(key)
  const base = `${key.scheduleId}@${formatInstant(key.nominal)}`
  return discriminator === '' ? base : `${base}/${key.kind}:${discriminator}`
}
