import { cpuMs } from '../support/cpu-time.ts'

/** Does something and answers with the longest time for which nothing else of the thread could be done, in milliseconds. */
export async function longestStretch(work: () => Promise<unknown>): Promise<number> {
  let [isOver, longest, before] = [false, 0, cpuMs()]
  const measure = (): void => {
    const now = cpuMs()
    longest = Math.max(longest, now - before)
    before = now
    // Each turn of the event loop is measured by itself.
    if (!isOver) setImmediate(measure)
  }
  setImmediate(measure)
  try {
    await work()
  } finally {
    isOver = true
  }
  measure()
  return longest
}

/** A collection of garbage or a compilation may fall into one attempt, but not into each. */
export async function shortestOf(attempts: number, enough: number, work: () => Promise<unknown>): Promise<number> {
  let shortest = Infinity
  for (let left = attempts; left > 0 && shortest > enough; left -= 1)
    shortest = Math.min(shortest, await longestStretch(work))
  return shortest
}
