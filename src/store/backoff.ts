import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict } from './database-error.ts'

export interface BackoffLimits {
  readonly baseMs: number
  readonly maxMs: number
}

/** How long to stay away from a database that is away: soon at first, so that a restart is hardly noticed. */
export const RECONNECT_BACKOFF: BackoffLimits = { baseMs: 50, maxMs: 5_000 }

/** How long to wait before a transaction that collided is repeated. */
const CONFLICT_BACKOFF: BackoffLimits = { baseMs: 5, maxMs: 200 }

/**
 * The wait after so many failures in a row: doubling up to a limit, half of it by chance, so that nodes that failed
 * together do not come back together. `random` is in [0, 1).
 */
export function backoffMs(failures: number, random: number, limits: BackoffLimits): number {
  const steady = Math.min(limits.maxMs, limits.baseMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30))
  return Math.round(steady * (0.5 + random / 2))
}

export interface ConflictRetry {
  readonly attempts: number
  readonly random: () => number
}

/**
 * Repeats a whole transaction that collided with another one. Only for work that may run several times: the caller
 * chooses, because what has been done outside the database is not undone by a rollback.
 */
export async function retryConflicts<T>(work: () => Promise<T>, retry: ConflictRetry): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isConflict(error) || failures >= retry.attempts) throw error
      await sleep(backoffMs(failures, retry.random(), CONFLICT_BACKOFF))
    }
  }
}
