import type { ClaimAnswer, WorkerAttempt } from '../../features/workers/schema.ts'
import { createClient, type Client } from '../client.ts'
import { EscapementError } from '../errors.ts'
import { pause, pauseAfter, type ClientOptions } from '../request.ts'
import { type Attempts, createAttempts, type WorkerHandler, type WorkerLogEntry } from './attempts.ts'

/** Options of a worker. */
export interface WorkerOptions extends Pick<ClientOptions, 'fetch'> {
  /** URL of the server, such as `http://127.0.0.1:7420`. */
  readonly url: string
  /** An API key with the permission `workers:run`. */
  readonly key: string
  /** The handler of each agent, by agent id. */
  readonly agents: Readonly<Record<string, WorkerHandler>>
  /** Maximum concurrent attempts; 1 by default. */
  readonly capacity?: number | undefined
  /** Display name. */
  readonly name?: string | undefined
  /** How long running attempts may continue after `stop`, in seconds; 30 by default. */
  readonly drainSeconds?: number | undefined
  /** If omitted, nothing is logged. */
  readonly log?: ((entry: WorkerLogEntry) => void) | undefined
}

/** A program that runs attempts of agents for a remote server. */
export interface Worker {
  /** Resolves when the server has registered it; rejects if the server refuses it. */
  readonly connected: Promise<void>
  /** Resolves when it has stopped; rejects if the server refuses it. */
  readonly ended: Promise<void>
  /** The worker id assigned by the server; null before that. */
  readonly id: () => string | null
  /** The number of running attempts. */
  readonly working: () => number
  /**
   * Stops claiming, lets running attempts finish, and gives back those that take too long. `now` gives them back at
   * once.
   */
  readonly stop: (how?: 'drain' | 'now') => Promise<void>
}

/** How long the server may hold a claim request open. */
const WAIT_SECONDS = 20
/** A response later than this is not expected any more. */
const CLAIM_TIMEOUT_MS = (WAIT_SECONDS + 15) * 1_000

interface WorkerState {
  readonly options: WorkerOptions
  readonly client: Client
  readonly attempts: Attempts
  readonly log: NonNullable<WorkerOptions['log']>
  /** Aborted when the worker stops claiming. */
  readonly over: AbortController
  /** Aborts the open claim request, so that a new one is sent. */
  claiming: AbortController
  id: string | null
  draining: boolean
  failures: number
}

/** Checks options that TypeScript checks, for callers in JavaScript. */
function requireHandlers(agents: unknown): void {
  const expected = 'a function for each agent, by its id'
  if (typeof agents !== 'object' || agents === null || Object.keys(agents).length === 0)
    throw new TypeError(`agents is missing: ${expected}`)
  for (const [id, handler] of Object.entries(agents))
    if (typeof handler !== 'function') throw new TypeError(`agents.${id} is not a function: ${expected}`)
}

/**
 * Starts a worker; throws if it has no URL or no agents. It runs until it is stopped, through restarts of the server
 * and network failures.
 */
export function startWorker(options: WorkerOptions): Worker {
  const { url, key, fetch, log = () => undefined } = options
  requireHandlers(options.agents)
  // Retries are handled here, where the deadline is known.
  const client = createClient({ url, key, fetch, retries: 0 })
  const state: WorkerState = {
    ...{ options, client, log, over: new AbortController(), claiming: new AbortController() },
    attempts: createAttempts({ client, log, handlers: options.agents }),
    ...{ id: null, draining: false, failures: 0 },
  }
  let resolveConnected = (): void => undefined
  let rejectConnected: (error: unknown) => void = () => undefined
  const connected = new Promise<void>((resolve, reject) => {
    resolveConnected = resolve
    rejectConnected = reject
  })
  const ended = claimLoop(state, resolveConnected).catch((error: unknown) => {
    rejectConnected(error)
    throw error
  })
  connected.catch(() => undefined)
  ended.catch(() => undefined)
  return {
    connected,
    ended,
    id: () => state.id,
    working: state.attempts.count,
    stop: (how = 'drain') => stopWorker(state, how, ended),
  }
}

async function claimLoop(state: WorkerState, resolveConnected: () => void): Promise<void> {
  try {
    while (!state.over.signal.aborted) {
      const claimed = await requestAttempts(state)
      if (claimed === null) continue
      if (state.id !== claimed.worker_id)
        state.log({ level: 'info', message: 'Connected', facts: { worker: claimed.worker_id, url: state.options.url } })
      state.id = claimed.worker_id
      state.failures = 0
      resolveConnected()
      for (const { attempt_id: id, reason } of claimed.cancel) state.attempts.cancel(id, reason)
      for (const attempt of claimed.attempts) beginAttempt(state, attempt)
    }
  } catch (error) {
    state.attempts.abandon('refused')
    throw error
  }
}

function beginAttempt(state: WorkerState, attempt: WorkerAttempt): void {
  state.log({ level: 'info', message: 'Attempt started', facts: { run: attempt.run_id, agent: attempt.agent_id } })
  state.attempts.begin(attempt)
}

/** Sends one claim request. Null: it failed, and the backoff has passed. */
async function requestAttempts(state: WorkerState): Promise<ClaimAnswer | null> {
  const { options, client, attempts, over } = state
  state.claiming = new AbortController()
  const signal = AbortSignal.any([over.signal, state.claiming.signal])
  try {
    return await client.worker.claim(
      {
        ...(state.id === null ? {} : { worker_id: state.id }),
        ...(options.name === undefined ? {} : { name: options.name }),
        ...{ agents: Object.keys(options.agents), capacity: options.capacity ?? 1, holding: attempts.held() },
        // The first claim returns at once, to learn whether the worker is accepted.
        ...{ draining: state.draining, wait_seconds: state.id === null ? 0 : WAIT_SECONDS },
      },
      { signal, timeoutMs: CLAIM_TIMEOUT_MS },
    )
  } catch (error) {
    if (signal.aborted) return null
    await handleClaimError(state, error, over.signal)
    return null
  }
}

/** Waits after a temporary failure; throws a permanent one. */
async function handleClaimError(state: WorkerState, error: unknown, signal: AbortSignal): Promise<void> {
  if (!(error instanceof EscapementError)) throw error
  if (error.code === 'WORKER_LOST') {
    state.log({ level: 'warn', message: 'The server considers this worker lost; registering again', facts: {} })
    state.attempts.abandon('lease_lost')
    state.id = null
    return
  }
  if (error.status !== null && error.status < 500 && error.status !== 429) throw error
  state.failures += 1
  if (state.failures === 1) state.log({ level: 'warn', message: error.message, facts: { code: error.code } })
  await pause(error.retryAfterMs ?? pauseAfter(state.failures), signal).catch(() => undefined)
}

async function stopWorker(state: WorkerState, how: 'drain' | 'now', ended: Promise<void>): Promise<void> {
  const { attempts, options, over } = state
  if (!state.draining) {
    state.draining = true
    state.log({
      level: 'info',
      message: 'Draining: no new attempts, running attempts may finish',
      facts: { working: attempts.count() },
    })
    state.claiming.abort()
  }
  if (how === 'drain') await waitUpTo(attempts.idle(), (options.drainSeconds ?? 30) * 1_000, over.signal)
  attempts.abandon('shutdown')
  await waitUpTo(attempts.idle(), REPORT_TIMEOUT_MS, over.signal)
  await sendLeave(state)
  over.abort()
  attempts.close()
  await ended.catch(() => undefined)
}

/** Tells the server that the worker leaves, so that its lease does not have to expire. */
async function sendLeave({ client, options, id }: WorkerState): Promise<void> {
  if (id === null) return
  const last = { worker_id: id, agents: Object.keys(options.agents), draining: true, wait_seconds: 0 }
  await client.worker.claim(last, { timeoutMs: LEAVE_TIMEOUT_MS }).catch(() => undefined)
}

const LEAVE_TIMEOUT_MS = 1_000

/** Time limit for the last reports. */
const REPORT_TIMEOUT_MS = 5_000

async function waitUpTo(done: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const timeout = new AbortController()
  await Promise.race([done, pause(ms, AbortSignal.any([timeout.signal, signal])).catch(() => undefined)])
  timeout.abort()
}
