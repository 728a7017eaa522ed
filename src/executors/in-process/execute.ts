import type { Invitation } from '../../core/rails/invitation.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import { asBusy, outcomeOfHttpStatus, type Outcome } from '../../domain/run/outcome.ts'
import { isErrorCode, reportedBy } from '../../core/run/reported.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor } from '../executor.ts'

/** What a function has while it works, beside its attempt. */
export interface HandlerContext extends Omit<AttemptContext, 'defer' | 'offer' | 'expose' | 'invite'> {
  /**
   * Where to ask and the key of this attempt, with which it makes things by itself while it lasts; null where its agent
   * has no `self_service`.
   */
  readonly escapement: () => Promise<Invitation | null>
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
 * an HTTP status), `code` (one of our error codes, else it is kept as the agent's), `retryable`, `retryAfterMs`.
 */
export const inProcess =
  (handler: Handler): Executor =>
  async (attempt, context) => {
    const given = new GivenContext(context)
    try {
      const output = await handler(attempt, given)
      // Once deferred, the run belongs to whoever has the token, whatever the function still says.
      return given.deferred === null ? { outcome: SUCCEEDED, output } : { outcome: { kind: 'accepted' } }
    } catch (error) {
      return given.deferred === null ? reportOfError(error, context) : { outcome: { kind: 'accepted' } }
    }
  }

const SUCCEEDED: Outcome = { kind: 'succeeded' }

/**
 * What is there is handed on when it is looked at, not before: making a signal costs more than a small function. A class,
 * because an object with getters of its own costs more than that, too.
 */
class GivenContext implements HandlerContext {
  readonly #context: AttemptContext
  #deferred: Deferred | null = null

  constructor(context: AttemptContext) {
    this.#context = context
  }

  get deferred(): Deferred | null {
    return this.#deferred
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }

  get progress(): HandlerContext['progress'] {
    return this.#context.progress
  }

  get escapement(): HandlerContext['escapement'] {
    return this.#context.invite
  }

  get usage(): HandlerContext['usage'] {
    return this.#context.usage
  }

  /** A function of its own, so that it can be handed on by itself. */
  get defer(): HandlerContext['defer'] {
    return async () => (this.#deferred = { deferred: true, token: await this.#context.defer() })
  }
}

function reportOfError(error: unknown, { signal }: AttemptContext): AttemptReport {
  // A function that was told to stop mostly ends with the abort it was handed: that is obedience, not failure.
  if (signal.aborted) return { outcome: { kind: 'stopped' }, errorMessage: messageOf(error) }
  const code = fieldsOf(error)['code']
  const reported = typeof code === 'string' ? reportedBy({ errorCode: code }) : null
  return { outcome: outcomeOfError(error), errorMessage: messageOf(error), ...(reported === null ? {} : { reported }) }
}

const fieldsOf = (error: unknown): Readonly<Record<string, unknown>> =>
  typeof error === 'object' && error !== null ? (error as Readonly<Record<string, unknown>>) : {}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function outcomeOfError(error: unknown): Outcome {
  const said = fieldsOf(error)
  const retryable = typeof said['retryable'] === 'boolean' ? said['retryable'] : null
  const retryAfterMs = typeof said['retryAfterMs'] === 'number' ? Math.max(0, said['retryAfterMs']) : null
  const status = said['status']
  if (typeof status === 'number' && Number.isInteger(status) && status >= 300) {
    const outcome = outcomeOfHttpStatus(status, retryAfterMs)
    return outcome.kind === 'failed' && retryable !== null ? { ...outcome, retryable } : outcome
  }
  const failed: Outcome = { kind: 'failed', errorCode: codeOf(said['code']), retryable, retryAfterMs }
  return retryAfterMs === null ? failed : asBusy(failed, true)
}

const codeOf = (code: unknown): ErrorCode => (typeof code === 'string' && isErrorCode(code) ? code : 'agent_error')
