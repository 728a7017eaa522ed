import type { DeliveryView } from './delivery.ts'
import type { OmittedPayload } from './page.ts'
import type { ProbeAnswerView } from './probe.ts'
import type { ErrorCode } from '../core/run/error-codes.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Trigger } from '../core/run/run.ts'
import type { Why } from '../core/reasons.ts'

/** Tokens and money of a run, as its executor reported them. */
export interface UsageView {
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly context_window?: number
  readonly cost?: number
}

/** A run as every surface shows it. Times are RFC 3339 with `Z`. */
export interface RunView extends OmittedPayload {
  readonly id: string
  readonly job_run_id: string
  readonly org_id: string
  readonly schedule_id: string | null
  readonly agent_id: string
  /** The conversation of the run: `session_key`, or the session that its runtime reported if the run has one of its own. */
  readonly session_id: string | null
  /** The session that its runtime is told. A run of a schedule with `session: isolated` has one of its own. */
  readonly session_key: string | null
  /** The session to open: the reported one if it is a session of the org, else `session_key`. */
  readonly conversation: string | null
  /** The first message it carries, or, where it carries none, the reply that its runtime reported. */
  readonly message_id: string | null
  readonly trigger: Trigger
  readonly status: RunState
  /** The newest reason on record. */
  readonly reason: string | null
  readonly lane: string
  readonly priority: number
  readonly nominal_time: string | null
  readonly not_before: string | null
  readonly deadline: string | null
  readonly created_at: string
  /** When its first attempt started. */
  readonly started_at: string | null
  readonly finished_at: string | null
  /** From that start to its end, waits included; null until it has ended, or if it never started. */
  readonly duration_ms: number | null
  readonly first_attempt: number
  readonly attempt: number
  readonly error_code: ErrorCode | null
  readonly error_message: string | null
  /** The runtime's own error code, where it reported one that is not in our table. */
  readonly agent_error_code: string | null
  /** The session and the reply as the runtime names them. */
  readonly agent_session_id: string | null
  readonly agent_message_id: string | null
  /** A text or JSON. */
  readonly result_summary: unknown
  readonly output: unknown
  readonly usage: UsageView | null
  readonly payload: unknown
  readonly superseded: boolean
  readonly retry_of: string | null
  readonly parent_run_id: string | null
  /** The key or the agent (`agent:<id>`) under whose guard rails it was made. */
  readonly owner: string | null
  /** Why it was made, or was not to run; while it is held, why that is. */
  readonly decision: Why
  /** Why it was held before `decision` was made; null for runs that never were. */
  readonly held_decision: Why | null
}

/** One execution of a run. */
export interface AttemptView {
  readonly id: string
  readonly number: number
  readonly node_id: string | null
  readonly started_at: string
  readonly finished_at: string | null
  /** How it ended; null while it goes on. */
  readonly status: 'success' | 'failed' | 'timeout' | 'cancelled' | null
  readonly error_code: ErrorCode | null
  readonly error_message: string | null
  readonly agent_error_code: string | null
}

/** One step on a run's way. */
export interface TimelineEntry {
  readonly at: string
  readonly status: RunState
  readonly reason: string | null
  readonly attempt: number | null
}

/** A run with everything there is to know about it. */
export interface RunDetail extends RunView {
  readonly attempts: readonly AttemptView[]
  /** Where its result was carried, or is on its way to. */
  readonly deliveries: readonly DeliveryView[]
  readonly timeline: readonly TimelineEntry[]
  readonly why: Why
  /** What was asked before its agent was woken; null: nothing was. */
  readonly probe: ProbeAnswerView | null
  /** The trace it belongs to; null when it was not asked for. */
  readonly trace_id: string | null
}

/** How a run is repeated. */
export interface RetryInput {
  /** Also one that succeeded. */
  readonly force?: boolean | undefined
}

export interface RunFilter {
  readonly schedule_id?: string
  readonly agent_id?: string
  readonly session?: string
  readonly status?: string | readonly string[]
  readonly trigger?: Trigger
  readonly agent_error_code?: string
  readonly from?: string
  readonly to?: string
  readonly limit?: number
  readonly cursor?: string
}

/** The one shape of a result: for answers, callbacks and workers. */
export interface ResultInput {
  readonly job_run_id?: string
  readonly attempt_id?: string
  readonly status?: 'success' | 'failed' | 'timeout' | 'cancelled'
  readonly session_id?: string
  readonly message_id?: string
  readonly error_code?: string
  readonly error_message?: string
  readonly output?: unknown
  /** A text or JSON. */
  readonly summary?: unknown
  readonly usage?: UsageView
  readonly retryable?: boolean
  /** Of a failure: how long what the agent called asked it to wait; its provider takes nothing more until then. */
  readonly retry_after_seconds?: number
  /** When a heartbeat wants to be asked again: a moment, or seconds from now. Of other runs it is passed over. */
  readonly next_check?: unknown
}

export interface CallbackAnswer {
  readonly status: RunState
  readonly ignored: boolean
}
