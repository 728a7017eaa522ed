import { ERROR_CODES, type ErrorCode } from '../core/run/error-codes.ts'
import { outcomeOfHttpStatus, type Outcome } from '../core/run/outcome.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor } from './executor.ts'

/** What a function has while it works, beside its attempt. */
export interface HandlerContext extends AttemptContext {
  /** Ends the call without a result: the run waits for its callback token instead. Return what it gives. */
  readonly defer: () => Deferred
}

/** The answer of a function that will report later. */
export interface Deferred {
  readonly deferred: true
}

/** A function of this process that does the work of an agent. What it returns is the output of the run. */
export type Handler = (attempt: Attempt, context: HandlerContext) => unknown

const DEFERRED: Deferred = { deferred: true }

/**
 * Runs a function as an executor. A function fails by throwing; an error may say more in its fields: `status` (read as
 * an HTTP status), `code` (one of our error codes), `retryable`, `retryAfterMs`.
 */
export const inProcess =
  (handler: Handler): Executor =>
  async (attempt, context) => {
    try {
      const output = await handler(attempt, { ...context, defer: () => DEFERRED })
      return output === DEFERRED ? { outcome: { kind: 'accepted' } } : { outcome: { kind: 'succeeded' }, output }
    } catch (error) {
      return reportOfError(error, context.signal)
    }
  }

function reportOfError(error: unknown, signal: AbortSignal): AttemptReport {
  // A function that was told to stop mostly ends with the abort it was handed: that is obedience, not failure.
  if (signal.aborted) return { outcome: { kind: 'stopped' }, errorMessage: messageOf(error) }
  return { outcome: outcomeOfError(error), errorMessage: messageOf(error) }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function outcomeOfError(error: unknown): Outcome {
  const said: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? (error as Readonly<Record<string, unknown>>) : {}
  const retryable = typeof said['retryable'] === 'boolean' ? said['retryable'] : null
  const retryAfterMs = typeof said['retryAfterMs'] === 'number' ? Math.max(0, said['retryAfterMs']) : null
  const status = said['status']
  if (typeof status === 'number' && Number.isInteger(status) && status >= 300) {
    const outcome = outcomeOfHttpStatus(status, retryAfterMs)
    return outcome.kind === 'failed' && retryable !== null ? { ...outcome, retryable } : outcome
  }
  return { kind: 'failed', errorCode: codeOf(said['code']), retryable, retryAfterMs }
}

const codeOf = (code: unknown): ErrorCode =>
  typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'agent_error'
