import { instant } from '../core/instant.ts'
import type { DatabaseHealth } from './health.ts'
import type { NodeContext, NodeParts } from './node-parts.ts'

/**
 * The database was away. It may have come back with an older record, as after a failover: what was known of it is compared
 * at the next look, and orgs in which nothing was pending may have pending runs again.
 */
export function distrustRecord({ state }: Pick<NodeParts, 'state'>): void {
  state.decidedUpTo = instant(-Infinity)
  state.looks.compareAt = -Infinity
  state.looks.pendingAfter = ''
}

/** A database that answers some and not others is back all the time; nobody asks it again sooner than this because of it. */
const MIN_PAUSE_MS = 250

/** A wait after a failure. It ends when the database is back, however long it was to last. */
export function createPause(
  { sleep, clock }: Pick<NodeContext, 'sleep' | 'clock'>,
  { whenBack }: Pick<DatabaseHealth, 'whenBack'>,
): NodeContext['sleep'] {
  return async (ms, signal) => {
    const began = clock.counter()
    const nap = new AbortController()
    const end = (): void => {
      nap.abort()
    }
    signal.addEventListener('abort', end)
    const callOff = whenBack(end)
    if (!signal.aborted) await sleep(ms, nap.signal)
    callOff()
    signal.removeEventListener('abort', end)
    const leftMs = Math.min(ms, MIN_PAUSE_MS) - (clock.counter() - began)
    if (leftMs > 0) await sleep(leftMs, signal)
  }
}
