import type { Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { COMPLETED } from '../../core/usual-why.ts'
import type { ErrorCode } from './error-codes.ts'
import { decideRetry, type RetryFacts } from './retry.ts'
import type { RunEvent } from './run-machine.ts'

/** How an attempt ended, whoever executed it: an answer, a callback, a worker's report, a lapsed lease. */
export type Outcome =
  | { readonly kind: 'succeeded' }
  /** Nobody had to be woken: a success that nothing was done for. */
  | { readonly kind: 'not_needed'; readonly why: Why }
  /** The executor will report later. */
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'failed'
      readonly errorCode: ErrorCode
      readonly retryable: boolean | null
      readonly retryAfterMs: number | null
      /** What it called was too busy for it, and says so: others that call it wait too. */
      readonly busy?: true
    }
  | {
      readonly kind: 'timed_out'
      readonly errorCode: 'timeout' | 'callback_timeout'
      /** What the executor said about it, if it was the executor that gave up. */
      readonly retryable?: boolean | null
    }
  /** It stopped because it was asked to, or of its own accord. */
  | { readonly kind: 'stopped' }

export const RESULT_STATUSES = ['success', 'failed', 'timeout', 'cancelled'] as const
export type ResultStatus = (typeof RESULT_STATUSES)[number]

/** The outcome that a result in the shared shape stands for. An agent that gives no code of its own has `agent_error`. */
export function outcomeOfResult(result: {
  readonly status: ResultStatus
  readonly errorCode: ErrorCode | null
  readonly retryable: boolean | null
  /** How long what it called asked it to wait. */
  readonly retryAfterMs?: number | null
}): Outcome {
  switch (result.status) {
    case 'success':
      return { kind: 'succeeded' }
    case 'timeout':
      return { kind: 'timed_out', errorCode: 'timeout', retryable: result.retryable }
    case 'cancelled':
      return { kind: 'stopped' }
    case 'failed':
      return asBusy(failure(result.errorCode ?? 'agent_error', result), (result.retryAfterMs ?? null) !== null)
  }
}

/** Whether an answer only says that a result will follow: a 202 that says so, or any 202 of an executor that is async. */
export const isAcceptance = (answer: { readonly status: number; readonly body: unknown }, isAsync: boolean): boolean =>
  answer.status === 202 && (isAsync || saysAsync(answer.body))

const saysAsync = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'async' in body && body.async === true

/**
 * The outcome that a bare HTTP status stands for. 408, 425 and 429 are retried like a failure of the other side: they say
 * "not now", not "never".
 */
export function outcomeOfHttpStatus(status: number, retryAfterMs: number | null = null): Outcome {
  if (status >= 200 && status < 300) return { kind: 'succeeded' }
  if (NOT_NOW.includes(status))
    return asBusy(failure('executor_http_4xx', { retryable: true, retryAfterMs }), status === 429)
  if (status >= 500) return asBusy(failure('executor_http_5xx', { retryAfterMs }), status === 503)
  return failure(status >= 400 ? 'executor_http_4xx' : 'executor_http_3xx', {})
}

const NOT_NOW: readonly number[] = [408, 425, 429]

/** The same failure, of which it is known whether what was called was too busy. */
export const asBusy = (outcome: Outcome, busy: boolean): Outcome =>
  busy && outcome.kind === 'failed' ? { ...outcome, busy } : outcome

const failure = (
  errorCode: ErrorCode,
  more: { readonly retryable?: boolean | null; readonly retryAfterMs?: number | null },
): Outcome => ({
  kind: 'failed',
  errorCode,
  retryable: more.retryable ?? null,
  retryAfterMs: more.retryAfterMs ?? null,
})

/** The attempt's lease lapsed: whoever held it is gone. */
export const NODE_LOST: Outcome = failure('node_lost', {})

/** The node that held it shut down and gave it back. */
export const NODE_SHUTDOWN: Outcome = failure('node_shutdown', {})

export interface Settlement {
  readonly event: RunEvent
  /** When the next attempt may start; null unless `event` is `retry`. */
  readonly retryAt: Instant | null
  readonly errorCode: ErrorCode | null
  readonly why: Why
}

/** What the outcome of an attempt does to its run. */
export function settle(
  outcome: Outcome,
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
