import type { PageFilter } from './page.ts'
import type { ErrorCode } from '../core/run/error-codes.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Trigger } from '../core/run/run.ts'

/** A message on its way into a session. */
export interface MessageInput {
  readonly text: string
  readonly sender?: string
  readonly attachments?: readonly unknown[]
  /** The sender's own name for the message: the same one again within 24 hours is not another message. */
  readonly message_id?: string
  readonly sent_at?: string | number
  readonly lane?: string
  readonly mode?: string
  readonly max_concurrent?: number
  readonly debounce_ms?: number
  readonly not_before?: string | number
  readonly deadline?: string | number
  readonly parent_run_id?: string
  /** The most tokens that the run may need; budgets set so many aside. */
  readonly max_tokens?: number
}

export interface MessageReceipt {
  readonly run_id: string
  readonly message_id: string
  readonly state: string
  readonly position: number | null
  readonly merged_into?: string
  readonly dropped_run_id?: string
  /** The sender has sent this `message_id` before: this is the run of the first one. */
  readonly duplicate?: true
}

/** What was said to a session and what came of it: one for each run, whoever woke it. */
export interface MessageView {
  readonly run_id: string
  readonly trigger: Trigger
  /** The messages that were merged into it, the first one first; of other triggers none. */
  readonly message_ids: readonly string[]
  readonly sender: string | null
  /** What was said; of a schedule its prompt. Null when that is no text. */
  readonly text: string | null
  readonly attachments: readonly unknown[]
  readonly status: RunState
  readonly reason: string | null
  /** What was answered; null while there is no answer. */
  readonly reply: unknown
  readonly error_code: ErrorCode | null
  readonly error_message: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly finished_at: string | null
}

/** The answer to /stop, /stopall and reset. */
export interface StopAnswer {
  readonly stopped: number
  readonly drained: number
}

export interface SessionView {
  readonly key: string
  readonly org_id: string
  readonly mode: string
  readonly cap: number
  readonly drop: string
  readonly debounce_ms: number
  readonly max_concurrent: number
  readonly generation: number
  readonly tokens: number | null
  readonly context_window: number | null
  readonly active: number
  readonly waiting: number
  readonly created_at: string
}

/** Which sessions are listed. */
export interface SessionFilter extends PageFilter {
  /** Also the sessions that runs of schedules have of their own. */
  readonly isolated?: boolean | undefined
}

export interface SessionPatch {
  readonly mode?: string
  readonly cap?: number
  readonly drop?: string
  readonly debounce_ms?: number
  readonly max_concurrent?: number
}

/** A change of the rules of a session: null gives a rule back to the deployment. */
export type SessionChange = { readonly [Name in keyof SessionPatch]?: SessionPatch[Name] | null | undefined }
