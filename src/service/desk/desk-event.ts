import type { RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { OccurrenceKey } from '../../domain/schedule/occurrence-key.ts'
import type { AttemptRow } from '../../store/attempts.ts'

/** Something that happened in a turn. Other nodes learn from these what to read again. */
export interface DeskEvent {
  readonly kind:
    | 'run.changed'
    | 'run.touched'
    | 'run.output'
    | 'message.merged'
    | 'message.dropped'
    | 'schedule.changed'
    | 'session.changed'
    | 'agent.changed'
    | 'budget.changed'
    | 'provider.changed'
    | 'heartbeat.changed'
    | 'lane.changed'
    | 'config.reloaded'
    | 'org.changed'
    | 'key.changed'
    | 'member.changed'
    | 'target.changed'
    | 'secret.changed'
    | 'delivery.changed'
    | 'alert.raised'
    | 'alert.cleared'
    | 'outbound'
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

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
