import type { ResultInput, UsageView } from '../../features/runs/schema.ts'
import type { WorkerAttempt } from '../../features/workers/schema.ts'

/** What a function has while it works, beside its attempt. */
export interface WorkerContext {
  /** Aborted when the attempt must end; its reason is an error whose message says why. */
  readonly signal: AbortSignal
  /** Something to show while the attempt goes on: a piece of text, a step. Never waits. */
  readonly progress: (event: unknown) => void
  /** Says what the attempt has used so far; the last word counts. */
  readonly usage: (usage: UsageView) => void
}

/**
 * A function that does the work of an agent. What it returns is the output of the run; it fails by throwing, and an error
 * may say more in its fields: `code` (an error code), `retryable`, `retryAfterMs` (what it called asked it to wait).
 */
export type WorkerHandler = (attempt: WorkerAttempt, context: WorkerContext) => unknown

/** Something a worker says about itself. */
export interface WorkerLogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** Why an attempt is told to end. */
export class AttemptCancelled extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(`the attempt was told to end: ${reason}`)
    this.name = 'AbortError'
    this.reason = reason
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const isLength = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

/** The result of a function that threw. Whoever was told to end and ends has obeyed, and has not failed. */
export function resultOfError(error: unknown, signal: AbortSignal): ResultInput {
  const message = messageOf(error)
  if (signal.aborted) {
    const reason = signal.reason instanceof AttemptCancelled ? signal.reason.reason : 'cancelled'
    // A worker that goes down takes back what it asked to end: nobody else wanted it to stop.
    if (reason === 'shutdown')
      return { status: 'failed', error_code: 'node_shutdown', error_message: message, retryable: true }
    return { status: 'cancelled', error_message: message }
  }
  const said = (typeof error === 'object' && error !== null ? error : {}) as Readonly<Record<string, unknown>>
  return {
    ...{ status: 'failed', error_message: message },
    ...(typeof said['code'] === 'string' ? { error_code: said['code'] } : {}),
    ...(typeof said['retryable'] === 'boolean' ? { retryable: said['retryable'] } : {}),
    ...(isLength(said['retryAfterMs']) ? { retry_after_seconds: Math.ceil(said['retryAfterMs'] / 1_000) } : {}),
  }
}
