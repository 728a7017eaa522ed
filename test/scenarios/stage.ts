import type { Attempt } from '../../src/executors/executor.ts'
import type { Handler, HandlerContext } from '../../src/executors/in-process/execute.ts'
import { eventually } from './support.ts'

/** One attempt as the function that performed it saw it. Times are in ms of the process. */
export interface Act {
  readonly label: string
  readonly attempt: Attempt
  readonly signal: AbortSignal
  readonly startedAt: number
  readonly endedAt: () => number | null
  /** Lets this one go. */
  readonly release: () => void
}

/** A function for agents whose attempts the test lets go one by one, and a record of what it did. */
export interface Stage {
  readonly handler: Handler
  /** In the order in which they began. */
  readonly acts: readonly Act[]
  /** What began, in order. */
  readonly started: () => readonly string[]
  /** How many are at work. */
  readonly busy: () => number
  /** The largest number that was at work at once. */
  readonly most: () => number
  /** Waits for the beginning of an attempt with this label: the first, or the n-th. */
  readonly begun: (label: string, nth?: number) => Promise<Act>
  /** Waits until so many have begun, whatever their label. */
  readonly begunMany: (count: number) => Promise<readonly Act[]>
  /** Lets whatever has one of these labels go, now and later. */
  readonly release: (...labels: readonly string[]) => void
  /** Lets everything go, now and later. */
  readonly open: () => void
}

interface StageOptions {
  /** Goes on when it is told to stop, as a program does that does not listen. */
  readonly deaf?: boolean
  /** Nothing is held: attempts end by themselves. */
  readonly open?: boolean
  /** What is done when an attempt is let go. Left out: it answers with its label. */
  readonly then?: (act: Act, context: HandlerContext) => unknown
}

/** Everything that comes is held until it is let go. */
export function createStage({ deaf = false, open = false, then }: StageOptions = {}): Stage {
  const acts: Act[] = []
  const passes = new Set<string>()
  let isOpen = open
  let busy = 0
  let most = 0
  const handler: Handler = async (attempt, context) => {
    const hold = createHold()
    let endedAt: number | null = null
    const label = labelOf(attempt.payload)
    const act: Act = {
      ...{ label, attempt, signal: context.signal, startedAt: performance.now() },
      ...{ endedAt: () => endedAt, release: hold.release },
    }
    acts.push(act)
    busy += 1
    most = Math.max(most, busy)
    try {
      if (!isOpen && !passes.has(label)) await (deaf ? hold.released : unlessAborted(hold.released, context.signal))
      return then === undefined ? label : await then(act, context)
    } finally {
      busy -= 1
      endedAt = performance.now()
    }
  }
  const withLabel = (label: string): readonly Act[] => acts.filter((act) => act.label === label)
  return {
    handler,
    acts,
    started: () => acts.map((act) => act.label),
    busy: () => busy,
    most: () => most,
    begun: (label, nth = 1) =>
      eventually(() => withLabel(label)[nth - 1] ?? fail(`"${label}" has not begun (begun: ${listOf(acts)})`)),
    begunMany: (count) =>
      eventually(() => (acts.length >= count ? acts : fail(`${acts.length} of ${count} have begun: ${listOf(acts)}`))),
    release: (...labels) => {
      for (const label of labels) passes.add(label)
      for (const act of labels.flatMap(withLabel)) act.release()
    },
    open: () => {
      isOpen = true
      for (const act of acts) act.release()
    },
  }
}

const listOf = (acts: readonly Act[]): string => acts.map((act) => act.label).join(', ')

function fail(message: string): never {
  throw new Error(message)
}

function createHold(): { readonly released: Promise<void>; readonly release: () => void } {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  return { released, release: () => release() }
}

function unlessAborted(waiting: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error(`told to stop: ${String(signal.reason)}`))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    void waiting.then(resolve)
  })
}

/** What a message says, a schedule asks for or a task is to do: tests tell attempts apart by it. */
export function labelOf(payload: unknown): string {
  if (typeof payload === 'string') return payload
  const fields = payload as Readonly<Record<string, unknown>> | null
  const label = fields?.['text'] ?? fields?.['prompt'] ?? fields?.['action']
  return typeof label === 'string' ? label : JSON.stringify(payload)
}
