import type { Work } from '../service/turn-port.ts'
import { tooBusy } from '../service/turn/failures.ts'

/** Work that waits for a turn, and who is to be answered. */
export interface Entry {
  readonly work: Work<unknown>
  readonly patient: boolean
  readonly since: number
  /** It failed together with others: it is tried by itself. */
  alone: boolean
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface WorkQueueContext {
  readonly counter: () => number
  /** How long work that is not patient waits before it is refused. */
  readonly patienceMs: number
  /** Calls after so many milliseconds, by the counter. Answers with how to call it off. */
  readonly after: (ms: number, call: () => void) => () => void
}

/**
 * The work of one org that is in no turn yet, in the order it came. It is bounded in number and in time: what is not
 * patient is refused when too much waits already, or when it has waited too long, and is never carried out later.
 */
export interface WorkQueue {
  readonly add: <Answer>(work: Work<Answer>, patient: boolean) => Promise<Answer>
  readonly isEmpty: () => boolean
  /** What goes into the next turn. */
  readonly next: () => readonly Entry[]
  /** The same, taken out. */
  readonly takeNext: () => readonly Entry[]
  /** Was taken out and is still to be done: it comes first. */
  readonly putBack: (entries: readonly Entry[]) => void
  /** Why turns fail at present, for what is refused because of it; null: they do not. */
  readonly setFailure: (error: unknown) => void
  /** Refuses everything. */
  readonly close: (error: Error) => void
}

/** More work than this is not put in one turn, so that no turn takes for ever. */
const MAX_PER_TURN = 2_000

/** More than these do not wait in one org: what comes now is refused at once instead of after a long wait. */
const MAX_WAITING = 20_000

interface Queue {
  readonly ctx: WorkQueueContext
  entries: Entry[]
  /** How many of them are not patient. */
  impatient: number
  failure: unknown
  /** Calls off the look at what has waited too long. Null: there is nothing to look at. */
  callOff: (() => void) | null
}

export function createWorkQueue(ctx: WorkQueueContext): WorkQueue {
  const queue: Queue = { ctx, entries: [], impatient: 0, failure: null, callOff: null }
  return {
    add: (work, patient) => add(queue, work, patient),
    isEmpty: () => queue.entries.length === 0,
    next: () => queue.entries.slice(0, batchSize(queue)),
    takeNext: () => {
      const taken = queue.entries.slice(0, batchSize(queue))
      queue.entries = queue.entries.slice(taken.length)
      for (const { patient } of taken) if (!patient) queue.impatient -= 1
      return taken
    },
    putBack: (entries) => {
      queue.entries = [...entries, ...queue.entries]
      for (const { patient } of entries) if (!patient) queue.impatient += 1
      refuseLate(queue)
      watchPatience(queue)
    },
    setFailure: (error) => {
      queue.failure = error
    },
    close: (error) => {
      queue.callOff?.()
      for (const entry of queue.entries) entry.reject(error)
      queue.entries = []
      queue.impatient = 0
    },
  }
}

function add<Answer>(queue: Queue, work: Work<Answer>, patient: boolean): Promise<Answer> {
  if (!patient && queue.impatient >= MAX_WAITING) return Promise.reject(tooBusy())
  return new Promise<Answer>((resolve, reject) => {
    const since = queue.ctx.counter()
    const answer = resolve as (answer: unknown) => void
    queue.entries.push({ work: work as Work<unknown>, patient, since, alone: false, resolve: answer, reject })
    if (patient) return
    queue.impatient += 1
    if (queue.callOff === null) watchPatience(queue)
  })
}

/** What writes by itself, or has failed in company, goes alone: nobody else suffers if it cannot be done. */
const goesAlone = (entry: Entry): boolean => entry.alone || entry.work.prepare !== undefined

function batchSize({ entries }: Queue): number {
  const [first] = entries
  if (first !== undefined && goesAlone(first)) return 1
  const end = entries.findIndex((entry, index) => index >= MAX_PER_TURN || goesAlone(entry))
  return end === -1 ? entries.length : end
}

/** Refuses what has waited as long as it may. */
function refuseLate(queue: Queue): void {
  const late = queue.ctx.counter() - queue.ctx.patienceMs
  const isLate = (entry: Entry): boolean => !entry.patient && entry.since <= late
  if (!queue.entries.some(isLate)) return
  const refused = queue.entries.filter(isLate)
  queue.entries = queue.entries.filter((entry) => !isLate(entry))
  queue.impatient -= refused.length
  for (const entry of refused) entry.reject(queue.failure ?? tooBusy())
}

/** Sees to it that what waits is refused in time, also while a turn hangs. One timer for all that wait. */
function watchPatience(queue: Queue): void {
  if (queue.callOff !== null || queue.impatient === 0) return
  const oldest = queue.entries.find(({ patient }) => !patient)
  if (oldest === undefined) return
  const { after, counter, patienceMs } = queue.ctx
  queue.callOff = after(oldest.since + patienceMs - counter(), () => {
    queue.callOff = null
    refuseLate(queue)
    watchPatience(queue)
  })
}
