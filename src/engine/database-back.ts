import { instant } from '../domain/instant.ts'
import type { DatabaseHealth } from './loops/health.ts'
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

/** Shorter outages are those of single connections, as when the server is full; retrying sooner would make that worse. */
const MIN_AWAY_MS = 1_000

/** A wait after a failure. It ends when the database is back, however long it was to last. */
export function createPause(
  { sleep }: Pick<NodeContext, 'sleep'>,
  { whenBack }: Pick<DatabaseHealth, 'whenBack'>,
): NodeContext['sleep'] {
  return async (ms, signal) => {
    const nap = new AbortController()
    const end = (): void => {
      nap.abort()
    }
    signal.addEventListener('abort', end)
    const callOff = whenBack((awayMs) => {
      if (awayMs >= MIN_AWAY_MS) end()
    })
    if (!signal.aborted) await sleep(ms, nap.signal)
    callOff()
    signal.removeEventListener('abort', end)
  }
}
