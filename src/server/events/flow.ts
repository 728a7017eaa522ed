/** Limits concurrency; further calls wait in order. */
interface Semaphore {
  readonly run: <T>(task: () => Promise<T>) => Promise<T>
}

export function createSemaphore(size: number): Semaphore {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    run: async (task) => {
      if (running >= size) await new Promise<void>((resolve) => waiting.push(resolve))
      else running += 1
      try {
        return await task()
      } finally {
        // The next caller takes over the slot.
        const next = waiting.shift()
        if (next === undefined) running -= 1
        else next()
      }
    },
  }
}

/** Sending may take this share of the time, and batches are delayed no longer than this. */
const MAX_SEND_SHARE = 0.05
const MAX_BATCH_DELAY_MS = 500

/**
 * Calls back soon: at once after a pause, or else after an interval since the last call. The interval grows with the
 * duration of the last call, so that with many clients more events are sent per batch and other work is not delayed.
 */
export function createBatcher(everyMs: number): (flush: () => void) => void {
  let waiting = false
  let next = -Infinity
  return (flush) => {
    if (waiting) return
    waiting = true
    const call = (): void => {
      waiting = false
      const began = performance.now()
      flush()
      const ended = performance.now()
      next = ended + Math.max(everyMs, Math.min(MAX_BATCH_DELAY_MS, (ended - began) / MAX_SEND_SHARE))
    }
    const wait = next - performance.now()
    if (wait <= 0) setImmediate(call)
    else setTimeout(call, wait)
  }
}
