import type { Client } from '../client.ts'
import { EscapementError } from '../errors.ts'
import { pause, pauseAfter } from '../request.ts'
import type { LogEvent, LogLevel } from '../../features/workers/schema.ts'
import type { ResultInput, UsageView } from '../../features/runs/schema.ts'
import type { WorkerAnswer, WorkerAttempt } from '../../features/workers/schema.ts'

/** Passed to a handler beside its attempt. */
export interface WorkerContext {
  /** Aborted when the attempt must end; the reason is an error whose message explains why. */
  readonly signal: AbortSignal
  /** Reports progress to show while the attempt runs: a piece of text, a step. Kept in the log. Never blocks. */
  readonly progress: (event: unknown) => void
  /** Writes a line to the log of the run. Never blocks. */
  readonly log: (level: LogLevel, message: string, fields?: unknown) => void
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

/** Progress events are batched for this long, because a model emits about fifty words a second. */
const COLLECT_MS = 100
const MAX_EVENTS_PER_REQUEST = 100
/** Further progress events are dropped while the server does not respond; the output contains the whole text. */
const MAX_WAITING_EVENTS = 1_000

/** Sends the progress events of an attempt in order, in batches. */
interface ProgressSender {
  readonly add: (event: unknown) => void
  /** Resolves when every event so far was sent, or sending failed. */
  readonly flush: () => Promise<void>
}

function createProgressSender(ctx: {
  readonly send: (events: readonly unknown[]) => Promise<WorkerAnswer>
  readonly told: (answer: WorkerAnswer) => void
}): ProgressSender {
  let waiting: unknown[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  let sending = Promise.resolve()
  const sendWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      const events = waiting.slice(0, MAX_EVENTS_PER_REQUEST)
      waiting = waiting.slice(MAX_EVENTS_PER_REQUEST)
      try {
        ctx.told(await ctx.send(events))
      } catch {
        // Progress events are best-effort.
      }
    }
  }
  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    sending = sending.then(sendWaiting)
    return sending
  }
  return {
    add: (event) => {
      if (waiting.length >= MAX_WAITING_EVENTS) return
      waiting.push(event ?? null)
      timer ??= setTimeout(() => void flush(), COLLECT_MS)
    },
    flush,
  }
}

/** The attempts that a worker is executing. */
export interface Attempts {
  readonly begin: (attempt: WorkerAttempt) => void
  /** Cancels an attempt; unknown ids are ignored. */
  readonly cancel: (id: string, reason: string) => void
  /** Cancels all attempts. */
  readonly abandon: (reason: string) => void
  /** The ids of attempts that are running and not cancelled. */
  readonly held: () => readonly string[]
  readonly count: () => number
  /** Resolves when no attempt is running and every result was reported. */
  readonly idle: () => Promise<void>
  /** Stops reporting. */
  readonly close: () => void
}

interface AttemptsContext {
  readonly client: Client
  readonly handlers: Readonly<Record<string, WorkerHandler>>
  readonly log: (entry: WorkerLogEntry) => void
}

interface RunningAttempt {
  readonly attempt: WorkerAttempt
  readonly controller: AbortController
}

/** Runs attempts and reports the result of each one, also when it fails. */
export function createAttempts(ctx: AttemptsContext): Attempts {
  const working = new Map<string, RunningAttempt>()
  const closed = new AbortController()
  let idle: (() => void)[] = []
  const end = (id: string): void => {
    working.delete(id)
    if (working.size > 0) return
    for (const resolve of idle) resolve()
    idle = []
  }
  const cancel = (id: string, reason: string): void => {
    working.get(id)?.controller.abort(new AttemptCancelled(reason))
  }
  return {
    begin: (attempt) => {
      const { attempt_id: id } = attempt
      if (working.has(id)) return
      const one = { attempt, controller: new AbortController() }
      working.set(id, one)
      void runAttempt(ctx, one, closed.signal)
        .catch((error: unknown) => {
          const facts = { run: attempt.run_id, error: error instanceof Error ? error.message : String(error) }
          ctx.log({ level: 'error', message: 'Reporting an attempt failed', facts })
        })
        .finally(() => {
          end(id)
        })
    },
    cancel,
    abandon: (reason) => {
      for (const id of working.keys()) cancel(id, reason)
    },
    held: () => [...working].filter(([, { controller }]) => !controller.signal.aborted).map(([id]) => id),
    count: () => working.size,
    idle: () =>
      new Promise((resolve) => {
        if (working.size === 0) resolve()
        else idle.push(resolve)
      }),
    close: () => {
      closed.abort()
    },
  }
}

async function runAttempt(
  ctx: AttemptsContext,
  { attempt, controller }: RunningAttempt,
  closed: AbortSignal,
): Promise<void> {
  const { client, handlers, log } = ctx
  const { attempt_id: id, agent_id: agent } = attempt
  const { signal } = controller
  const started = await retryUntilAnswered(() => client.worker.start(id, { signal: closed }), closed)
  if (started.ignored || started.cancel) return
  const sending = createProgressSender({
    send: (events) => client.worker.events(id, { events }, { signal: closed }),
    told: ({ cancel, reason }) => {
      if (cancel) controller.abort(new AttemptCancelled(reason ?? 'cancelled'))
    },
  })
  const used: { usage?: UsageView } = {}
  let result: ResultInput
  try {
    const output = await (handlers[agent] ?? noHandler(agent))(attempt, {
      ...{ signal, progress: sending.add },
      log: (level, message, fields) => sending.add({ type: 'log', level, message, fields } satisfies LogEvent),
      usage: (usage) => {
        used.usage = usage
      },
    })
    result = { status: 'success', ...(output === undefined ? {} : { output }) }
  } catch (error) {
    result = resultOfError(error, signal)
  }
  await sending.flush()
  const report = { ...serializable(result), ...used }
  const complete = (body: ResultInput): Promise<WorkerAnswer> =>
    retryUntilAnswered(() => client.worker.complete(id, body, { signal: closed }), closed)
  const answer = await complete(report).catch((error: unknown) => complete(fallbackResult(error)))
  const facts = { run: attempt.run_id, agent, status: report.status, ignored: answer.ignored }
  log({
    level: answer.ignored ? 'warn' : 'info',
    message: answer.ignored ? 'Attempt ended too late' : 'Attempt ended',
    facts,
  })
}

const noHandler =
  (agent: string): WorkerHandler =>
  () => {
    throw Object.assign(new Error(`this worker has no handler for the agent ${agent}`), { code: 'executor_offline' })
  }

/** A result that cannot be serialized is reported as failed. */
function serializable(result: ResultInput): ResultInput {
  try {
    JSON.stringify(result)
    return result
  } catch (error) {
    return failedResult('malformed_answer', `the output cannot be written as JSON: ${(error as Error).message}`)
  }
}

const failedResult = (code: string, message: string): ResultInput => ({
  ...{ status: 'failed', error_code: code, error_message: message, retryable: false },
})

/** Reported instead when the server rejects the result; a retry would not make it smaller. */
function fallbackResult(error: unknown): ResultInput {
  if (!(error instanceof EscapementError)) throw error
  if (error.status === 413) return failedResult('answer_too_large', `the output is larger than ${MAX_BODY_BYTES} bytes`)
  if (error.status === 400) return failedResult('malformed_answer', `the server rejected the output: ${error.message}`)
  throw error
}

/** The server's body limit in bytes. */
const MAX_BODY_BYTES = 1_048_576

/** Retries until the server responds, because it may be restarting and the result must be reported. */
async function retryUntilAnswered(ask: () => Promise<WorkerAnswer>, closed: AbortSignal): Promise<WorkerAnswer> {
  for (let failures = 1; ; failures += 1)
    try {
      return await ask()
    } catch (error) {
      closed.throwIfAborted()
      if (!(error instanceof EscapementError)) throw error
      const isOver = error.status !== null && error.status < 500 && error.status !== 429
      if (isOver) throw error
      await pause(error.retryAfterMs ?? pauseAfter(failures), closed)
    }
}
