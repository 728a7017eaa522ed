import { Worker } from 'node:worker_threads'
import type { OrgId } from '../../domain/ids.ts'
import { refusalFromFlaws } from '../../features/simulation/port.ts'
import type { ThreadMessage } from './thread-side.ts'

/** Limits of a pool, so that computations take nothing from the engine. */
export interface PoolBounds {
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
export interface PoolErrors {
  /** `A simulation` */
  readonly what: string
  readonly busy: (waiting: number) => Error
  readonly tooLong: (limitMs: number) => Error
  readonly tooLarge: () => Error
}

/** Receives progress, and cancels the job. */
export interface JobOptions<Progress> {
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((progress: Progress) => void) | undefined
}

/** Computes jobs in threads of its own, one job per org at a time, until it is closed. */
export interface ThreadPool<Job, Outcome, Progress> {
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
export function createThreadPool<Job, Outcome, Progress>(
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
