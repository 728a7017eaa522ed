import type { Command } from './commands-port.ts'
import { tooBusy } from './transaction/failures.ts'

/** A command that waits for a transaction, and its caller. */
export interface QueuedCommand {
  readonly command: Command<unknown>
  readonly patient: boolean
  readonly since: number
  /** It failed together with others, so it is retried alone. */
  alone: boolean
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface CommandQueueContext {
  readonly counter: () => number
  /** How long a command that is not patient waits before it is refused. */
  readonly patienceMs: number
  /** Calls after this many milliseconds, by the counter. Returns a function that cancels the call. */
  readonly after: (ms: number, callback: () => void) => () => void
}

/**
 * The commands of one org that are in no transaction yet, in order of arrival. The queue is bounded in number and in
 * time: a command that is not patient is refused when too many wait already or when it has waited too long, and is
 * never executed later.
 */
export interface CommandQueue {
  readonly add: <Answer>(command: Command<Answer>, patient: boolean) => Promise<Answer>
  readonly isEmpty: () => boolean
  /** The commands for the next transaction. */
  readonly next: () => readonly QueuedCommand[]
  /** The same, removed from the queue. */
  readonly takeNext: () => readonly QueuedCommand[]
  /** Puts commands that were taken out back at the front. */
  readonly putBack: (entries: readonly QueuedCommand[]) => void
  /** Why transactions fail at present, used to refuse commands that waited too long; null: they do not fail. */
  readonly setFailure: (error: unknown) => void
  /** Refuses every command. */
  readonly close: (error: Error) => void
}

/** Maximum number of commands in one transaction. */
const MAX_PER_TRANSACTION = 2_000

/** Maximum number of waiting commands of one org; further ones are refused at once instead of after a long wait. */
const MAX_WAITING = 20_000

interface QueueContents {
  readonly ctx: CommandQueueContext
  entries: QueuedCommand[]
  /** How many of them are not patient. */
  impatient: number
  failure: unknown
  /** Cancels the timer for commands that wait too long. Null: no timer is set. */
  cancelTimer: (() => void) | null
}

export function createCommandQueue(ctx: CommandQueueContext): CommandQueue {
  const queue: QueueContents = { ctx, entries: [], impatient: 0, failure: null, cancelTimer: null }
  return {
    add: (command, patient) => add(queue, command, patient),
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
      queue.cancelTimer?.()
      for (const entry of queue.entries) entry.reject(error)
      queue.entries = []
      queue.impatient = 0
    },
  }
}

function add<Answer>(queue: QueueContents, command: Command<Answer>, patient: boolean): Promise<Answer> {
  if (!patient && queue.impatient >= MAX_WAITING) return Promise.reject(tooBusy())
  return new Promise<Answer>((resolve, reject) => {
    const since = queue.ctx.counter()
    const answer = resolve as (answer: unknown) => void
    queue.entries.push({ command: command as Command<unknown>, patient, since, alone: false, resolve: answer, reject })
    if (patient) return
    queue.impatient += 1
    if (queue.cancelTimer === null) watchPatience(queue)
  })
}

/**
 * A command with statements of its own, or one that failed together with others, goes alone, so that its failure
 * affects no other.
 */
const needsOwnTransaction = (entry: QueuedCommand): boolean => entry.alone || entry.command.prepare !== undefined

function batchSize({ entries }: QueueContents): number {
  const [first] = entries
  if (first !== undefined && needsOwnTransaction(first)) return 1
  const end = entries.findIndex((entry, index) => index >= MAX_PER_TRANSACTION || needsOwnTransaction(entry))
  return end === -1 ? entries.length : end
}

/** Refuses commands that have waited too long. */
function refuseLate(queue: QueueContents): void {
  const late = queue.ctx.counter() - queue.ctx.patienceMs
  const isLate = (entry: QueuedCommand): boolean => !entry.patient && entry.since <= late
  if (!queue.entries.some(isLate)) return
  const refused = queue.entries.filter(isLate)
  queue.entries = queue.entries.filter((entry) => !isLate(entry))
  queue.impatient -= refused.length
  for (const entry of refused) entry.reject(queue.failure ?? tooBusy())
}

/** Refuses waiting commands in time even while a transaction hangs. One timer serves all of them. */
function watchPatience(queue: QueueContents): void {
  if (queue.cancelTimer !== null || queue.impatient === 0) return
  const oldest = queue.entries.find(({ patient }) => !patient)
  if (oldest === undefined) return
  const { after, counter, patienceMs } = queue.ctx
  queue.cancelTimer = after(oldest.since + patienceMs - counter(), () => {
    queue.cancelTimer = null
    refuseLate(queue)
    watchPatience(queue)
  })
}
