import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { OrgId } from '../core/ids.ts'
import type { SimulationJob, SimulationListening, SimulationOutcome, SimulationPort } from '../service/simulate/port.ts'
import { refusedFor, simulationBusy, simulationTooLarge, simulationTooLong } from '../service/simulate/refusals.ts'
import type { ThreadMessage } from './simulation-messages.ts'

/** What bounds simulations, so that they take nothing from the engine. */
export interface SimulationBounds {
  /** Threads at a time, of all orgs. */
  readonly threads: number
  /** Of one org, beside the one that is computed. */
  readonly waiting: number
  readonly timeLimitMs: number
  readonly memoryMb: number
  /** How long a thread that has nothing to do is kept for the next one. */
  readonly idleMs: number
}

/** What holds for a server: the engine keeps a core for itself where there is more than one. */
export const SIMULATION_BOUNDS: SimulationBounds = {
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  ...{ waiting: 8, timeLimitMs: 120_000, memoryMb: 768, idleMs: 60_000 },
}

/** Computes simulations in threads of their own, one of an org at a time, until it is closed. */
export interface Simulations extends SimulationPort {
  readonly close: () => Promise<void>
}

const ENDED = 'The thread of a simulation has ended'

interface Asked {
  readonly orgId: OrgId
  readonly job: SimulationJob
  readonly listening: SimulationListening
  readonly resolve: (outcome: SimulationOutcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Opens the place where a server computes simulations; null in a program that is run from its sources, which has no file
 * that a thread could begin with.
 */
export function openSimulations(): Simulations | null {
  const thread = new URL('./simulation-thread.js', import.meta.url)
  return existsSync(fileURLToPath(thread)) ? createSimulations(thread) : null
}

/** Threads that compute, and those that wait for something to do. */
interface Threads {
  /** One that has nothing to do; null: there are as many as there may be. */
  readonly take: () => Worker | null
  /** It may be wanted again soon. */
  readonly rest: (worker: Worker) => void
  readonly end: (worker: Worker) => Promise<void>
  readonly close: () => Promise<void>
}

function createThreads(thread: URL, { threads, memoryMb, idleMs }: SimulationBounds): Threads {
  const idle = new Map<Worker, NodeJS.Timeout>()
  const all = new Set<Worker>()
  const forget = (worker: Worker): void => {
    clearTimeout(idle.get(worker))
    idle.delete(worker)
    all.delete(worker)
  }
  const end = async (worker: Worker): Promise<void> => {
    forget(worker)
    await worker.terminate()
  }
  const open = (): Worker => {
    const worker = new Worker(thread, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
    worker.unref()
    all.add(worker)
    // Whoever waits for it hears why; between two jobs nobody does, and it is only not there any more.
    worker.on('error', () => undefined)
    worker.on('exit', () => forget(worker))
    return worker
  }
  return {
    take: () => {
      const [found] = idle.keys()
      if (found === undefined) return all.size < threads ? open() : null
      clearTimeout(idle.get(found))
      idle.delete(found)
      return found
    },
    rest: (worker) => {
      const timer = setTimeout(() => void end(worker), idleMs)
      timer.unref()
      idle.set(worker, timer)
    },
    end,
    close: async () => {
      await Promise.all([...all].map(end))
    },
  }
}

/** Opens the place where simulations are computed. There is no thread before somebody asks for one. */
export function createSimulations(thread: URL, bounds: SimulationBounds = SIMULATION_BOUNDS): Simulations {
  const threads = createThreads(thread, bounds)
  const waiting: Asked[] = []
  const busy = new Set<OrgId>()
  let isClosed = false
  const next = (): void => {
    const at = waiting.findIndex(({ orgId }) => !busy.has(orgId))
    const worker = at === -1 || isClosed ? null : threads.take()
    const asked = worker === null ? undefined : waiting.splice(at, 1)[0]
    if (worker === null || asked === undefined) return
    busy.add(asked.orgId)
    perform(worker, asked, {
      ...bounds,
      over: (isGood) => {
        busy.delete(asked.orgId)
        if (isGood) threads.rest(worker)
        else void threads.end(worker)
        next()
      },
    })
    next()
  }
  return {
    compute: (orgId, job, listening = {}) =>
      new Promise((resolve, reject) => {
        listening.signal?.throwIfAborted()
        const before = waiting.filter((other) => other.orgId === orgId).length
        if (before >= bounds.waiting) throw simulationBusy(before)
        const asked: Asked = { orgId, job, listening, resolve, reject }
        waiting.push(asked)
        listening.signal?.addEventListener('abort', () => giveUp(waiting, asked), { once: true })
        next()
      }),
    close: async () => {
      isClosed = true
      for (const asked of waiting.splice(0)) asked.reject(new Error(ENDED))
      await threads.close()
    },
  }
}

/** One that has not begun is forgotten; one that has is ended by whoever computes it. */
function giveUp(waiting: Asked[], asked: Asked): void {
  const at = waiting.indexOf(asked)
  if (at === -1) return
  waiting.splice(at, 1)
  asked.reject(asked.listening.signal?.reason)
}

interface Performing extends SimulationBounds {
  /** Called once; a thread that is not good any more is ended. */
  readonly over: (isGood: boolean) => void
}

function perform(worker: Worker, asked: Asked, { timeLimitMs, over }: Performing): void {
  const { signal, progress } = asked.listening
  const finish = (isGood: boolean, settle: () => void): void => {
    clearTimeout(timer)
    worker.off('message', hear).off('error', fail).off('exit', gone)
    signal?.removeEventListener('abort', stop)
    worker.unref()
    over(isGood)
    settle()
  }
  const hear = (message: ThreadMessage): void => {
    if (message.kind === 'progress') progress?.(message.progress)
    else if (message.kind === 'outcome') finish(true, () => asked.resolve(message.outcome))
    else if (message.kind === 'invalid') finish(true, () => asked.reject(refusedFor(message.flaws)))
    else finish(true, () => asked.reject(new Error(`A simulation failed: ${message.error}`)))
  }
  const fail = (error: Error & { readonly code?: string }): void =>
    finish(false, () => asked.reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? simulationTooLarge() : error))
  const gone = (): void => finish(false, () => asked.reject(new Error(ENDED)))
  const stop = (): void => finish(false, () => asked.reject(signal?.reason))
  const timer = setTimeout(() => finish(false, () => asked.reject(simulationTooLong(timeLimitMs))), timeLimitMs)
  worker.on('message', hear).on('error', fail).on('exit', gone)
  signal?.addEventListener('abort', stop, { once: true })
  // While somebody waits for it, the process does.
  worker.ref()
  worker.postMessage(asked.job)
}
