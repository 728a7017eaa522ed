import type { RunDelivery } from '../delivery/run-delivery.ts'
import type { SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'

/** Where the answer of a heartbeat goes. Whether it does, and with which words, is decided when its run ends. */
export interface HeartbeatDelivery {
  readonly heartbeat: {
    /** As the user wrote it. */
    readonly target: string
    readonly ackMaxChars: number
    /** Null: the target is `none`. */
    readonly to: RunDelivery | null
    /** The conversation that the answer is added to; left out: none. */
    readonly session?: SessionKey
    /** The moment of the plan; null when somebody wanted to see it now. */
    readonly dueAt: Instant | null
    /** What is asked before the agent is woken, as it was given; left out: nothing. */
    readonly probe?: unknown
  }
}

/** What an agent is told when its checklist is due. */
export const heartbeatMessage = (prompt: string, checklist: string): string => `${prompt}\n\n${checklist}`
