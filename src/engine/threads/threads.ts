import { availableParallelism } from 'node:os'
import { IS_FROM_SOURCE, threadModule } from '../../platform/package-root.ts'
import {
  computeBusy,
  type ComputeJob,
  type ComputeOutcome,
  type ComputePort,
  computeTooLarge,
  computeTooLong,
} from '../compute.ts'
import type { Ports } from '../ports.ts'
import {
  simulationBusy,
  type SimulationJob,
  type SimulationOutcome,
  type SimulationPort,
  type SimulationProgress,
  simulationTooLarge,
  simulationTooLong,
  refusalFromFlaws,
} from '../../features/simulation/port.ts'
import type { Log } from '../loops/health.ts'
import { Worker } from 'node:worker_threads'
import type { OrgId } from '../../domain/ids.ts'
import type { ThreadMessage } from './thread-side.ts'

/** Limits of a pool, so that computations take nothing from the engine. */
interface PoolBounds {
  /** Threads at a time, for all orgs together. */
  readonly threads: number
  /** Waiting jobs of one org, besides the running one. */
  readonly waiting: number
  readonly timeLimitMs: number
  readonly memoryMb: number
  /** How long an idle thread is kept. */
  readonly idleMs: number
}

/** The errors of a pool. */
interface PoolErrors {
  /** `A simulation` */
  readonly what: string
  readonly busy: (waiting: number) => Error
  readonly tooLong: (limitMs: number) => Error
  readonly tooLarge: () => Error
}

/** Receives progress, and cancels the job. */
interface JobOptions<Progress> {
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((progress: Progress) => void) | undefined
}

/** Computes jobs in threads of its own, one job per org at a time, until it is closed. */
interface ThreadPool<Job, Outcome, Progress> {
  readonly compute: (orgId: OrgId, job: Job, options?: JobOptions<Progress>) => Promise<Outcome>
  readonly close: () => Promise<void>
}

const threadEnded = ({ what }: PoolErrors): Error => new Error(`${what} failed: its thread ended`)

interface WaitingJob<Job, Outcome, Progress> {
  readonly orgId: OrgId
  readonly job: Job
  readonly options: JobOptions<Progress>
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** The threads of a pool, busy and idle. */
interface Threads {
  /** An idle or new thread; null: the maximum is reached. */
  readonly acquire: () => Worker | null
  /** Keeps the thread for the next job. */
  readonly release: (worker: Worker) => void
  readonly end: (worker: Worker) => Promise<void>
  readonly close: () => Promise<void>
}

function createThreads(thread: URL, { threads, memoryMb, idleMs }: PoolBounds): Threads {
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
    // The caller of a running job gets the error; between two jobs there is no caller, and the thread is just gone.
    worker.on('error', () => undefined)
    worker.on('exit', () => forget(worker))
    return worker
  }
  return {
    acquire: () => {
      const [found] = idle.keys()
      if (found === undefined) return all.size < threads ? open() : null
      clearTimeout(idle.get(found))
      idle.delete(found)
      return found
    },
    release: (worker) => {
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

/** Opens a pool. The first thread starts with the first job. */
function createThreadPool<Job, Outcome, Progress>(
  thread: URL,
  bounds: PoolBounds,
  errors: PoolErrors,
): ThreadPool<Job, Outcome, Progress> {
  const threads = createThreads(thread, bounds)
  const waiting: WaitingJob<Job, Outcome, Progress>[] = []
  const busy = new Set<OrgId>()
  let isClosed = false
  const next = (): void => {
    const at = waiting.findIndex(({ orgId }) => !busy.has(orgId))
    const worker = at === -1 || isClosed ? null : threads.acquire()
    const entry = worker === null ? undefined : waiting.splice(at, 1)[0]
    if (worker === null || entry === undefined) return
    busy.add(entry.orgId)
    runJob(worker, entry, {
      ...{ timeLimitMs: bounds.timeLimitMs, errors },
      over: (isGood) => {
        busy.delete(entry.orgId)
        if (isGood) threads.release(worker)
        else void threads.end(worker)
        next()
      },
    })
    next()
  }
  return {
    compute: (orgId, job, options = {}) =>
      new Promise((resolve, reject) => {
        options.signal?.throwIfAborted()
        const before = waiting.filter((other) => other.orgId === orgId).length
        if (before >= bounds.waiting) throw errors.busy(before)
        const entry: WaitingJob<Job, Outcome, Progress> = { orgId, job, options, resolve, reject }
        waiting.push(entry)
        options.signal?.addEventListener('abort', () => removeWaiting(waiting, entry), { once: true })
        next()
      }),
    close: async () => {
      isClosed = true
      for (const entry of waiting.splice(0)) entry.reject(threadEnded(errors))
      await threads.close()
    },
  }
}

/** Removes a job that has not started; a running one is ended by `perform`. */
function removeWaiting<Job, Outcome, Progress>(
  waiting: WaitingJob<Job, Outcome, Progress>[],
  entry: WaitingJob<Job, Outcome, Progress>,
): void {
  const at = waiting.indexOf(entry)
  if (at === -1) return
  waiting.splice(at, 1)
  entry.reject(entry.options.signal?.reason)
}

interface JobContext {
  readonly timeLimitMs: number
  readonly errors: PoolErrors
  /** Called once; a thread that is not usable any more is ended. */
  readonly over: (isGood: boolean) => void
}

function runJob<Job, Outcome, Progress>(
  worker: Worker,
  entry: WaitingJob<Job, Outcome, Progress>,
  { timeLimitMs, errors, over }: JobContext,
): void {
  const { signal, progress } = entry.options
  const finish = (isGood: boolean, settle: () => void): void => {
    clearTimeout(timer)
    worker.off('message', onMessage).off('error', fail).off('exit', gone)
    signal?.removeEventListener('abort', stop)
    worker.unref()
    over(isGood)
    settle()
  }
  const onMessage = (message: ThreadMessage<Outcome, Progress>): void => {
    if (message.kind === 'progress') progress?.(message.progress)
    else if (message.kind === 'outcome') finish(true, () => entry.resolve(message.outcome))
    else if (message.kind === 'invalid') finish(true, () => entry.reject(refusalFromFlaws(message.flaws)))
    else finish(true, () => entry.reject(new Error(`${errors.what} failed: ${message.error}`)))
  }
  const fail = (error: Error & { readonly code?: string }): void =>
    finish(false, () => entry.reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? errors.tooLarge() : error))
  const gone = (): void => finish(false, () => entry.reject(threadEnded(errors)))
  const stop = (): void => finish(false, () => entry.reject(signal?.reason))
  const timer = setTimeout(() => finish(false, () => entry.reject(errors.tooLong(timeLimitMs))), timeLimitMs)
  worker.on('message', onMessage).on('error', fail).on('exit', gone)
  signal?.addEventListener('abort', stop, { once: true })
  // Keep the process alive while a caller waits.
  worker.ref()
  worker.postMessage(entry.job)
}

/** The computation threads of a node. */
export interface NodeThreads {
  readonly ports: Pick<Ports, 'simulations' | 'computations'>
  readonly close: () => Promise<void>
}

/**
 * Opens the pools of a node. Running from sources has no thread modules, which is expected; a bundled program without
 * them logs a warning.
 */
export function openThreads(log: Log, isFromSource = IS_FROM_SOURCE): NodeThreads {
  const [simulations, computations] = [openSimulations() ?? undefined, openComputations() ?? undefined]
  if (!isFromSource && (simulations === undefined || computations === undefined))
    log({
      level: 'warn',
      message:
        'The thread modules are missing next to this program; simulations, previews and forecasts block its main thread',
      facts: { expected: ['engine/threads/simulation-thread.js', 'engine/threads/computation-thread.js'] },
    })
  return {
    ports: { simulations, computations },
    close: async () => {
      await simulations?.close()
      await computations?.close()
    },
  }
}

/** A person waits for a preview, so each gets less time than a simulation, and more of them may wait. */
export const COMPUTE_BOUNDS: PoolBounds = {
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  ...{ waiting: 16, timeLimitMs: 10_000, memoryMb: 256, idleMs: 60_000 },
}

/** Computes previews and forecasts of recurrence rules in threads, one per org at a time. */
export interface Computations extends ComputePort {
  readonly close: () => Promise<void>
}

/** Null when running from sources, which have no thread modules. */
function openComputations(): Computations | null {
  const thread = threadModule('engine/threads/computation-thread')
  return thread === null ? null : createComputations(thread)
}

export const createComputations = (thread: URL, bounds: PoolBounds = COMPUTE_BOUNDS): Computations =>
  createThreadPool<ComputeJob, ComputeOutcome, never>(thread, bounds, {
    ...{ what: 'A preview or forecast', busy: computeBusy, tooLong: computeTooLong, tooLarge: computeTooLarge },
  })

/** The limits of a server: the engine keeps one core for itself where there is more than one. */
export const SIMULATION_BOUNDS: PoolBounds = {
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  ...{ waiting: 8, timeLimitMs: 120_000, memoryMb: 768, idleMs: 60_000 },
}

/** Computes simulations in threads, one per org at a time, until it is closed. */
export interface Simulations extends SimulationPort {
  readonly close: () => Promise<void>
}

/** Null when running from sources, which have no thread modules. */
function openSimulations(): Simulations | null {
  const thread = threadModule('engine/threads/simulation-thread')
  return thread === null ? null : createSimulations(thread)
}

/** Opens the pool that computes simulations. */
export const createSimulations = (thread: URL, bounds: PoolBounds = SIMULATION_BOUNDS): Simulations =>
  createThreadPool<SimulationJob, SimulationOutcome, SimulationProgress>(thread, bounds, {
    ...{ what: 'A simulation', busy: simulationBusy, tooLong: simulationTooLong, tooLarge: simulationTooLarge },
  })
