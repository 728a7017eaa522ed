import { durationMs, instant, type DurationMs, type Instant } from '../instant.ts'
import { DAY_SECONDS, MONTH_COUNT, monthStart } from './calendar.ts'
import { nextFire, previousFire, type CronPlan } from '../../core/time/cron.ts'
import { firstTime, highestBit, lastTime, lowestBit, matchingDays, nextTime } from './cron-match.ts'
import { nextByRule, type RecurrenceRule } from '../../core/time/rrule.ts'
import type { Timing } from './timing.ts'
import { transitionsBetween } from './wall-clock.ts'

/**
 * The shortest time between two occurrences, or null if there are never two. Exclusions and limits only make it longer
 * and are not looked at. Exact for `every`; for cron exact on the wall clock over all years and tried out at every
 * clock change of the sample years; for a rule the shortest among its first thousand, within twenty years.
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

/** Long enough for every rule of summer time to meet every weekday. */
const SAMPLE = { after: instant(Date.UTC(2020, 0, 1)), upTo: instant(Date.UTC(2040, 0, 1)) }

function shortestOfCron(plan: CronPlan): DurationMs | null {
  const wall = shortestOnTheWall(plan)
  if (wall === Infinity) return null
  let shortest = wall * 1000
  for (const change of transitionsBetween(plan.zone, SAMPLE)) {
    if (shortest <= 1000) break
    const start = instant(change.start * 1000)
    // Only `shift` weaves two series of fires into each other; otherwise nothing but the change itself is out of step.
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

/** In seconds: between two times of one day, or from the last one of a day to the first one of the next that matches. */
function shortestOnTheWall(plan: CronPlan): number {
  let shortest = Infinity
  let time = firstTime(plan.expression)
  const last = lastTime(plan.expression)
  while (time < last && shortest > 1) {
    const next = nextTime(plan.expression, time + 1)
    shortest = Math.min(shortest, next - time)
    time = next
  }
  const overnight = nearestDays(plan) * DAY_SECONDS - last + firstTime(plan.expression)
  return Math.min(shortest, overnight)
}

function nearestDays(plan: CronPlan): number {
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

/** So many occurrences of a rule are looked at, and no further than this many years. */
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
