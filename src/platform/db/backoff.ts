export interface BackoffLimits {
  readonly baseMs: number
  readonly maxMs: number
}

/** How long to stay away from a database that is away: soon at first, so that a restart is hardly noticed. */
export const RECONNECT_BACKOFF: BackoffLimits = { baseMs: 50, maxMs: 5_000 }

/**
 * The wait after so many failures in a row: doubling up to a limit, half of it by chance, so that nodes that failed
 * together do not come back together. `random` is in [0, 1).
 */
export function backoffMs(failures: number, random: number, limits: BackoffLimits): number {
  const steady = Math.min(limits.maxMs, limits.baseMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30))
  return Math.round(steady * (0.5 + random / 2))
}
