import { Worker } from 'node:worker_threads'
import type { OrgId } from '../../domain/ids.ts'
import { refusedFor } from '../../service/simulate/port.ts'
import type { ThreadMessage } from './thread-side.ts'

/** What bounds computations, so that they take nothing from the engine. */
export interface PoolBounds {
  /** Threads at a time, of all orgs. */
  readonly threads: number
  /** Of one org, beside the one that is computed. */
  readonly waiting: number
  readonly timeLimitMs: number
  readonly memoryMb: number
  /** How long a thread that has nothing to do is kept for the next one. */
  readonly idleMs: number
}

/** How a pool says what it does not do. */
export interface PoolWords {
  /** `A simulation` */
  readonly what: string
  readonly busy: (waiting: number) => Error
  readonly tooLong: (limitMs: number) => Error
  readonly tooLarge: () => Error
}

/** What is told while it is computed, and how to say that it is no longer wanted. */
export interface Listening<Progress> {
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((progress: Progress) => void) | undefined
}

/** Computes in threads of its own, one job of an org at a time, until it is closed. */
export interface ThreadPool<Job, Outcome, Progress> {
  readonly compute: (orgId: OrgId, job: Job, listening?: Listening<Progress>) => Promise<Outcome>
  readonly close: () => Promise<void>
}

const ended = ({ what }: PoolWords): Error => new Error(`${what} has lost its thread`)

interface Asked<Job, Outcome, Progress> {
  readonly orgId: OrgId
  readonly job: Job
  readonly listening: Listening<Progress>
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
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

/** Opens a pool. There is no thread before one is asked for. */
export function createThreadPool<Job, Outcome, Progress>(
  thread: URL,
  bounds: PoolBounds,
  words: PoolWords,
): ThreadPool<Job, Outcome, Progress> {
  const threads = createThreads(thread, bounds)
  const waiting: Asked<Job, Outcome, Progress>[] = []
  const busy = new Set<OrgId>()
  let isClosed = false
  const next = (): void => {
    const at = waiting.findIndex(({ orgId }) => !busy.has(orgId))
    const worker = at === -1 || isClosed ? null : threads.take()
    const asked = worker === null ? undefined : waiting.splice(at, 1)[0]
    if (worker === null || asked === undefined) return
    busy.add(asked.orgId)
    perform(worker, asked, {
      ...{ timeLimitMs: bounds.timeLimitMs, words },
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
        if (before >= bounds.waiting) throw words.busy(before)
        const asked: Asked<Job, Outcome, Progress> = { orgId, job, listening, resolve, reject }
        waiting.push(asked)
        listening.signal?.addEventListener('abort', () => giveUp(waiting, asked), { once: true })
        next()
      }),
    close: async () => {
      isClosed = true
      for (const asked of waiting.splice(0)) asked.reject(ended(words))
      await threads.close()
    },
  }
}

/** One that has not begun is forgotten; one that has is ended by whoever computes it. */
function giveUp<Job, Outcome, Progress>(
  waiting: Asked<Job, Outcome, Progress>[],
  asked: Asked<Job, Outcome, Progress>,
): void {
  const at = waiting.indexOf(asked)
  if (at === -1) return
  waiting.splice(at, 1)
  asked.reject(asked.listening.signal?.reason)
}

interface Performing {
  readonly timeLimitMs: number
  readonly words: PoolWords
  /** Called once; a thread that is not good any more is ended. */
  readonly over: (isGood: boolean) => void
}

function perform<Job, Outcome, Progress>(
  worker: Worker,
  asked: Asked<Job, Outcome, Progress>,
  { timeLimitMs, words, over }: Performing,
): void {
  const { signal, progress } = asked.listening
  const finish = (isGood: boolean, settle: () => void): void => {
    clearTimeout(timer)
    worker.off('message', hear).off('error', fail).off('exit', gone)
    signal?.removeEventListener('abort', stop)
    worker.unref()
    over(isGood)
    settle()
  }
  const hear = (message: ThreadMessage<Outcome, Progress>): void => {
    if (message.kind === 'progress') progress?.(message.progress)
    else if (message.kind === 'outcome') finish(true, () => asked.resolve(message.outcome))
    else if (message.kind === 'invalid') finish(true, () => asked.reject(refusedFor(message.flaws)))
    else finish(true, () => asked.reject(new Error(`${words.what} failed: ${message.error}`)))
  }
  const fail = (error: Error & { readonly code?: string }): void =>
    finish(false, () => asked.reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? words.tooLarge() : error))
  const gone = (): void => finish(false, () => asked.reject(ended(words)))
  const stop = (): void => finish(false, () => asked.reject(signal?.reason))
  const timer = setTimeout(() => finish(false, () => asked.reject(words.tooLong(timeLimitMs))), timeLimitMs)
  worker.on('message', hear).on('error', fail).on('exit', gone)
  signal?.addEventListener('abort', stop, { once: true })
  // While somebody waits for it, the process does.
  worker.ref()
  worker.postMessage(asked.job)
}
