/** Sending may take this share of the time, and whoever waits for it no longer than this. */
const LARGEST_SHARE = 0.05
const LONGEST_PAUSE_MS = 500

/**
 * Calls what it is given soon: at once after a pause, else when some time has passed since the last call. A call that took
 * long is followed by a longer pause: the more there are to be told, the more is told to each at once, because it is the
 * sendings that cost, and work comes before those who watch it.
 */
export function createPace(everyMs: number): (flush: () => void) => void {
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
      next = ended + Math.max(everyMs, Math.min(LONGEST_PAUSE_MS, (ended - began) / LARGEST_SHARE))
    }
    const wait = next - performance.now()
    if (wait <= 0) setImmediate(call)
    else setTimeout(call, wait)
  }
}
