import { durationMs, instant, type DurationMs, type Instant } from '../instant.ts'
import { DAY_SECONDS, MONTH_COUNT, monthStart } from './calendar.ts'
import { nextFire, previousFire, type CronPlan } from './cron.ts'
import { firstTime, highestBit, lastTime, lowestBit, matchingDays, nextTime } from './cron-match.ts'
import { nextByRule, type RecurrenceRule } from './rrule.ts'
import type { Timing } from './timing.ts'
import { transitionsBetween } from './wall-clock.ts'

/**
 * The shortest time between two occurrences; null if there are never two. Exclusions and limits can only make it longer
 * and are ignored. Exact for `every`. For cron, exact in wall-clock time over all years, plus every clock change of the
 * sample years. For a rule, the shortest among its first 1,000 occurrences within 20 years.
 */
export function shortestInterval(timing: Timing): DurationMs | null {
  switch (timing.kind) {
    case 'at':
      return null
    case 'every':
      return timing.cadence === undefined ? timing.intervalMs : durationMs(timing.cadence.minSeconds * 1000)
    case 'cron':
      return shortestOfCron(timing)
    case 'rrule':
      return shortestOfRule(timing.rule)
  }
}

/** The years in which clock changes are checked. 20 years cover every weekday for each DST rule. */
const SAMPLE_WINDOW = { after: instant(Date.UTC(2020, 0, 1)), upTo: instant(Date.UTC(2040, 0, 1)) }

function shortestOfCron(plan: CronPlan): DurationMs | null {
  const wall = shortestInWallTime(plan)
  if (wall === Infinity) return null
  let shortest = wall * 1000
  for (const change of transitionsBetween(plan.zone, SAMPLE_WINDOW)) {
    if (shortest <= 1000) break
    const start = instant(change.start * 1000)
    // With `shift`, shifted and direct occurrences can interleave after a gap; otherwise only the change itself
    // matters.
    const end = plan.dst === 'shift' ? start + (change.offset - change.offsetBefore) * 1000 : start
    let before = previousFire(plan, start)
    let at: Instant | null = nextFire(plan, before ?? instant(start - 1))
    while (at !== null && shortest > 1000) {
      if (before !== null) shortest = Math.min(shortest, at - before)
      if (at > end) break
      before = at
      at = nextFire(plan, at)
    }
  }
  return durationMs(shortest)
}

/** In seconds: between two times of one day, or from the last time of a day to the first of the next matching day. */
function shortestInWallTime(plan: CronPlan): number {
  let shortest = Infinity
  let time = firstTime(plan.expression)
  const last = lastTime(plan.expression)
  while (time < last && shortest > 1) {
    const next = nextTime(plan.expression, time + 1)
    shortest = Math.min(shortest, next - time)
    time = next
  }
  const overnight = minDaysBetween(plan) * DAY_SECONDS - last + firstTime(plan.expression)
  return Math.min(shortest, overnight)
}

function minDaysBetween(plan: CronPlan): number {
  let nearest = Infinity
  let before = -Infinity
  for (let month = 0; month < MONTH_COUNT && nearest > 1; month += 1) {
    let days = matchingDays(plan.expression.days, plan.dayMatch === 'and', month)
    while (days !== 0) {
      const day = monthStart(month) + lowestBit(days)
      nearest = Math.min(nearest, day - before)
      before = day
      if (days === 1 << highestBit(days)) break
      days &= days - 1
    }
  }
  return nearest
}

/** The maximum number of occurrences and years of a rule that are checked. */
const MAX_SAMPLES = 1_000
const SAMPLE_MS = 20 * 366 * DAY_SECONDS * 1_000

function shortestOfRule(rule: RecurrenceRule): DurationMs | null {
  let [before, shortest]: [Instant | null, number] = [nextByRule(rule, instant(rule.start - 1)), Infinity]
  const end = (before ?? 0) + SAMPLE_MS
  for (let count = 1; before !== null && shortest > 1_000 && count < MAX_SAMPLES; count += 1) {
    const at = nextByRule(rule, before)
    if (at !== null) shortest = Math.min(shortest, at - before)
    before = at !== null && at < end ? at : null
  }
  return shortest === Infinity ? null : durationMs(shortest)
}
