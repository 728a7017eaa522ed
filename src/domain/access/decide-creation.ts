import type { ScheduleId } from '../ids.ts'
import { DAY_MS, formatInstant, HOUR_MS, type Instant, later, SECOND_MS } from '../instant.ts'
import { shortestInterval } from '../time/shortest-interval.ts'
import { nextOccurrence, type Timing } from '../time/timing.ts'
import {
  breach,
  type Restrictions,
  type RestrictionBreach,
  type RestrictedKey,
  schedulesAbove,
  rateBreach,
} from './restrictions.ts'

/** The maximum lineage depth: how many runs may be above a run. */
const MAX_LINEAGE_DEPTH = 3

/** Checks whether the key may create one more schedule. */
export function checkCount({ maxSchedules }: Restrictions, has: number): RestrictionBreach | null {
  if (has < maxSchedules) return null
  return breach(
    'max_schedules',
    `This key may have at most ${maxSchedules} schedules and has ${has}; delete one that is no longer needed`,
    {
      ...{ max_schedules: maxSchedules, schedules: has },
    },
  )
}

/** The rate-limited actions of an owner in the last hour. */
export interface LastHour {
  readonly count: number
  /** The time of the oldest one; null when there is none. */
  readonly oldest: Instant | null
}

/** Checks whether the owner may perform `more` further rate-limited actions this hour. */
export function checkRate(
  { maxRunsPerHour }: Restrictions,
  { done, more }: { readonly done: LastHour; readonly more: number },
  now: Instant,
): RestrictionBreach | null {
  if (done.count + more <= maxRunsPerHour) return null
  return rateBreach(
    'max_runs_per_hour',
    `This key may make ${maxRunsPerHour} requests per hour and has made ${done.count}`,
    {
      retryAfterMs: done.oldest === null ? HOUR_MS : done.oldest + HOUR_MS - now,
      facts: { max_runs_per_hour: maxRunsPerHour, last_hour: done.count },
    },
  )
}

/** Checks whether a run of a schedule may be requested again already; `last` is the time of the previous request. */
export function checkRunInterval(
  { minIntervalSeconds }: Restrictions,
  last: Instant | null,
  now: Instant,
): RestrictionBreach | null {
  const wait = last === null ? 0 : last + minIntervalSeconds * SECOND_MS - now
  if (wait <= 0) return null
  return rateBreach(
    'min_interval_seconds',
    `A run of this schedule was requested ${Math.floor((now - (last ?? now)) / SECOND_MS)} s ago; requests must be at least ${minIntervalSeconds} s apart`,
    { retryAfterMs: wait, facts: { min_interval_seconds: minIntervalSeconds } },
  )
}

/**
 * Checks whether a time is too close to the nearest other run of the same owner; `nearest` is null when there is
 * none.
 */
export function checkSpacing(
  { minIntervalSeconds }: Restrictions,
  time: Instant,
  nearest: Instant | null,
): RestrictionBreach | null {
  const gap = nearest === null ? Infinity : Math.abs(time - nearest)
  if (gap >= minIntervalSeconds * SECOND_MS) return null
  return breach(
    'min_interval_seconds',
    `Another run of the same owner is ${Math.floor(gap / SECOND_MS)} s away; runs must be at least ${minIntervalSeconds} s apart`,
    { min_interval_seconds: minIntervalSeconds, interval_seconds: Math.floor(gap / SECOND_MS) },
  )
}

/** Checks how deep the chain of runs above an attempt is before the attempt creates anything. */
export function checkDepth({ attempt }: RestrictedKey): RestrictionBreach | null {
  const depth = attempt === null ? 0 : (attempt.lineage?.depth ?? 0) + 1
  if (depth <= MAX_LINEAGE_DEPTH) return null
  return {
    ...{
      code: 'LINEAGE_DEPTH',
      restriction: 'lineage',
      retryAfterMs: null,
      facts: { depth, deepest: MAX_LINEAGE_DEPTH },
    },
    message: `This run is number ${depth} in a chain of runs that started one another, which is the maximum; this run cannot create or start anything`,
  }
}

/** Checks whether an attempt would start a schedule that it descends from. */
export function checkLoop({ attempt }: RestrictedKey, id: ScheduleId): RestrictionBreach | null {
  if (attempt === null || !schedulesAbove(attempt).includes(id)) return null
  return {
    ...{ code: 'LINEAGE_LOOP', restriction: 'lineage', retryAfterMs: null, facts: { schedule_id: id } },
    message: `This run descends from schedule ${id} and cannot start it again`,
  }
}

/** The check stops after this many occurrences or 20 years, because each year of a zone has to be looked up. */
const MAX_CHECKED_OCCURRENCES = 1_000
const MAX_CHECKED_MS = 20 * 366 * DAY_MS

/** The timing of a schedule whose intervals are checked. */
interface CheckedTiming {
  readonly timing: Timing
  /** The maximum shift of each occurrence; two occurrences can come closer by this much. */
  readonly jitterMs: number
}

/**
 * Checks whether occurrences come too close to each other: among the next 1,000, and by the shortest interval the
 * rule ever has, because a rule can be slow this year and fast the next.
 */
export function checkInterval(
  { minIntervalSeconds }: Pick<Restrictions, 'minIntervalSeconds'>,
  { timing, jitterMs }: CheckedTiming,
  now: Instant,
): RestrictionBreach | null {
  if (timing.kind === 'at') return null
  const wanted = minIntervalSeconds * SECOND_MS
  const gap = firstGapBelow(timing, now, wanted + jitterMs)
  const shortest = gap?.ms ?? shortestInterval(timing)
  if (shortest === null || shortest - jitterMs >= wanted) return null
  const seconds = Math.floor((shortest - jitterMs) / SECOND_MS)
  const where = gap === null ? '' : `: ${formatInstant(gap.first)} and ${formatInstant(gap.second)}`
  return breach(
    'min_interval_seconds',
    `Two occurrences would be ${Math.max(0, seconds)} s apart; the minimum is ${minIntervalSeconds} s${where}`,
    { min_interval_seconds: minIntervalSeconds, interval_seconds: Math.max(0, seconds) },
  )
}

interface Gap {
  readonly ms: number
  readonly first: Instant
  readonly second: Instant
}

/** The first two upcoming occurrences that are closer than `wanted` ms; null when there are none. */
function firstGapBelow(timing: Timing, now: Instant, wanted: number): Gap | null {
  let before = nextOccurrence(timing, now)
  for (let count = 1; count < MAX_CHECKED_OCCURRENCES && before !== null; count += 1) {
    const at = nextOccurrence(timing, before)
    if (at === null || at - now > MAX_CHECKED_MS) return null
    if (at - before < wanted) return { ms: at - before, first: before, second: at }
    before = at
  }
  return null
}

/** The time by which everything that an owner created must have ended; null: never. */
export const endOfLife = (
  { maxLifetimeSeconds }: Pick<Restrictions, 'maxLifetimeSeconds'>,
  createdAt: Instant,
): Instant | null => (maxLifetimeSeconds === null ? null : later(createdAt, maxLifetimeSeconds * SECOND_MS))

/** Checks whether a schedule would run past the end of its owner's maximum lifetime. */
export function checkLifetime(
  restrictions: Restrictions,
  timing: Timing,
  createdAt: Instant,
): RestrictionBreach | null {
  const end = endOfLife(restrictions, createdAt)
  if (end === null) return null
  const last = timing.kind === 'at' ? timing.at : timing.endsAt
  if (last !== null && last <= end) return null
  const field = timing.kind === 'at' ? 'at' : 'ends_at'
  return breach(
    'max_lifetime_seconds',
    `The schedule would ${last === null ? 'never end' : `run until ${formatInstant(last)}`}; set ${field} to ${formatInstant(end)} or earlier`,
    { max_lifetime_seconds: restrictions.maxLifetimeSeconds, latest: formatInstant(end) },
  )
}

/** Checks whether a schedule is past its maximum lifetime, so that a restricted key may no longer start it. */
export function checkAge(restrictions: Restrictions, createdAt: Instant, now: Instant): RestrictionBreach | null {
  const end = endOfLife(restrictions, createdAt)
  if (end === null || now <= end) return null
  return breach(
    'max_lifetime_seconds',
    `The maximum lifetime of the schedule ended at ${formatInstant(end)}; create a new one if it is still needed`,
    {
      max_lifetime_seconds: restrictions.maxLifetimeSeconds,
      latest: formatInstant(end),
    },
  )
}
