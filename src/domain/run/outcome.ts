import { COMPLETED } from './run.ts'
import type { Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import type { ErrorCode } from './error-codes.ts'
import { decideRetry, type RetryFacts } from './retry.ts'
import type { RunEvent } from './run-machine.ts'

/** The result of an attempt, from any source: an answer, a callback, a worker's report, an expired lease. */
export type AttemptOutcome =
  | { readonly kind: 'succeeded' }
  /** The agent did not have to run; counts as success. */
  | { readonly kind: 'not_needed'; readonly why: Why }
  /** The result comes later: it is reported, or fetched if it is polled. */
  | { readonly kind: 'accepted'; readonly isPolled?: true }
  | {
      readonly kind: 'failed'
      readonly errorCode: ErrorCode
      readonly retryable: boolean | null
      readonly retryAfterMs: number | null
      /** The executor reported overload, so other runs that call it wait too. */
      readonly busy?: true
    }
  | {
      readonly kind: 'timed_out'
      readonly errorCode: 'timeout' | 'callback_timeout'
      /** Whether the executor said that it may be retried, when the timeout was its own. */
      readonly retryable?: boolean | null
    }
  /** It stopped, on request or by itself. */
  | { readonly kind: 'stopped' }

export const RESULT_STATUSES = ['success', 'failed', 'timeout', 'cancelled'] as const
export type ResultStatus = (typeof RESULT_STATUSES)[number]

/** The outcome of a reported result. An agent without an error code gets `agent_error`. */
export function outcomeOfResult(result: {
  readonly status: ResultStatus
  readonly errorCode: ErrorCode | null
  readonly retryable: boolean | null
  /** The Retry-After of the called service. */
  readonly retryAfterMs?: number | null
}): AttemptOutcome {
  switch (result.status) {
    case 'success':
      return { kind: 'succeeded' }
    case 'timeout':
      return { kind: 'timed_out', errorCode: 'timeout', retryable: result.retryable }
    case 'cancelled':
      return { kind: 'stopped' }
    case 'failed':
      return withBusy(failedOutcome(result.errorCode ?? 'agent_error', result), (result.retryAfterMs ?? null) !== null)
  }
}

/** Whether an answer only announces a later result: a 202 with `async: true`, or any 202 of an async executor. */
export const isAcceptance = (answer: { readonly status: number; readonly body: unknown }, isAsync: boolean): boolean =>
  answer.status === 202 && (isAsync || isAsyncBody(answer.body))

const isAsyncBody = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'async' in body && body.async === true

/** The outcome of an HTTP status. 408, 425 and 429 mean "not now" and are retried like server errors. */
export function outcomeOfHttpStatus(status: number, retryAfterMs: number | null = null): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'succeeded' }
  if (TEMPORARY_REFUSALS.includes(status))
    return withBusy(failedOutcome('executor_http_4xx', { retryable: true, retryAfterMs }), status === 429)
  if (status >= 500) return withBusy(failedOutcome('executor_http_5xx', { retryAfterMs }), OVERLOADED.includes(status))
  return failedOutcome(status >= 400 ? 'executor_http_4xx' : 'executor_http_3xx', {})
}

const TEMPORARY_REFUSALS: readonly number[] = [408, 425, 429]
/** Unavailable, and Anthropic's own status for an overloaded service. */
const OVERLOADED: readonly number[] = [503, 529]

/** Adds to a failure whether the called service was overloaded. */
export const withBusy = (outcome: AttemptOutcome, busy: boolean): AttemptOutcome =>
  busy && outcome.kind === 'failed' ? { ...outcome, busy } : outcome

const failedOutcome = (
  errorCode: ErrorCode,
  more: { readonly retryable?: boolean | null; readonly retryAfterMs?: number | null },
): AttemptOutcome => ({
  kind: 'failed',
  errorCode,
  retryable: more.retryable ?? null,
  retryAfterMs: more.retryAfterMs ?? null,
})

/** The attempt's lease expired: its holder is gone. */
export const NODE_LOST: AttemptOutcome = failedOutcome('node_lost', {})

/** The node that held it shut down and released it. */
export const NODE_SHUTDOWN: AttemptOutcome = failedOutcome('node_shutdown', {})

export interface Settlement {
  readonly event: RunEvent
  /** When the next attempt may start; null unless `event` is `retry`. */
  readonly retryAt: Instant | null
  readonly errorCode: ErrorCode | null
  readonly why: Why
}

/** Decides what the outcome of an attempt does to its run. */
export function settleAttempt(
  outcome: AttemptOutcome,
  attempt: { readonly attempt: number; readonly firstAttempt: number },
  facts: RetryFacts,
): Settlement {
  const settled = (event: RunEvent, why: Why): Settlement => ({ event, retryAt: null, errorCode: null, why })
  switch (outcome.kind) {
    case 'succeeded':
      return settled('succeed', COMPLETED)
    case 'not_needed':
      return settled('succeed', outcome.why)
    case 'accepted':
      return settled('accept', because('accepted', 'outcome'))
    case 'stopped':
      return settled('stopped', because('cancelled', 'outcome'))
    case 'failed':
    case 'timed_out': {
      const { errorCode } = outcome
      const retryable = outcome.retryable ?? null
      const retryAfterMs = outcome.kind === 'failed' ? outcome.retryAfterMs : null
      const decision = decideRetry({ ...attempt, errorCode, retryable, retryAfterMs }, facts)
      if (decision.kind === 'retry') return { event: 'retry', retryAt: decision.at, errorCode, why: decision.why }
      const event = outcome.kind === 'timed_out' ? 'time_out' : 'give_up'
      return { event, retryAt: null, errorCode, why: decision.why }
    }
  }
}
