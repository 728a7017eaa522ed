import { DAY_MS, formatInstant, later, SECOND_MS, type Instant } from '../instant.ts'
import { shortestInterval } from '../time/shortest-interval.ts'
import { nextOccurrence, type Timing } from '../time/timing.ts'
import { breach, type RailBreach } from './breach.ts'
import type { GuardRails } from './guard-rails.ts'

/** So many coming occurrences are looked at, and no further than twenty years: each year of a zone is looked up. */
const MAX_LOOKED_AT = 1_000
const LOOKED_AT_MS = 20 * 366 * DAY_MS

/** When a schedule would fire. */
export interface JudgedTiming {
  readonly timing: Timing
  /** Moves each occurrence by up to so much, so that two can come so much closer. */
  readonly jitterMs: number
}

/**
 * Whether occurrences come too close to each other: the next thousand, and the shortest distance that the rule has at
 * all, because a rule can be slow today and fast next year.
 */
export function judgeInterval(
  { minIntervalSeconds }: Pick<GuardRails, 'minIntervalSeconds'>,
  { timing, jitterMs }: JudgedTiming,
  now: Instant,
): RailBreach | null {
  if (timing.kind === 'at') return null
  const wanted = minIntervalSeconds * SECOND_MS
  const gap = closest(timing, now, wanted + jitterMs)
  const shortest = gap?.ms ?? shortestInterval(timing)
  if (shortest === null || shortest - jitterMs >= wanted) return null
  const seconds = Math.floor((shortest - jitterMs) / SECOND_MS)
  const where = gap === null ? '' : `: ${formatInstant(gap.first)} and ${formatInstant(gap.second)}`
  return breach(
    'min_interval_seconds',
    `Two occurrences would be ${Math.max(0, seconds)} seconds apart, and ${minIntervalSeconds} is the least${where}`,
    { min_interval_seconds: minIntervalSeconds, interval_seconds: Math.max(0, seconds) },
  )
}

interface Gap {
  readonly ms: number
  readonly first: Instant
  readonly second: Instant
}

/** The first two of the coming occurrences that are closer than this; null: there are none. */
function closest(timing: Timing, now: Instant, wanted: number): Gap | null {
  let before = nextOccurrence(timing, now)
  for (let count = 1; count < MAX_LOOKED_AT && before !== null; count += 1) {
    const at = nextOccurrence(timing, before)
    if (at === null || at - now > LOOKED_AT_MS) return null
    if (at - before < wanted) return { ms: at - before, first: before, second: at }
    before = at
  }
  return null
}

/** When everything that somebody made must have ended; null: never. */
export const endOfLife = (
  { maxLifetimeSeconds }: Pick<GuardRails, 'maxLifetimeSeconds'>,
  madeAt: Instant,
): Instant | null => (maxLifetimeSeconds === null ? null : later(madeAt, maxLifetimeSeconds * SECOND_MS))

/** Whether a schedule would live longer than what its maker may make. */
export function judgeLifetime(rails: GuardRails, timing: Timing, madeAt: Instant): RailBreach | null {
  const end = endOfLife(rails, madeAt)
  if (end === null) return null
  const last = timing.kind === 'at' ? timing.at : timing.endsAt
  if (last !== null && last <= end) return null
  const field = timing.kind === 'at' ? 'at' : 'ends_at'
  return breach(
    'max_lifetime_seconds',
    `It would ${last === null ? 'never end' : `go on until ${formatInstant(last)}`}; ${field} may be ${formatInstant(end)} at the latest`,
    { max_lifetime_seconds: rails.maxLifetimeSeconds, latest: formatInstant(end) },
  )
}

/** Whether a schedule has outlived what its maker may make, so that nobody with these rails wakes it. */
export function judgeAge(rails: GuardRails, madeAt: Instant, now: Instant): RailBreach | null {
  const end = endOfLife(rails, madeAt)
  if (end === null || now <= end) return null
  return breach('max_lifetime_seconds', `Its time was over at ${formatInstant(end)}; make a new one if it is needed`, {
    max_lifetime_seconds: rails.maxLifetimeSeconds,
    latest: formatInstant(end),
  })
}
