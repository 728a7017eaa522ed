import type { Flaw } from '../input.ts'
import type { Frequency, RuleParts } from './rrule-text.ts'

/**
 * What a rule costs to evaluate, told from its text alone. The library makes every time that a period of the rule can
 * hold before it answers one question, so the size of a period bounds the work of an answer.
 */

/** Times in one period where the library has a quick way: about 2 µs each, as many as a day has minutes. */
export const MAX_TIMES_PER_PERIOD = 1_440

/** Times in one period where it makes them one by one: about 45 µs each, as many as a year has days. */
export const MAX_TIMES_ONE_BY_ONE = 366

/** COUNT is turned into an end once, which goes through the occurrences unless the rule is plain. */
export const MAX_COUNT_ONE_BY_ONE = 1_000

export interface RuleWork {
  /** The most times that one period can hold. */
  readonly times: number
  readonly limit: number
}

const itemsOf = ({ other }: RuleParts, name: string): readonly string[] => [
  ...new Set(other.get(name)?.split(',') ?? []),
]
const has = ({ other }: RuleParts, ...names: readonly string[]): boolean => names.some((name) => other.has(name))

/** At least one: a part that is not given takes its value from the start. */
const size = (parts: RuleParts, name: string): number => Math.max(1, itemsOf(parts, name).length)

export function workOf(parts: RuleParts): RuleWork {
  return {
    times: Math.max(1, daysInPeriod(parts)) * timesInDay(parts),
    limit: isOneByOne(parts) ? MAX_TIMES_ONE_BY_ONE : MAX_TIMES_PER_PERIOD,
  }
}

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
  // The library adds up what BYYEARDAY and BYWEEKNO name; dates and weekdays it takes together.
  const sets = [
    has(parts, 'BYYEARDAY') ? size(parts, 'BYYEARDAY') : 0,
    has(parts, 'BYWEEKNO') ? size(parts, 'BYWEEKNO') * size(parts, 'BYDAY') : 0,
    ...(has(parts, 'BYMONTHDAY') ? [byDay.length > 0 ? Math.max(byDate, byWeekday) : byDate] : [byWeekday]),
  ]
  const named = sets.reduce((sum, days) => sum + days, 0)
  // Without any of them the day is the start's, in each month that is named.
  return Math.min(most, named > 0 ? named : frequency === 'YEARLY' ? size(parts, 'BYMONTH') : 1)
}

/** Whether the library makes the times of a period one by one, found by reading and measuring it. */
function isOneByOne(parts: RuleParts): boolean {
  if (has(parts, 'BYSETPOS', 'BYYEARDAY', 'BYWEEKNO')) return true
  switch (parts.frequency) {
    case 'YEARLY':
      return !has(parts, 'BYDAY', 'BYMONTHDAY') || (/\d/.test(parts.other.get('BYDAY') ?? '') && !has(parts, 'BYMONTH'))
    case 'MONTHLY':
      return !has(parts, 'BYDAY', 'BYMONTHDAY')
    case 'WEEKLY':
    case 'DAILY':
      return has(parts, 'BYMONTH', 'BYMONTHDAY')
    case 'HOURLY':
    case 'MINUTELY':
    case 'SECONDLY':
      return false
  }
}

const DAILY_OR_LONGER: Readonly<Partial<Record<Frequency, true>>> = {
  YEARLY: true,
  MONTHLY: true,
  WEEKLY: true,
  DAILY: true,
}

const UNITS: Readonly<Record<Frequency, string>> = {
  ...{ YEARLY: 'year', MONTHLY: 'month', WEEKLY: 'week', DAILY: 'day' },
  ...{ HOURLY: 'hour', MINUTELY: 'minute', SECONDLY: 'second' },
}

/** Why a rule is not evaluated, or null for one that is. */
export function tooMuchWork(parts: RuleParts): Pick<Flaw, 'message' | 'allowed'> | null {
  const { times, limit } = workOf(parts)
  const unit = UNITS[parts.frequency]
  if (times > limit)
    return {
      message: `is too dense: it names up to ${times} times in one ${unit}, and ${limit} can be evaluated`,
      allowed: `at most ${limit} times per ${unit}; say the rest with a finer FREQ such as MINUTELY, or with cron`,
    }
  if (has(parts, 'BYYEARDAY') && DAILY_OR_LONGER[parts.frequency] === undefined)
    return {
      message: `has BYYEARDAY in a rule for every ${unit}, which takes too long to search`,
      allowed: 'BYMONTH and BYMONTHDAY, or FREQ=YEARLY',
    }
  const counted = parts.count ?? 0
  if (counted > MAX_COUNT_ONE_BY_ONE && !isPlain(parts))
    return {
      message: `has a COUNT of ${counted}, and its occurrences can only be counted one by one`,
      allowed: `a COUNT of 1 to ${MAX_COUNT_ONE_BY_ONE}, or UNTIL`,
    }
  return null
}

/** Rules whose occurrences are counted by arithmetic, all but at changes of the clock. */
export function isPlain(parts: RuleParts): boolean {
  const { frequency, interval, other } = parts
  const lists = [...other.keys()].filter((name) => name.startsWith('BY'))
  if (frequency === 'DAILY' || frequency === 'WEEKLY')
    return lists.every((name) => ['BYDAY', 'BYHOUR', 'BYMINUTE', 'BYSECOND'].includes(name))
  if (frequency === 'MONTHLY' && has(parts, 'BYDAY', 'BYMONTHDAY'))
    return lists.every((name) => ['BYDAY', 'BYMONTHDAY', 'BYHOUR', 'BYMINUTE', 'BYSECOND'].includes(name))
  // Minutes and seconds with filters are a cron expression, see rule-clock.ts.
  const isFine = frequency === 'MINUTELY' || frequency === 'SECONDLY'
  return (
    (lists.length === 0 && frequency !== 'MONTHLY') ||
    (isFine && interval === 1 && !has(parts, 'BYYEARDAY', 'BYSETPOS'))
  )
}

/**
 * Periods that are looked at for one answer, so that finding out that there is none stays cheap too. Each number reaches
 * further than lies between two 29ths of February; where a fine period cannot match, the library jumps.
 */
export function periodsSearched(parts: RuleParts): number {
  const onDays = has(parts, 'BYMONTH', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYDAY')
  switch (parts.frequency) {
    case 'YEARLY':
      return Math.max(40, Math.min(230, Math.floor(4_000 / workOf(parts).times)))
    case 'MONTHLY':
      return isOneByOne(parts) || (has(parts, 'BYMONTHDAY') && has(parts, 'BYDAY')) ? 500 : 2_760
    case 'WEEKLY':
      return isOneByOne(parts) ? 1_000 : 12_000
    case 'DAILY':
      return isOneByOne(parts) ? 4_000 : 10_000
    case 'HOURLY':
    case 'MINUTELY':
    case 'SECONDLY':
      return onDays ? 1_000 : 10_000
  }
}

/** So many occurrences show how close two of them come: a thousand, or where each is dear about two periods of them. */
export const samplesOf = (parts: RuleParts): number =>
  isPlain(parts) ? 1_000 : Math.min(400, Math.max(50, 2 * workOf(parts).times))

/**
 * False for a rule for days that no month has, and for one of which a BYSETPOS asks for more than a period can hold: of ten
 * hours of a day the eleventh. The library would look through centuries for it.
 */
export function canCome(parts: RuleParts): boolean {
  const positions = parts.other.get('BYSETPOS')?.split(',') ?? ['1']
  const { times } = workOf(parts)
  return hasDay(parts) && positions.some((position) => Math.abs(Number(position)) <= times)
}

const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function hasDay(parts: RuleParts): boolean {
  if (!has(parts, 'BYMONTH') || !has(parts, 'BYMONTHDAY') || has(parts, 'BYYEARDAY', 'BYWEEKNO')) return true
  const longest = Math.max(...itemsOf(parts, 'BYMONTH').map((month) => LONGEST_MONTHS[Number(month) - 1] ?? 31))
  return itemsOf(parts, 'BYMONTHDAY').some((day) => Math.abs(Number(day)) <= longest)
}

/**
 * Where many BY parts let little through, asking for the next costs the library up to a hundred times as much as going
 * through them all. Of plain rules the opposite holds.
 */
export function isQuickToWalk({ frequency, other }: RuleParts): boolean {
  const lists = [...other].filter(([name]) => name.startsWith('BY'))
  const items = lists.reduce((sum, [, list]) => sum + list.split(',').length, 0)
  const isCoarse = frequency === 'DAILY' || frequency === 'WEEKLY' || frequency === 'MONTHLY'
  return items > (isCoarse ? MAX_PLAIN : 0)
}

/** So many days, hours and the like are quickly looked through for each question. */
const MAX_PLAIN = 4
