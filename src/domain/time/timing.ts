import type { Cadence } from '../schedule/pace/settings.ts'
import { earlier, instant, latest, type Instant } from '../instant.ts'
import { countFires, nextFire, previousFire, type CronPlan } from './cron.ts'
import { excludedWithin, exclusionAt, type Exclusion } from './exclusion.ts'
import { countTicks, nextTick, previousTick, type IntervalPlan } from './interval.ts'
import { countByRule, nextByRule, previousByRule, type RecurrenceRule } from './rrule.ts'
import type { Zone } from './zone.ts'

/** The fields that every kind of timing has. */
interface TimingLimits {
  /** The time zone of dates and sentences; for cron and rules also of their wall-clock times. */
  readonly zone: Zone
  /** The first and last possible time of an occurrence; both inclusive. */
  readonly startsAt: Instant | null
  readonly endsAt: Instant | null
  readonly exclude: Exclusion | null
}

export interface AtTiming extends TimingLimits {
  readonly kind: 'at'
  readonly at: Instant
}
export interface EveryTiming extends TimingLimits, IntervalPlan {
  readonly kind: 'every'
  /** Set if the interval adapts to results. `intervalMs` is the initial interval. */
  readonly cadence?: Cadence
}
export interface CronTiming extends TimingLimits, CronPlan {
  readonly kind: 'cron'
}
export interface RuleTiming extends TimingLimits {
  readonly kind: 'rrule'
  readonly rule: RecurrenceRule
}

/** The timing of a schedule: when it has occurrences. */
export type Timing = AtTiming | EveryTiming | CronTiming | RuleTiming

/** The last time with a four-digit year. Later occurrences do not exist. */
const LAST_INSTANT = instant(253_402_300_799_999)

/** The first occurrence after a time, or null if there is none. */
export function nextOccurrence(timing: Timing, after: Instant): Instant | null {
  const end = timing.endsAt ?? LAST_INSTANT
  let from = timing.startsAt === null ? after : latest(after, earlier(timing.startsAt, 1))
  // Each round passes one exclusion, so there are at most as many rounds as exclusions.
  for (;;) {
    const found = nextPlanned(timing, from)
    if (found === null || found > end) return null
    const excluded = timing.exclude === null ? null : exclusionAt(timing.exclude, timing.zone, found)
    if (excluded === null) return found
    from = earlier(excluded.to, 1)
  }
}

/** The last occurrence before a time, or null if there is none. */
export function previousOccurrence(timing: Timing, before: Instant): Instant | null {
  let until = timing.endsAt === null || before <= timing.endsAt ? before : instant(timing.endsAt + 1)
  for (;;) {
    const found = previousPlanned(timing, until)
    if (found === null || (timing.startsAt !== null && found < timing.startsAt)) return null
    const excluded = timing.exclude === null ? null : exclusionAt(timing.exclude, timing.zone, found)
    if (excluded === null) return found
    until = excluded.from
  }
}

/** The occurrences in (after, upTo], oldest first, at most `limit` of them. */
export function occurrencesBetween(
  timing: Timing,
  window: { readonly after: Instant; readonly upTo: Instant; readonly limit: number },
): readonly Instant[] {
  const found: Instant[] = []
  let at = window.limit > 0 ? nextOccurrence(timing, window.after) : null
  while (at !== null && at <= window.upTo) {
    found.push(at)
    at = found.length < window.limit ? nextOccurrence(timing, at) : null
  }
  return found
}

/** The number of occurrences in (after, upTo]. Does not enumerate them, except for complex recurrence rules. */
export function countOccurrences(timing: Timing, window: { readonly after: Instant; readonly upTo: Instant }): number {
  const after = timing.startsAt === null ? window.after : latest(window.after, earlier(timing.startsAt, 1))
  const upTo = Math.min(window.upTo, timing.endsAt ?? LAST_INSTANT, LAST_INSTANT)
  if (after >= upTo) return 0
  const before = instant(upTo + 1)
  const planned = countPlanned(timing, after, before)
  if (timing.exclude === null || planned === 0) return planned
  const excluded = excludedWithin(timing.exclude, timing.zone, { from: after, to: before })
  return excluded.reduce(
    (count, { from, to }) =>
      count - countPlanned(timing, latest(after, earlier(from, 1)), instant(Math.min(before, to))),
    planned,
  )
}

function nextPlanned(timing: Timing, after: Instant): Instant | null {
  switch (timing.kind) {
    case 'at':
      return timing.at > after ? timing.at : null
    case 'every':
      return nextTick(timing, after)
    case 'cron':
      return nextFire(timing, after)
    case 'rrule':
      return nextByRule(timing.rule, after)
  }
}

function previousPlanned(timing: Timing, before: Instant): Instant | null {
  switch (timing.kind) {
    case 'at':
      return timing.at < before ? timing.at : null
    case 'every':
      return previousTick(timing, before)
    case 'cron':
      return previousFire(timing, before)
    case 'rrule':
      return previousByRule(timing.rule, before)
  }
}

function countPlanned(timing: Timing, after: Instant, before: Instant): number {
  switch (timing.kind) {
    case 'at':
      return after < timing.at && timing.at < before ? 1 : 0
    case 'every':
      return countTicks(timing, after, before)
    case 'cron':
      return countFires(timing, after, before)
    case 'rrule':
      return countByRule(timing.rule, after, before)
  }
}
