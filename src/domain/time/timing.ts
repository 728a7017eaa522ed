import type { Cadence } from '../schedule/pace/settings.ts'
import { earlier, instant, latest, type Instant } from '../instant.ts'
import { countFires, nextFire, previousFire, type CronPlan } from '../../core/time/cron.ts'
import { excludedWithin, exclusionAround, type Exclusion } from './exclusion.ts'
import { countTicks, nextTick, previousTick, type IntervalPlan } from './interval.ts'
import { countByRule, nextByRule, previousByRule, type RecurrenceRule } from '../../core/time/rrule.ts'
import type { Zone } from '../../core/time/zone.ts'

/** What every kind of timing has. */
interface Limits {
  /** In which dates are read and sentences are told; for cron and rules also where the wall clock hangs. */
  readonly zone: Zone
  /** The first and the last moment at which an occurrence may be, both inclusive. */
  readonly startsAt: Instant | null
  readonly endsAt: Instant | null
  readonly exclude: Exclusion | null
}

export interface AtTiming extends Limits {
  readonly kind: 'at'
  readonly at: Instant
}
export interface EveryTiming extends Limits, IntervalPlan {
  readonly kind: 'every'
  /** Set when the interval moves by itself; the plan here is the one it starts with. */
  readonly cadence?: Cadence
}
export interface CronTiming extends Limits, CronPlan {
  readonly kind: 'cron'
}
export interface RuleTiming extends Limits {
  readonly kind: 'rrule'
  readonly rule: RecurrenceRule
}

/** When a schedule has its occurrences. */
export type Timing = AtTiming | EveryTiming | CronTiming | RuleTiming

/** The last moment that prints with a year of four digits; whatever would come later never does. */
const LAST_INSTANT = instant(253_402_300_799_999)

/** The first occurrence after an instant, or null if there is none left. */
export function nextOccurrence(timing: Timing, after: Instant): Instant | null {
  const end = timing.endsAt ?? LAST_INSTANT
  let from = timing.startsAt === null ? after : latest(after, earlier(timing.startsAt, 1))
  // Each round leaves one excluded stretch behind for good, so there are no more rounds than exclusions.
  for (;;) {
    const found = nextPlanned(timing, from)
    if (found === null || found > end) return null
    const excluded = timing.exclude === null ? null : exclusionAround(timing.exclude, timing.zone, found)
    if (excluded === null) return found
    from = earlier(excluded.to, 1)
  }
}

/** The last occurrence before an instant, or null if there was none. */
export function previousOccurrence(timing: Timing, before: Instant): Instant | null {
  let until = timing.endsAt === null || before <= timing.endsAt ? before : instant(timing.endsAt + 1)
  for (;;) {
    const found = previousPlanned(timing, until)
    if (found === null || (timing.startsAt !== null && found < timing.startsAt)) return null
    const excluded = timing.exclude === null ? null : exclusionAround(timing.exclude, timing.zone, found)
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

/** How many occurrences are in (after, upTo]. Does not walk through them, except for the less simple rules. */
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
