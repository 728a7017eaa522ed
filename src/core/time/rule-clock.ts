import { instant, latest, type Instant } from '../instant.ts'
import { countFires, nextFire, previousFire, type CronPlan } from './cron.ts'
import { parseCron } from './cron-grammar.ts'
import type { RuleParts } from './rrule-text.ts'
import { localOf } from './wall-clock.ts'
import type { Zone } from './zone.ts'

/**
 * Rules for every minute or second that some lists let through. All their BY parts only filter, so what they mean is what
 * a cron expression with the same lists means that fires in both passes of a repeated hour; and cron is looked up and
 * counted by arithmetic, where the library would go through what the lists leave out. A test compares the two.
 */
export interface RuleClock {
  readonly next: (after: Instant) => Instant | null
  readonly previous: (before: Instant) => Instant | null
  /** Strictly between two instants. */
  readonly count: (after: Instant, before: Instant) => number
}

/** When a rule begins and ends, both inclusive. */
export interface RuleSpan {
  readonly start: Instant
  readonly end: Instant
  readonly zone: Zone
}

const FILTERS = ['BYSECOND', 'BYMINUTE', 'BYHOUR', 'BYMONTH', 'BYMONTHDAY', 'BYDAY']
const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** Null for a rule that says more than a cron expression can. */
export function clockOf(parts: RuleParts, { start, end, zone }: RuleSpan): RuleClock | null {
  const plan = start < 0 ? null : planOf(parts, zone, start)
  if (plan === null) return null
  const first = instant(start - 1)
  return {
    next: (after) => {
      const found = nextFire(plan, latest(after, first))
      return found === null || found > end ? null : found
    },
    previous: (before) => {
      const found = previousFire(plan, instant(Math.min(before, end + 1)))
      return found === null || found < start ? null : found
    },
    count: (after, before) => countFires(plan, latest(after, first), instant(Math.min(before, end + 1))),
  }
}

function planOf({ frequency, interval, other }: RuleParts, zone: Zone, start: Instant): CronPlan | null {
  const lists = [...other.keys()].filter((name) => name.startsWith('BY'))
  const isFilter = lists.length > 0 && lists.every((name) => FILTERS.includes(name))
  const isFine = frequency === 'MINUTELY' || frequency === 'SECONDLY'
  if (!isFine || interval !== 1 || !isFilter || /-/.test(other.get('BYMONTHDAY') ?? '')) return null
  const list = (name: string, usual = '*'): string => other.get(name) ?? usual
  const second = list('BYSECOND', frequency === 'MINUTELY' ? String(localOf(zone, start) % 60) : '*')
  const weekdays = list('BYDAY')
    .split(',')
    .map((day) => (day === '*' ? day : WEEKDAYS.indexOf(day)))
  const days = `${list('BYMONTHDAY').replaceAll('+', '')} ${list('BYMONTH')} ${weekdays.join(',')}`
  const expression = parseCron('rrule', `${second} ${list('BYMINUTE')} ${list('BYHOUR')} ${days}`)
  return expression.ok ? { expression: expression.value, zone, dst: 'both', dayMatch: 'and' } : null
}

/** The last of so many occurrences from the start on, or null if there is none. */
export function lastOnClock(clock: RuleClock, { start, end }: RuleSpan, count: number): Instant | null {
  const before = instant(start - 1)
  const isEnough = (at: number): boolean => clock.count(before, instant(at + 1)) >= count
  let step = 3_600_000
  while (start + step < end && !isEnough(start + step)) step *= 2
  let [low, high] = [start - 1, Math.min(end, start + step)] as [number, number]
  if (!isEnough(high)) return clock.previous(instant(high + 1))
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (isEnough(middle)) high = middle
    else low = middle
  }
  return instant(high)
}
