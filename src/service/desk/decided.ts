import type { RunId, ScheduleId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import type { Why } from '../../core/reasons.ts'
import type { OccurrenceKey } from '../../core/schedule/occurrence-key.ts'
import type { AttemptRow } from '../../store/attempts.ts'

/** An entry of the ledger. */
export interface DecidedOccurrence {
  readonly key: OccurrenceKey
  readonly runId: RunId
}

/** Occurrences that were missed together. */
export interface RangeDecision {
  readonly scheduleId: ScheduleId
  readonly first: Instant
  readonly last: Instant
  readonly count: number
  readonly why: Why
}

/** An attempt that another one follows. */
export type EndedAttempt = Omit<AttemptRow, 'orgId'>
