import { later, type Instant } from '../instant.ts'

/** How fast a backfill may go at most. */
export interface Pace {
  /** Runs at a time. */
  readonly atOnce: number
  readonly spacingMs: number
}

/** How long so many runs take at a pace when each takes so long; null when nobody knows how long one takes. */
export function durationAt(runs: number, runMs: number | null, { atOnce, spacingMs }: Pace): number | null {
  if (runs === 0) return 0
  if (runMs === null && spacingMs === 0) return null
  const one = runMs ?? 0
  return Math.round(Math.max(Math.ceil(runs / atOnce) * one, (runs - 1) * spacingMs + one))
}

/** How it has gone so far, and when it will be over if it goes on like that. */
export interface Throughput {
  readonly perMinute: number | null
  readonly eta: Instant | null
}

/** Looks at what has ended since the beginning. Before the first has, nobody knows. */
export function throughputOf(
  progress: { readonly ended: number; readonly left: number; readonly since: Instant },
  now: Instant,
): Throughput {
  const elapsed = now - progress.since
  if (progress.ended === 0 || elapsed <= 0) return { perMinute: null, eta: null }
  const each = elapsed / progress.ended
  return { perMinute: Math.round(600_000 / each) / 10, eta: later(now, Math.round(each * progress.left)) }
}
