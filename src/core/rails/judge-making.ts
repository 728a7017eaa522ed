import type { ScheduleId } from '../../domain/ids.ts'
import { DAY_MS, formatInstant, HOUR_MS, type Instant, later, SECOND_MS } from '../../domain/instant.ts'
import { shortestInterval } from '../../domain/time/shortest-interval.ts'
import { nextOccurrence, type Timing } from '../../domain/time/timing.ts'
import { breach, type RailBreach, tooSoon } from './breach.ts'
import type { GuardRails } from './guard-rails.ts'
import { type Railed, schedulesAbove } from './railed.ts'

/** Chains of runs that wake runs are no longer than this. */
const DEEPEST = 3

/** Whether there is room for one more schedule. */
export function judgeCount({ maxSchedules }: GuardRails, has: number): RailBreach | null {
  if (has < maxSchedules) return null
  return breach('max_schedules', `It may have ${maxSchedules} schedules and has ${has}; delete one it does not need`, {
    ...{ max_schedules: maxSchedules, schedules: has },
  })
}

/** What somebody has done in the last hour that counts. */
export interface LastHour {
  readonly count: number
  /** When the first of them was; null: there was none. */
  readonly oldest: Instant | null
}

/** Whether somebody may do so many things more in this hour. */
export function judgeRate(
  { maxRunsPerHour }: GuardRails,
  { done, more }: { readonly done: LastHour; readonly more: number },
  now: Instant,
): RailBreach | null {
  if (done.count + more <= maxRunsPerHour) return null
  return tooSoon(
    'max_runs_per_hour',
    `It may ask for ${maxRunsPerHour} things an hour, and has asked for ${done.count}`,
    {
      retryAfterMs: done.oldest === null ? HOUR_MS : done.oldest + HOUR_MS - now,
      facts: { max_runs_per_hour: maxRunsPerHour, last_hour: done.count },
    },
  )
}

/** Whether a run of a schedule may be asked for again so soon; `last` is when it was asked for before. */
export function judgeWaking({ minIntervalSeconds }: GuardRails, last: Instant | null, now: Instant): RailBreach | null {
  const wait = last === null ? 0 : last + minIntervalSeconds * SECOND_MS - now
  if (wait <= 0) return null
  return tooSoon(
    'min_interval_seconds',
    `A run of it was asked for ${Math.floor((now - (last ?? now)) / SECOND_MS)} seconds ago, and ${minIntervalSeconds} seconds must be between two`,
    { retryAfterMs: wait, facts: { min_interval_seconds: minIntervalSeconds } },
  )
}

/** Whether a moment is too close to another one at which something of the same owner happens, which is none or the nearest. */
export function judgeMoment(
  { minIntervalSeconds }: GuardRails,
  moment: Instant,
  nearest: Instant | null,
): RailBreach | null {
  const gap = nearest === null ? Infinity : Math.abs(moment - nearest)
  if (gap >= minIntervalSeconds * SECOND_MS) return null
  return breach(
    'min_interval_seconds',
    `Another run of the same owner is ${Math.floor(gap / SECOND_MS)} seconds away, and ${minIntervalSeconds} seconds must be between two`,
    { min_interval_seconds: minIntervalSeconds, interval_seconds: Math.floor(gap / SECOND_MS) },
  )
}

/** Whether an attempt may make something at all, after as many runs that woke one another. */
export function judgeDepth({ attempt }: Railed): RailBreach | null {
  const depth = attempt === null ? 0 : (attempt.lineage?.depth ?? 0) + 1
  if (depth <= DEEPEST) return null
  return {
    ...{ code: 'LINEAGE_DEPTH', rail: 'lineage', retryAfterMs: null, facts: { depth, deepest: DEEPEST } },
    message: `This run is the last of ${depth} that woke one another; what it makes would be one too many`,
  }
}

/** Whether an attempt would wake what it comes from. */
export function judgeLoop({ attempt }: Railed, id: ScheduleId): RailBreach | null {
  if (attempt === null || !schedulesAbove(attempt).includes(id)) return null
  return {
    ...{ code: 'LINEAGE_LOOP', rail: 'lineage', retryAfterMs: null, facts: { schedule_id: id } },
    message: `This run comes from schedule ${id}, and would wake what it comes from`,
  }
}

/** So many coming occurrences are looked at, and no further than twenty years: each year of a zone is looked up. */
const MAX_LOOKED_AT = 1_000
const LOOKED_AT_MS = 20 * 366 * DAY_MS

/** When a schedule would fire. */
interface JudgedTiming {
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
