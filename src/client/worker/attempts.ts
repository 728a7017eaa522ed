import type { ResultInput, UsageView } from '../../features/runs/schema.ts'
import type { WorkerAnswer, WorkerAttempt } from '../../features/workers/schema.ts'
import type { Client } from '../client.ts'
import { EscapementError } from '../errors.ts'
import { pause, pauseAfter } from '../request.ts'
import { AttemptCancelled, resultOfError, type WorkerHandler, type WorkerLogEntry } from './handler.ts'
import { createTelling } from './telling.ts'

/** What a worker works on. */
export interface Attempts {
  readonly begin: (attempt: WorkerAttempt) => void
  /** Somebody wants the attempt to end. One that is not worked on is passed over. */
  readonly cancel: (id: string, reason: string) => void
  /** Everything must end. */
  readonly abandon: (reason: string) => void
  /** What is worked on and nobody has been told to end. */
  readonly held: () => readonly string[]
  readonly count: () => number
  /** Resolves when nothing is worked on any more and everything has been reported. */
  readonly idle: () => Promise<void>
  /** Nothing is reported any more. */
  readonly close: () => void
}

export interface AttemptsContext {
  readonly client: Client
  readonly handlers: Readonly<Record<string, WorkerHandler>>
  readonly log: (entry: WorkerLogEntry) => void
}

interface Working {
  readonly attempt: WorkerAttempt
  readonly controller: AbortController
}

/** Performs attempts and reports about each of them, whatever happens. */
export function createAttempts(ctx: AttemptsContext): Attempts {
  const working = new Map<string, Working>()
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
      void perform(ctx, one, closed.signal)
        .catch((error: unknown) => {
          const facts = { run: attempt.run_id, error: error instanceof Error ? error.message : String(error) }
          ctx.log({ level: 'error', message: 'An attempt could not be reported', facts })
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

async function perform(ctx: AttemptsContext, { attempt, controller }: Working, closed: AbortSignal): Promise<void> {
  const { client, handlers, log } = ctx
  const { attempt_id: id, agent_id: agent } = attempt
  const { signal } = controller
  const started = await untilAnswered(() => client.worker.start(id, { signal: closed }), closed)
  if (started.ignored || started.cancel) return
  const telling = createTelling({
    send: (events) => client.worker.events(id, { events }, { signal: closed }),
    told: ({ cancel, reason }) => {
      if (cancel) controller.abort(new AttemptCancelled(reason ?? 'cancelled'))
    },
  })
  const used: { usage?: UsageView } = {}
  let result: ResultInput
  try {
    const output = await (handlers[agent] ?? noHandler(agent))(attempt, {
      ...{ signal, progress: telling.say },
      usage: (usage) => {
        used.usage = usage
      },
    })
    result = { status: 'success', ...(output === undefined ? {} : { output }) }
  } catch (error) {
    result = resultOfError(error, signal)
  }
  await telling.flush()
  const told = { ...speakable(result), ...used }
  const complete = (said: ResultInput): Promise<WorkerAnswer> =>
    untilAnswered(() => client.worker.complete(id, said, { signal: closed }), closed)
  const answer = await complete(told).catch((error: unknown) => complete(insteadOf(error)))
  const facts = { run: attempt.run_id, agent, status: told.status, ignored: answer.ignored }
  log({ level: answer.ignored ? 'warn' : 'info', message: answer.ignored ? 'Ended too late' : 'Ended', facts })
}

const noHandler =
  (agent: string): WorkerHandler =>
  () => {
    throw Object.assign(new Error(`this worker has nobody who does the work of ${agent}`), { code: 'executor_offline' })
  }

/** What nobody can write down cannot be told. */
function speakable(result: ResultInput): ResultInput {
  try {
    JSON.stringify(result)
    return result
  } catch (error) {
    return unheard('malformed_answer', `the output cannot be written as JSON: ${(error as Error).message}`)
  }
}

const unheard = (code: string, message: string): ResultInput => ({
  ...{ status: 'failed', error_code: code, error_message: message, retryable: false },
})

/** What is told when the server does not take the result as it is: doing it again would not make it smaller. */
function insteadOf(error: unknown): ResultInput {
  if (!(error instanceof EscapementError)) throw error
  if (error.status === 413) return unheard('answer_too_large', `the output is larger than ${LARGEST_BODY} bytes`)
  if (error.status === 400) return unheard('malformed_answer', `the output is not taken: ${error.message}`)
  throw error
}

/** What a server takes in one request. */
const LARGEST_BODY = 1_048_576

/** Asks until somebody answers: the server may be restarting, and what was done must be told. */
async function untilAnswered(ask: () => Promise<WorkerAnswer>, closed: AbortSignal): Promise<WorkerAnswer> {
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
