import type { Instant } from '../domain/instant.ts'
import type { Ports } from '../service/ports.ts'

/** Timers take no more than this many milliseconds. */
const MAX_TIMER_MS = 2_147_483_647

/** Calls back when a key or a session expires, which no request tells of. Answers with how to call it off. */
export function atExpiry(clock: Ports['clock'], expiresAt: Instant | null, expired: () => void): () => void {
  if (expiresAt === null) return () => undefined
  let timer: NodeJS.Timeout | null = null
  const wait = (): void => {
    // The clock is the database's: a timer that was set by it can be a little early.
    const left = Math.max(1, expiresAt - clock.now())
    timer = setTimeout(() => (clock.now() >= expiresAt ? expired() : wait()), Math.min(left, MAX_TIMER_MS)).unref()
  }
  wait()
  return () => {
    if (timer !== null) clearTimeout(timer)
  }
}
