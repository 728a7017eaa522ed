import type { Flaw } from '../input.ts'
import type { Frequency, RuleParts } from './rrule-text.ts'

/**
 * How many times a rule names in one period, told from its text alone. Its lists are kept as tables, and BYSETPOS goes
 * through all times of a period in which the clock changes; so this bounds what one answer can cost.
 */

/** As many as a day has minutes. */
export const MAX_TIMES_PER_PERIOD = 1_440

const itemsOf = ({ other }: RuleParts, name: string): readonly string[] => [
  ...new Set(other.get(name)?.split(',') ?? []),
]
const has = ({ other }: RuleParts, ...names: readonly string[]): boolean => names.some((name) => other.has(name))

/** At least one: a part that is not given takes its value from the start. */
const size = (parts: RuleParts, name: string): number => Math.max(1, itemsOf(parts, name).length)

/** The most times that one period can hold. */
export const timesInPeriod = (parts: RuleParts): number => Math.max(1, daysInPeriod(parts)) * timesInDay(parts)

/** Parts that only filter what a finer FREQ has anyway add nothing to a period. */
function timesInDay(parts: RuleParts): number {
  switch (parts.frequency) {
    case 'SECONDLY':
      return 1
    case 'MINUTELY':
      return size(parts, 'BYSECOND')
    case 'HOURLY':
      return size(parts, 'BYMINUTE') * size(parts, 'BYSECOND')
    case 'DAILY':
    case 'WEEKLY':
    case 'MONTHLY':
    case 'YEARLY':
      return size(parts, 'BYHOUR') * size(parts, 'BYMINUTE') * size(parts, 'BYSECOND')
  }
}

const DAYS: Readonly<Partial<Record<Frequency, number>>> = { YEARLY: 366, MONTHLY: 31, WEEKLY: 7 }

function daysInPeriod(parts: RuleParts): number {
  const { frequency } = parts
  const most = DAYS[frequency] ?? 1
  if (most === 1) return 1
  if (frequency === 'WEEKLY') return size(parts, 'BYDAY')
  const months = frequency === 'MONTHLY' ? 1 : has(parts, 'BYMONTH') ? size(parts, 'BYMONTH') : 12
  const byDay = itemsOf(parts, 'BYDAY')
  const numbered = byDay.filter((item) => item.length > 2).length
  const weekdays = byDay.length - numbered
  const places = frequency === 'YEARLY' && !has(parts, 'BYMONTH') ? 1 : months
  const byWeekday = Math.min(weekdays * 5 * months, weekdays * 53) + numbered * places
  const byDate = size(parts, 'BYMONTHDAY') * months
  // A bound, not a count: days that several parts name are added up.
  const sets = [
    has(parts, 'BYYEARDAY') ? size(parts, 'BYYEARDAY') : 0,
    has(parts, 'BYWEEKNO') ? size(parts, 'BYWEEKNO') * size(parts, 'BYDAY') : 0,
    ...(has(parts, 'BYMONTHDAY') ? [byDay.length > 0 ? Math.max(byDate, byWeekday) : byDate] : [byWeekday]),
  ]
  const named = sets.reduce((sum, days) => sum + days, 0)
  // Without any of them the day is the start's, in each month that is named.
  return Math.min(most, named > 0 ? named : frequency === 'YEARLY' ? size(parts, 'BYMONTH') : 1)
}

const UNITS: Readonly<Record<Frequency, string>> = {
  ...{ YEARLY: 'year', MONTHLY: 'month', WEEKLY: 'week', DAILY: 'day' },
  ...{ HOURLY: 'hour', MINUTELY: 'minute', SECONDLY: 'second' },
}

/** Why a rule is not evaluated, or null for one that is. */
export function tooMuchWork(parts: RuleParts): Pick<Flaw, 'message' | 'allowed'> | null {
  const times = timesInPeriod(parts)
  const unit = UNITS[parts.frequency]
  if (times <= MAX_TIMES_PER_PERIOD) return null
  return {
    message: `is too dense: it names up to ${times} times in one ${unit}, and ${MAX_TIMES_PER_PERIOD} can be evaluated`,
    allowed: `at most ${MAX_TIMES_PER_PERIOD} times per ${unit}; say the rest with a finer FREQ such as MINUTELY, or with cron`,
  }
}
