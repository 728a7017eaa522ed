import type { DispatchedAttempt } from '../core/executor/dispatch.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { InvitationView } from './guard-rails.ts'

/** What a worker says of itself when it asks for work. */
export interface ClaimInput {
  /** The id the first answer gave it; left out: it has just come. */
  readonly worker_id?: string | null | undefined
  /** What people call it. */
  readonly name?: string | undefined
  /** The agents whose work it takes. */
  readonly agents: readonly string[]
  /** Attempts it takes at a time. */
  readonly capacity?: number | undefined
  /** The attempts it works on: it is told at once when it should stop one. */
  readonly holding?: readonly string[] | undefined
  /** It takes nothing more and ends what it holds. */
  readonly draining?: boolean | undefined
  /** How long to wait for news. */
  readonly wait_seconds?: number | undefined
}

/** One attempt of a run, as a worker is handed it: what an agent over HTTP is told, and whose work it is. */
export interface WorkerAttempt extends DispatchedAttempt {
  readonly agent_id: string
  readonly traceparent: string | null
  /** Only for agents with `self_service`: where to ask, and the key of this attempt. */
  readonly escapement?: InvitationView | undefined
}

/** An attempt that a worker should stop, and why. */
export interface WorkerCancel {
  readonly attempt_id: string
  readonly reason: string
}

export interface ClaimAnswer {
  readonly worker_id: string
  /** Until then it is believed to be alive. Every claim and every renewal moves it. */
  readonly lease_until: string
  /** How often to renew while something is held. */
  readonly renew_seconds: number
  readonly attempts: readonly WorkerAttempt[]
  readonly cancel: readonly WorkerCancel[]
}

export interface EventsInput {
  /** Pieces of text, steps: whatever is worth showing while the attempt goes on. */
  readonly events: readonly unknown[]
}

/** What a worker is answered about an attempt. */
export interface WorkerAnswer {
  /** The state of its run. */
  readonly status: RunState
  /** It changed nothing: the attempt is not the current one any more, or nothing was left to change. */
  readonly ignored: boolean
  /** The worker should stop working on it. */
  readonly cancel: boolean
  /** Why it should. */
  readonly reason: string | null
  /** When the attempt must be over; null while it has not begun, and once it has ended. */
  readonly ends_by: string | null
}

/** A worker, as people see it. */
export interface WorkerView {
  readonly id: string
  readonly name: string
  readonly agents: readonly string[]
  readonly capacity: number
  /** Attempts it holds. */
  readonly held: number
  readonly connected_at: string
  readonly lease_until: string
  readonly alive: boolean
  readonly draining: boolean
}
