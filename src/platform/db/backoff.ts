export interface BackoffLimits {
  readonly baseMs: number
  readonly maxMs: number
}

/** Delays between attempts to reconnect to the database; short at first, for quick restarts. */
export const RECONNECT_BACKOFF: BackoffLimits = { baseMs: 50, maxMs: 5_000 }

/**
 * The delay after a number of consecutive failures: doubles up to a limit, with up to half of it random, so that nodes do
 * not retry at the same time. `random` is in [0, 1).
 */
export function backoffMs(failures: number, random: number, limits: BackoffLimits): number {
  const steady = Math.min(limits.maxMs, limits.baseMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30))
  return Math.round(steady * (0.5 + random / 2))
}
