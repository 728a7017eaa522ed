import { ERROR_CODES, type ErrorCode } from '../core/run/error-codes.ts'
import { outcomeOfHttpStatus, type Outcome } from '../core/run/outcome.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor } from './executor.ts'

/** What a function has while it works, beside its attempt. */
export interface HandlerContext extends Omit<AttemptContext, 'defer' | 'offer' | 'expose'> {
  /** Ends the call without a result: the run waits for its callback token instead. Return what it resolves to. */
  readonly defer: () => Promise<Deferred>
}

/** The answer of a function that will report later, and the token with which somebody does. */
export interface Deferred {
  readonly deferred: true
  readonly token: string
}

/** A function of this process that does the work of an agent. What it returns is the output of the run. */
export type Handler = (attempt: Attempt, context: HandlerContext) => unknown

/**
 * Runs a function as an executor. A function fails by throwing; an error may say more in its fields: `status` (read as
 * an HTTP status), `code` (one of our error codes), `retryable`, `retryAfterMs`.
 */
export const inProcess =
  (handler: Handler): Executor =>
  async (attempt, context) => {
    let deferred: Deferred | null = null
    const defer = async (): Promise<Deferred> => (deferred = { deferred: true, token: await context.defer() })
    try {
      const output = await handler(attempt, handlerContext(context, defer))
      // Once deferred, the run belongs to whoever has the token, whatever the function still says.
      return isDeferred(deferred) ? { outcome: { kind: 'accepted' } } : { outcome: { kind: 'succeeded' }, output }
    } catch (error) {
      return isDeferred(deferred) ? { outcome: { kind: 'accepted' } } : reportOfError(error, context)
    }
  }

/** What is there is handed on when it is looked at, not before: making a signal costs more than a small function. */
const handlerContext = (context: AttemptContext, defer: HandlerContext['defer']): HandlerContext => ({
  get signal() {
    return context.signal
  },
  get progress() {
    return context.progress
  },
  get usage() {
    return context.usage
  },
  defer,
})

const isDeferred = (deferred: Deferred | null): boolean => deferred !== null

function reportOfError(error: unknown, { signal }: AttemptContext): AttemptReport {
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
