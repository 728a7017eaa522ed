import type { ResultInput, UsageView } from '../../features/runs/schema.ts'
import type { WorkerAttempt } from '../../features/workers/schema.ts'

/** Passed to a handler beside its attempt. */
export interface WorkerContext {
  /** Aborted when the attempt must end; the reason is an error whose message explains why. */
  readonly signal: AbortSignal
  /** Reports progress to show while the attempt runs: a piece of text, a step. Never blocks. */
  readonly progress: (event: unknown) => void
  /** Reports the total usage so far; the last call counts. */
  readonly usage: (usage: UsageView) => void
}

/**
 * Runs the attempts of an agent. The return value is the output of the run. It fails by throwing; the error may have
 * the fields `code` (an error code), `retryable` and `retryAfterMs` (the delay that a called service asked for).
 */
export type WorkerHandler = (attempt: WorkerAttempt, context: WorkerContext) => unknown

/** A log entry of a worker. */
export interface WorkerLogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** The reason of the signal that aborts an attempt. */
export class AttemptCancelled extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(`the attempt was cancelled: ${reason}`)
    this.name = 'AbortError'
    this.reason = reason
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

/** The result of a handler that threw. A handler that stops because it was cancelled has not failed. */
export function resultOfError(error: unknown, signal: AbortSignal): ResultInput {
  const message = messageOf(error)
  if (signal.aborted) {
    const reason = signal.reason instanceof AttemptCancelled ? signal.reason.reason : 'cancelled'
    // A worker that shuts down cancels its own attempts, and they may be retried elsewhere.
    if (reason === 'shutdown')
      return { status: 'failed', error_code: 'node_shutdown', error_message: message, retryable: true }
    return { status: 'cancelled', error_message: message }
  }
  const fields = (typeof error === 'object' && error !== null ? error : {}) as Readonly<Record<string, unknown>>
  return {
    ...{ status: 'failed', error_message: message },
    ...(typeof fields['code'] === 'string' ? { error_code: fields['code'] } : {}),
    ...(typeof fields['retryable'] === 'boolean' ? { retryable: fields['retryable'] } : {}),
    ...(isDuration(fields['retryAfterMs']) ? { retry_after_seconds: Math.ceil(fields['retryAfterMs'] / 1_000) } : {}),
  }
}
