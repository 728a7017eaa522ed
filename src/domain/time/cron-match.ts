import { DAY_COUNT, DAY_SECONDS, MONTH_COUNT, monthOfDay, monthStart, weekdayOf } from './calendar.ts'
import { type CronExpression, type DayRule, LAST_OF_MONTH, LAST_WEEKDAY, type SixtyBits } from './cron-expression.ts'

/** Whether a day must match either or both of the day fields if both are restricted. */
export type DayMatch = 'or' | 'and'

export const DAY_MATCHES: readonly DayMatch[] = ['or', 'and']

/** The matching days of a month as a bit mask; bit 0 is the 1st. `month` is counted from January 1970. */
export function matchingDays(rule: DayRule, matchBoth: boolean, month: number): number {
  const year = Math.floor(month / 12)
  if (((rule.months >>> (month - year * 12)) & 1) === 0) return 0
  if (rule.years !== null && rule.years[year] === 0) return 0
  const start = monthStart(month)
  const length = monthStart(month + 1) - start
  const existing = -1 >>> (32 - length)
  if (rule.anyDayOfMonth && rule.anyDayOfWeek) return existing
  const first = weekdayOf(start)
  if (rule.anyDayOfWeek) return daysByDate(rule, first, length) & existing
  if (rule.anyDayOfMonth) return daysByWeekday(rule, first, length) & existing
  const byDate = daysByDate(rule, first, length)
  const byWeekday = daysByWeekday(rule, first, length)
  return (matchBoth || rule.bothDays ? byDate & byWeekday : byDate | byWeekday) & existing
}

function daysByDate(rule: DayRule, first: number, length: number): number {
  let days = rule.daysOfMonth
  if (rule.daysBeforeLast !== 0) {
    for (let before = 0; before < length; before += 1)
      if (((rule.daysBeforeLast >>> before) & 1) !== 0) days |= 1 << (length - 1 - before)
  }
  if (rule.nearestWeekday === 0) return days
  return rule.nearestWeekday === LAST_WEEKDAY
    ? 1 << nearestWeekday(length, first, length)
    : rule.nearestWeekday > length
      ? 0
      : 1 << nearestWeekday(rule.nearestWeekday, first, length)
}

/** The Monday-to-Friday day of the same month that is nearest to a date, counted from 0. */
function nearestWeekday(date: number, first: number, length: number): number {
  const index = date - 1
  const weekday = (first + index) % 7
  if (weekday === 6) return index === 0 ? 2 : index - 1
  if (weekday === 0) return index === length - 1 ? index - 2 : index + 1
  return index
}

/** The day masks of a 31-day month, for each first weekday and each set of weekdays. */
const WEEKDAY_TABLE = Int32Array.from({ length: 7 * 128 }, (_, index) => {
  const [first, wanted] = [Math.floor(index / 128), index % 128]
  let days = 0
  for (let day = 0; day < 31; day += 1) if (((wanted >>> ((first + day) % 7)) & 1) !== 0) days |= 1 << day
  return days
})

const daysOfWeekdays = (weekdays: number, first: number): number => WEEKDAY_TABLE[first * 128 + weekdays] ?? 0

function daysByWeekday(rule: DayRule, first: number, length: number): number {
  let days = daysOfWeekdays(rule.weekdays, first)
  if (rule.nthWeekdays === null) return days
  for (let ordinal = 0; ordinal < LAST_OF_MONTH; ordinal += 1) {
    const week = ordinal === 4 ? 0b111 << 28 : 0b111_1111 << (ordinal * 7)
    days |= daysOfWeekdays(rule.nthWeekdays[ordinal] ?? 0, first) & week
  }
  const lastWeek = 0b111_1111 << (length - 7)
  return days | (daysOfWeekdays(rule.nthWeekdays[LAST_OF_MONTH] ?? 0, first) & lastWeek)
}

/** The first month at or after `month` with a matching day, or -1. */
export function nextMonth(rule: DayRule, matchBoth: boolean, month: number): number {
  for (let index = month; index < MONTH_COUNT; index += 1) if (matchingDays(rule, matchBoth, index) !== 0) return index
  return -1
}

/** The last month at or before `month` with a matching day, or -1. */
export function previousMonth(rule: DayRule, matchBoth: boolean, month: number): number {
  for (let index = month; index >= 0; index -= 1) if (matchingDays(rule, matchBoth, index) !== 0) return index
  return -1
}

export const lowestBit = (mask: number): number => 31 - Math.clz32(mask & -mask)
export const highestBit = (mask: number): number => 31 - Math.clz32(mask)

export function bitCount(mask: number): number {
  let rest = mask - ((mask >>> 1) & 0x5555_5555)
  rest = (rest & 0x3333_3333) + ((rest >>> 2) & 0x3333_3333)
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

const firstOfSixty = (bits: SixtyBits): number => (bits.low !== 0 ? lowestBit(bits.low) : 30 + lowestBit(bits.high))
const lastOfSixty = (bits: SixtyBits): number => (bits.high !== 0 ? 30 + highestBit(bits.high) : highestBit(bits.low))

/** The smallest value at or above `from` (0-60), or -1. */
function nextOfSixty(bits: SixtyBits, from: number): number {
  if (from < 30) {
    const low = bits.low & (-1 << from)
    if (low !== 0) return lowestBit(low)
    return bits.high === 0 ? -1 : 30 + lowestBit(bits.high)
  }
  const high = from >= 60 ? 0 : bits.high & (-1 << (from - 30))
  return high === 0 ? -1 : 30 + lowestBit(high)
}

/** The largest value at or below `from` (-1 to 59), or -1. */
function previousOfSixty(bits: SixtyBits, from: number): number {
  if (from >= 30) {
    const high = bits.high & ~(-2 << (from - 30))
    if (high !== 0) return 30 + highestBit(high)
    return bits.low === 0 ? -1 : highestBit(bits.low)
  }
  const low = from < 0 ? 0 : bits.low & ~(-2 << from)
  return low === 0 ? -1 : highestBit(low)
}

/** The number of values below `end` (0-60). */
const countOfSixty = (bits: SixtyBits, end: number): number =>
  end <= 30
    ? bitCount(bits.low & ~(-1 << end))
    : bitCount(bits.low) + (end >= 60 ? bitCount(bits.high) : bitCount(bits.high & ~(-1 << (end - 30))))

/** The first matching second of a day. */
export const firstTime = (cron: CronExpression): number =>
  lowestBit(cron.hour) * 3600 + firstOfSixty(cron.minute) * 60 + firstOfSixty(cron.second)

/** The last matching second of a day. */
export const lastTime = (cron: CronExpression): number =>
  highestBit(cron.hour) * 3600 + lastOfSixty(cron.minute) * 60 + lastOfSixty(cron.second)

/** The first matching second of a day at or after `time`, or -1. */
export function nextTime(cron: CronExpression, time: number): number {
  const hour = Math.floor(time / 3600)
  if (((cron.hour >>> hour) & 1) !== 0) {
    const minute = Math.floor(time / 60) % 60
    if (nextOfSixty(cron.minute, minute) === minute) {
      const second = nextOfSixty(cron.second, time % 60)
      if (second >= 0) return hour * 3600 + minute * 60 + second
    }
    const later = nextOfSixty(cron.minute, minute + 1)
    if (later >= 0) return hour * 3600 + later * 60 + firstOfSixty(cron.second)
  }
  const hours = cron.hour & (-2 << hour)
  return hours === 0 ? -1 : lowestBit(hours) * 3600 + firstOfSixty(cron.minute) * 60 + firstOfSixty(cron.second)
}

/** The last matching second of a day at or before `time`, or -1. */
export function previousTime(cron: CronExpression, time: number): number {
  const hour = Math.floor(time / 3600)
  if (((cron.hour >>> hour) & 1) !== 0) {
    const minute = Math.floor(time / 60) % 60
    if (nextOfSixty(cron.minute, minute) === minute) {
      const second = previousOfSixty(cron.second, time % 60)
      if (second >= 0) return hour * 3600 + minute * 60 + second
    }
    const before = previousOfSixty(cron.minute, minute - 1)
    if (before >= 0) return hour * 3600 + before * 60 + lastOfSixty(cron.second)
  }
  const hours = cron.hour & ~(-1 << hour)
  return hours === 0 ? -1 : highestBit(hours) * 3600 + lastOfSixty(cron.minute) * 60 + lastOfSixty(cron.second)
}

/** The number of matching seconds of a day before `time`. */
export function countTimes(cron: CronExpression, time: number): number {
  const hour = Math.floor(time / 3600)
  const perMinute = countOfSixty(cron.second, 60)
  const perHour = perMinute * countOfSixty(cron.minute, 60)
  const hours = hour >= 24 ? cron.hour : cron.hour & ~(-1 << hour)
  const whole = bitCount(hours) * perHour
  if (((cron.hour >>> hour) & 1) === 0 || hour >= 24) return whole
  const minute = Math.floor(time / 60) % 60
  const minutes = countOfSixty(cron.minute, minute) * perMinute
  const rest = nextOfSixty(cron.minute, minute) === minute ? countOfSixty(cron.second, time % 60) : 0
  return whole + minutes + rest
}

/**
 * The search in wall-clock time, without time zones. Times are seconds since 1970-01-01 00:00, for the years 1970 to
 * 2199. Arguments and results are plain numbers so that the search allocates no objects.
 */

/** Returned if no wall-clock time in the supported years matches. */
export const NO_MATCH = -1

const END_OF_YEARS = DAY_COUNT * DAY_SECONDS

/** The first match at or after `from`. `both`: a day must match both day fields if both are restricted. */
export function nextLocal(cron: CronExpression, matchBoth: boolean, from: number): number {
  const start = from < 0 ? 0 : from
  if (start >= END_OF_YEARS) return NO_MATCH
  const day = Math.floor(start / DAY_SECONDS)
  let month = monthOfDay(day)
  let days = matchingDays(cron.days, matchBoth, month)
  const index = day - monthStart(month)
  if (((days >>> index) & 1) !== 0) {
    const time = nextTime(cron, start - day * DAY_SECONDS)
    if (time >= 0) return day * DAY_SECONDS + time
  }
  days &= -2 << index
  if (days === 0) {
    month = nextMonth(cron.days, matchBoth, month + 1)
    if (month < 0) return NO_MATCH
    days = matchingDays(cron.days, matchBoth, month)
  }
  return (monthStart(month) + lowestBit(days)) * DAY_SECONDS + firstTime(cron)
}

/** The last match at or before `from`. */
export function previousLocal(cron: CronExpression, matchBoth: boolean, from: number): number {
  if (from < 0) return NO_MATCH
  const start = from < END_OF_YEARS ? from : END_OF_YEARS - 1
  const day = Math.floor(start / DAY_SECONDS)
  let month = monthOfDay(day)
  let days = matchingDays(cron.days, matchBoth, month)
  const index = day - monthStart(month)
  if (((days >>> index) & 1) !== 0) {
    const time = previousTime(cron, start - day * DAY_SECONDS)
    if (time >= 0) return day * DAY_SECONDS + time
  }
  days &= ~(-1 << index)
  if (days === 0) {
    month = previousMonth(cron.days, matchBoth, month - 1)
    if (month < 0) return NO_MATCH
    days = matchingDays(cron.days, matchBoth, month)
  }
  return (monthStart(month) + highestBit(days)) * DAY_SECONDS + lastTime(cron)
}

/** The number of matches from the start of the month of `end` to `end` (exclusive). Counts whole days at once. */
function countBefore(cron: CronExpression, matchBoth: boolean, end: number): number {
  const day = Math.floor(end / DAY_SECONDS)
  const month = monthOfDay(day)
  const days = matchingDays(cron.days, matchBoth, month)
  const index = day - monthStart(month)
  const today = ((days >>> index) & 1) === 0 ? 0 : countTimes(cron, end - day * DAY_SECONDS)
  return bitCount(days & ~(-1 << index)) * countTimes(cron, DAY_SECONDS) + today
}

/** The number of matches from `from` (inclusive) to `to` (exclusive). */
export function countLocal(
  cron: CronExpression,
  matchBoth: boolean,
  span: { readonly from: number; readonly to: number },
): number {
  const from = Math.max(0, span.from)
  const to = Math.min(END_OF_YEARS, span.to)
  if (from >= to) return 0
  const perDay = countTimes(cron, DAY_SECONDS)
  const lastMonth = to === END_OF_YEARS ? monthOfDay(DAY_COUNT - 1) + 1 : monthOfDay(Math.floor(to / DAY_SECONDS))
  let wholeDays = 0
  for (let month = monthOfDay(Math.floor(from / DAY_SECONDS)); month < lastMonth; month += 1)
    wholeDays += bitCount(matchingDays(cron.days, matchBoth, month))
  const tail = to === END_OF_YEARS ? 0 : countBefore(cron, matchBoth, to)
  return wholeDays * perDay + tail - countBefore(cron, matchBoth, from)
}
