import type { ClaimAnswer, WorkerAttempt } from '../../features/workers/schema.ts'
import { createClient, type Client } from '../client.ts'
import { EscapementError } from '../errors.ts'
import { pause, pauseAfter, type ClientOptions } from '../request.ts'
import { createAttempts, type Attempts } from './attempts.ts'
import type { WorkerHandler, WorkerLogEntry } from './handler.ts'

/** What a worker is made from. */
export interface WorkerOptions extends Pick<ClientOptions, 'fetch'> {
  /** Where the server is, as in `http://127.0.0.1:7420`. */
  readonly url: string
  /** An API key with the permission `workers:run`. */
  readonly key: string
  /** What does the work of each agent, by the agent's id. */
  readonly agents: Readonly<Record<string, WorkerHandler>>
  /** Attempts that are worked on at a time; 1 unless given. */
  readonly capacity?: number | undefined
  /** What people call it. */
  readonly name?: string | undefined
  /** How long what runs may go on after `stop`; 30 unless given. */
  readonly drainSeconds?: number | undefined
  /** Left out: nothing is said. */
  readonly log?: ((entry: WorkerLogEntry) => void) | undefined
}

/** A program that performs the work of agents for a server elsewhere. */
export interface Worker {
  /** Resolves when the server knows it; rejects when it will never let it work. */
  readonly connected: Promise<void>
  /** Resolves when it has ended; rejects when the server does not let it work any more. */
  readonly ended: Promise<void>
  /** The id the server has given it; null before that. */
  readonly id: () => string | null
  /** How many attempts it works on. */
  readonly working: () => number
  /** Takes nothing more, lets what runs end, and gives back what takes too long. `now`: gives it back at once. */
  readonly stop: (how?: 'drain' | 'now') => Promise<void>
}

/** The server holds a question open for so long. */
const WAIT_SECONDS = 20
/** An answer that is this late will not come. */
const PATIENCE_MS = (WAIT_SECONDS + 15) * 1_000

interface State {
  readonly options: WorkerOptions
  readonly client: Client
  readonly attempts: Attempts
  readonly log: NonNullable<WorkerOptions['log']>
  /** Aborted when nothing is asked for any more. */
  readonly over: AbortController
  /** Ends the question that is open, to ask another one. */
  asking: AbortController
  id: string | null
  draining: boolean
  failures: number
}

/** A mistake that no server has to be asked about, and that no compiler has told a program in JavaScript. */
function requireAgents(agents: unknown): void {
  const wanted = 'a function for each agent, by its id'
  if (typeof agents !== 'object' || agents === null || Object.keys(agents).length === 0)
    throw new TypeError(`agents is missing: ${wanted}`)
  for (const [id, handler] of Object.entries(agents))
    if (typeof handler !== 'function') throw new TypeError(`agents.${id} is no function: ${wanted}`)
}

/** Connects a worker; throws when it has no address or no agents. It works until it is stopped, through restarts of the server and of the network. */
export function startWorker(options: WorkerOptions): Worker {
  const { url, key, fetch, log = () => undefined } = options
  requireAgents(options.agents)
  // Nothing is repeated behind our back: what has to be is repeated here, where it is known for how long.
  const client = createClient({ url, key, fetch, retries: 0 })
  const state: State = {
    ...{ options, client, log, over: new AbortController(), asking: new AbortController() },
    attempts: createAttempts({ client, log, handlers: options.agents }),
    ...{ id: null, draining: false, failures: 0 },
  }
  let welcome = (): void => undefined
  let refuse: (error: unknown) => void = () => undefined
  const connected = new Promise<void>((resolve, reject) => {
    welcome = resolve
    refuse = reject
  })
  const ended = work(state, welcome).catch((error: unknown) => {
    refuse(error)
    throw error
  })
  connected.catch(() => undefined)
  ended.catch(() => undefined)
  return {
    connected,
    ended,
    id: () => state.id,
    working: state.attempts.count,
    stop: (how = 'drain') => stop(state, how, ended),
  }
}

async function work(state: State, welcome: () => void): Promise<void> {
  try {
    while (!state.over.signal.aborted) {
      const news = await ask(state)
      if (news === null) continue
      if (state.id !== news.worker_id)
        state.log({ level: 'info', message: 'Connected', facts: { worker: news.worker_id, url: state.options.url } })
      state.id = news.worker_id
      state.failures = 0
      welcome()
      for (const { attempt_id: id, reason } of news.cancel) state.attempts.cancel(id, reason)
      for (const attempt of news.attempts) begin(state, attempt)
    }
  } catch (error) {
    state.attempts.abandon('refused')
    throw error
  }
}

function begin(state: State, attempt: WorkerAttempt): void {
  state.log({ level: 'info', message: 'Begins', facts: { run: attempt.run_id, agent: attempt.agent_id } })
  state.attempts.begin(attempt)
}

/** One question. Null: it brought nothing, and the pause that it deserves has passed. */
async function ask(state: State): Promise<ClaimAnswer | null> {
  const { options, client, attempts, over } = state
  state.asking = new AbortController()
  const signal = AbortSignal.any([over.signal, state.asking.signal])
  try {
    return await client.worker.claim(
      {
        ...(state.id === null ? {} : { worker_id: state.id }),
        ...(options.name === undefined ? {} : { name: options.name }),
        ...{ agents: Object.keys(options.agents), capacity: options.capacity ?? 1, holding: attempts.held() },
        // Whoever has just come wants to know whether it may stay.
        ...{ draining: state.draining, wait_seconds: state.id === null ? 0 : WAIT_SECONDS },
      },
      { signal, timeoutMs: PATIENCE_MS },
    )
  } catch (error) {
    if (signal.aborted) return null
    await recover(state, error, over.signal)
    return null
  }
}

/** What is over by itself is waited for; what will be refused again and again is told. */
async function recover(state: State, error: unknown, signal: AbortSignal): Promise<void> {
  if (!(error instanceof EscapementError)) throw error
  if (error.code === 'WORKER_LOST') {
    state.log({ level: 'warn', message: 'The server has taken this worker for lost; it begins anew', facts: {} })
    state.attempts.abandon('lease_lost')
    state.id = null
    return
  }
  if (error.status !== null && error.status < 500 && error.status !== 429) throw error
  state.failures += 1
  if (state.failures === 1) state.log({ level: 'warn', message: error.message, facts: { code: error.code } })
  await pause(error.retryAfterMs ?? pauseAfter(state.failures), signal).catch(() => undefined)
}

async function stop(state: State, how: 'drain' | 'now', ended: Promise<void>): Promise<void> {
  const { attempts, options, over } = state
  if (!state.draining) {
    state.draining = true
    state.log({
      level: 'info',
      message: 'Draining: nothing new, what runs may end',
      facts: { working: attempts.count() },
    })
    state.asking.abort()
  }
  if (how === 'drain') await within(attempts.idle(), (options.drainSeconds ?? 30) * 1_000, over.signal)
  attempts.abandon('shutdown')
  await within(attempts.idle(), LAST_REPORTS_MS, over.signal)
  await leave(state)
  over.abort()
  attempts.close()
  await ended.catch(() => undefined)
}

/** Says that nothing more is taken, so that nobody waits for this worker until its lease has lapsed. */
async function leave({ client, options, id }: State): Promise<void> {
  if (id === null) return
  const last = { worker_id: id, agents: Object.keys(options.agents), draining: true, wait_seconds: 0 }
  await client.worker.claim(last, { timeoutMs: LAST_WORD_MS }).catch(() => undefined)
}

const LAST_WORD_MS = 1_000

/** How long the last reports have. */
const LAST_REPORTS_MS = 5_000

async function within(done: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const late = new AbortController()
  await Promise.race([done, pause(ms, AbortSignal.any([late.signal, signal])).catch(() => undefined)])
  late.abort()
}
