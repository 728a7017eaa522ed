import type { AttemptApiAccess } from '../../domain/access/restrictions.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import { withBusy, outcomeOfHttpStatus, type AttemptOutcome } from '../../domain/run/outcome.ts'
import { logEvent, type LogLevel } from '../../domain/run/log-entry.ts'
import { isErrorCode, readRuntimeReport } from '../../domain/run/reports.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor } from '../executor.ts'

/** The services available to a function, besides its attempt. */
export interface HandlerContext extends Omit<
  AttemptContext,
  'defer' | 'deferToService' | 'offer' | 'expose' | 'invite'
> {
  /** The API access of the attempt; null unless its agent has `self_service`. */
  readonly escapement: () => Promise<AttemptApiAccess | null>
  /** Ends the call without a result: the run waits for a callback instead. Return the resolved value. */
  readonly defer: () => Promise<Deferred>
  /** Writes a line to the log of the run. Never waits. */
  readonly log: (level: LogLevel, message: string, fields?: unknown) => void
}

/** The return value of a function that reports later, with the callback token. */
export interface Deferred {
  readonly deferred: true
  readonly token: string
}

/** A function of this process that executes an agent's runs. Its return value is the output of the run. */
export type Handler = (attempt: Attempt, context: HandlerContext) => unknown

/**
 * Runs a function as an executor. A function fails by throwing. The error may have the fields `status` (read as an
 * HTTP status), `code` (one of our error codes, otherwise stored as the agent's), `retryable` and `retryAfterMs`.
 */
export const inProcess =
  (handler: Handler): Executor =>
  async (attempt, context) => {
    const given = new GivenContext(context)
    try {
      const output = await handler(attempt, given)
      // Once deferred, only the callback counts, whatever the function returns or throws.
      return given.deferred === null ? { outcome: SUCCEEDED, output } : { outcome: { kind: 'accepted' } }
    } catch (error) {
      return given.deferred === null ? reportOfError(error, context) : { outcome: { kind: 'accepted' } }
    }
  }

const SUCCEEDED: AttemptOutcome = { kind: 'succeeded' }

/**
 * Properties are resolved lazily, because creating a signal costs more than a small function. A class, because an
 * object with its own getters would cost more, too.
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

  get log(): HandlerContext['log'] {
    const { progress } = this.#context
    return (level, message, fields) => {
      progress(logEvent(level, message, { fields }))
    }
  }

  get escapement(): HandlerContext['escapement'] {
    return this.#context.invite
  }

  get usage(): HandlerContext['usage'] {
    return this.#context.usage
  }

  /** Returns a function that works without its receiver, so that it can be destructured. */
  get defer(): HandlerContext['defer'] {
    return async () => (this.#deferred = { deferred: true, token: await this.#context.defer() })
  }
}

function reportOfError(error: unknown, { signal }: AttemptContext): AttemptReport {
  // A function that is told to stop usually throws the abort reason, which is not a failure.
  if (signal.aborted) return { outcome: { kind: 'stopped' }, errorMessage: messageOf(error) }
  const code = fieldsOf(error)['code']
  const reported = typeof code === 'string' ? readRuntimeReport({ errorCode: code }) : null
  return { outcome: outcomeOfError(error), errorMessage: messageOf(error), ...(reported === null ? {} : { reported }) }
}

const fieldsOf = (error: unknown): Readonly<Record<string, unknown>> =>
  typeof error === 'object' && error !== null ? (error as Readonly<Record<string, unknown>>) : {}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function outcomeOfError(error: unknown): AttemptOutcome {
  const fields = fieldsOf(error)
  const retryable = typeof fields['retryable'] === 'boolean' ? fields['retryable'] : null
  const retryAfterMs = typeof fields['retryAfterMs'] === 'number' ? Math.max(0, fields['retryAfterMs']) : null
  const status = fields['status']
  if (typeof status === 'number' && Number.isInteger(status) && status >= 300) {
    const outcome = outcomeOfHttpStatus(status, retryAfterMs)
    return outcome.kind === 'failed' && retryable !== null ? { ...outcome, retryable } : outcome
  }
  const failed: AttemptOutcome = { kind: 'failed', errorCode: codeOf(fields['code']), retryable, retryAfterMs }
  return retryAfterMs === null ? failed : withBusy(failed, true)
}

const codeOf = (code: unknown): ErrorCode => (typeof code === 'string' && isErrorCode(code) ? code : 'agent_error')
