import type { AgentId, OrgId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Transaction } from '../store/database.ts'
import type { Desk } from './desk/desk.ts'
import type { TurnReads } from './turn/turn-reads.ts'

/** Something to be done in an org under its lock, in one transaction with everything else of that turn. */
export interface Work<Answer> {
  readonly orgId: OrgId
  /** Must be on the desk before `apply` is asked. */
  readonly needs?: {
    readonly sessions?: readonly SessionKey[]
    readonly schedules?: readonly ScheduleId[]
    readonly agents?: readonly AgentId[]
  }
  /**
   * Looks up what `apply` decides by and is not on the desk; what it answers is handed to apply. It must not write: it
   * shares its turn with others.
   */
  readonly look?: (reads: TurnReads, now: Instant) => Promise<unknown>
  /**
   * Extra statements of rare operations, before `apply`, which is handed what it answers, instead of `look`. It goes
   * alone in its turn.
   */
  readonly prepare?: (tx: Transaction, now: Instant, reads: TurnReads) => Promise<unknown>
  /** Decides and changes the desk. Throwing a Refusal refuses this work alone and must happen before anything is changed. */
  readonly apply: (desk: Desk, prepared: unknown) => Answer
  /** Extra statements after `apply`, in the same transaction. */
  readonly conclude?: (tx: Transaction, answer: Answer, now: Instant) => Promise<void>
}

/** Where work is handed in. */
export interface Turns {
  readonly take: <Answer>(work: Work<Answer>) => Promise<Answer>
}
