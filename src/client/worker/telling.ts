import type { WorkerAnswer } from '../../features/workers/schema.ts'

/** What is said on the way is collected so long: a model says fifty words a second. */
const COLLECT_MS = 100
const MOST_EVENTS = 100
/** More than this waits for a server that does not listen is dropped: the whole is in the output. */
const MOST_WAITING = 1_000

/** Tells what an attempt says on its way, in order, a few pieces at a time. */
export interface Telling {
  readonly say: (event: unknown) => void
  /** Resolves when everything said so far has been told, or could not be. */
  readonly flush: () => Promise<void>
}

export function createTelling(ctx: {
  readonly send: (events: readonly unknown[]) => Promise<WorkerAnswer>
  readonly told: (answer: WorkerAnswer) => void
}): Telling {
  let waiting: unknown[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  let telling = Promise.resolve()
  const tell = async (): Promise<void> => {
    while (waiting.length > 0) {
      const events = waiting.slice(0, MOST_EVENTS)
      waiting = waiting.slice(MOST_EVENTS)
      try {
        ctx.told(await ctx.send(events))
      } catch {
        // Nobody waits for it, and nothing depends on it.
      }
    }
  }
  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    telling = telling.then(tell)
    return telling
  }
  return {
    say: (event) => {
      if (waiting.length >= MOST_WAITING) return
      waiting.push(event ?? null)
      timer ??= setTimeout(() => void flush(), COLLECT_MS)
    },
    flush,
  }
}
