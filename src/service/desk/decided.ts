import type { AttemptId, RunId, ScheduleId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import type { Why } from '../../core/reasons.ts'
import type { ErrorCode } from '../../core/run/error-codes.ts'
import type { OccurrenceKey } from '../../core/schedule/occurrence-key.ts'

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
export interface EndedAttempt {
  readonly runId: RunId
  readonly number: number
  readonly id: AttemptId
  readonly nodeId: string | null
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly status: 'failed' | 'timeout'
  readonly errorCode: ErrorCode | null
  readonly errorMessage: string | null
}
