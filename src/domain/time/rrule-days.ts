import { civilFromDay, dayFromCivil, LAST_YEAR, monthLength, weekdayOf } from './calendar.ts'
import type { RuleParts } from './rrule-text.ts'

/**
 * The days on which a rule can have occurrences. Each month is computed as a bit mask, so that a century is searched in
 * about a millisecond and the result does not depend on where the search starts.
 */
export interface RuleDays {
  /** The first such day at or after a day; Infinity if there is none. */
  readonly next: (day: number) => number
  /** The last such day at or before a day; -Infinity if there is none since the start. */
  readonly previous: (day: number) => number
  /** The period (day, week, month or year) that BYSETPOS counts in; both ends inclusive. */
  readonly periodOf: (day: number) => { readonly first: number; readonly last: number }
}

/** The parsed parts that select days. Numbers counted from the end of a month or year are negative. */
interface DaySpec {
  readonly parts: RuleParts
  readonly startDay: number
  readonly weekStart: number
  readonly months: ReadonlySet<number> | null
  readonly monthDays: ReadonlySet<number> | null
  readonly yearDays: ReadonlySet<number> | null
  /** Whether a day is in a week of BYWEEKNO. */
  readonly weeks: ((day: number) => boolean) | null
  /** BYDAY without a number, such as MO; 0 is Sunday. */
  readonly weekdays: ReadonlySet<number> | null
  /** BYDAY with a number, such as 2MO, encoded as 7 times the number plus the weekday. */
  readonly numberedWeekdays: ReadonlySet<number> | null
}

const WEEKDAY_CODES = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** Includes January after the last year, because zones ahead of UTC reach it before UTC does. */
const LAST_MONTH = (LAST_YEAR + 1) * 12

const modulo = (value: number, by: number): number => ((value % by) + by) % by

export function daysOf(parts: RuleParts, startDay: number): RuleDays {
  const spec = readSpec(parts, startDay)
  const firstMonth = monthAt(startDay)
  // Lookups come in order, so the last computed month is nearly always the one that is needed.
  let cached = { month: Number.NaN, first: Number.NaN, last: Number.NaN, bits: 0 }
  const monthAround = (day: number): number => (day >= cached.first && day <= cached.last ? cached.month : monthAt(day))
  const bitsOf = (month: number, first: number): number => {
    if (cached.month !== month)
      cached = { month, first, last: firstDayOfMonth(month + 1) - 1, bits: matchingDaysInMonth(spec, month, first) }
    return cached.bits
  }
  // Finding that no day is left takes longest, so that result is kept.
  let [noneFrom, noneUpTo] = [Infinity, -Infinity]
  return {
    next: (day) => {
      if (day >= noneFrom) return Infinity
      for (let month = Math.max(firstMonth, monthAround(day)); month <= LAST_MONTH; month += 1) {
        const first = month === cached.month ? cached.first : firstDayOfMonth(month)
        const bits = day <= first ? bitsOf(month, first) : bitsOf(month, first) & (-1 << (day - first))
        if (bits !== 0) return first + 31 - Math.clz32(bits & -bits)
      }
      noneFrom = day
      return Infinity
    },
    previous: (day) => {
      if (day <= noneUpTo) return -Infinity
      for (let month = Math.min(LAST_MONTH, monthAround(day)); month >= firstMonth; month -= 1) {
        const first = month === cached.month ? cached.first : firstDayOfMonth(month)
        const bits = day - first >= 30 ? bitsOf(month, first) : bitsOf(month, first) & ((2 << (day - first)) - 1)
        if (bits !== 0) return first + 31 - Math.clz32(bits)
      }
      noneUpTo = day
      return -Infinity
    },
    periodOf: (day) => periodAround(spec, day),
  }
}

/** The number of the month, counted across years (12 per year). */
function monthAt(day: number): number {
  const { year, month } = civilFromDay(day)
  return year * 12 + month - 1
}

const firstDayOfMonth = (month: number): number =>
  dayFromCivil({ year: Math.floor(month / 12), month: modulo(month, 12) + 1, day: 1 })

function readSpec(parts: RuleParts, startDay: number): DaySpec {
  const { frequency, other } = parts
  const items = (name: string): readonly string[] | null => other.get(name)?.replaceAll('+', '').split(',') ?? null
  const numbers = (name: string): ReadonlySet<number> | null => toSet(items(name)?.map(Number))
  const start = civilFromDay(startDay)
  const weekStart = WEEKDAY_CODES.indexOf(other.get('WKST') ?? 'MO')
  const weeks = numbers('BYWEEKNO')
  const hasDayPart = ['BYMONTHDAY', 'BYYEARDAY', 'BYDAY'].some((name) => other.has(name))
  // A rule without day parts uses the weekday of its start (weekly) or the date of its start (monthly, yearly).
  const byWeekday = !hasDayPart && (frequency === 'WEEKLY' || weeks !== null)
  const byDate = !hasDayPart && !byWeekday && (frequency === 'MONTHLY' || frequency === 'YEARLY')
  const [isPlain, isNumbered] = [(item: string) => item.length === 2, (item: string) => item.length > 2]
  return {
    parts,
    startDay,
    weekStart,
    months: numbers('BYMONTH') ?? (byDate && frequency === 'YEARLY' ? new Set([start.month]) : null),
    monthDays: byDate ? new Set([start.day]) : numbers('BYMONTHDAY'),
    yearDays: numbers('BYYEARDAY'),
    weeks: weeks === null ? null : weekMatcher({ parts, startDay, weekStart }, weeks),
    weekdays: byWeekday ? new Set([weekdayOf(startDay)]) : toSet(items('BYDAY')?.filter(isPlain).map(weekdayOfCode)),
    numberedWeekdays: toSet(
      items('BYDAY')
        ?.filter(isNumbered)
        .map((item) => Number(item.slice(0, -2)) * 7 + weekdayOfCode(item.slice(-2))),
    ),
  }
}

const weekdayOfCode = (code: string): number => WEEKDAY_CODES.indexOf(code)

const toSet = (numbers: readonly number[] | undefined): ReadonlySet<number> | null =>
  numbers === undefined ? null : new Set(numbers)

/** The matching days of a month as a bit mask; bit 0 is the 1st. */
function matchingDaysInMonth(spec: DaySpec, month: number, first: number): number {
  const [year, number] = [Math.floor(month / 12), modulo(month, 12) + 1]
  if (spec.months !== null && !spec.months.has(number)) return 0
  const { frequency, interval } = spec.parts
  if (frequency === 'MONTHLY' && modulo(month - monthAt(spec.startDay), interval) !== 0) return 0
  if (frequency === 'YEARLY' && spec.weeks === null && modulo(year - yearAt(spec.startDay), interval) !== 0) return 0
  const monthInfo = {
    year,
    first,
    length: monthLength(year, number),
    weekday: weekdayOf(first),
    yearFirst: yearStart(year),
    yearEnd: yearStart(year + 1),
  }
  let bits = 0
  for (let index = 0; index < monthInfo.length; index += 1) if (matches(spec, monthInfo, index)) bits |= 1 << index
  return bits
}

const yearAt = (day: number): number => civilFromDay(day).year
const yearStart = (year: number): number => dayFromCivil({ year, month: 1, day: 1 })

/** A month: its first day and length, and the first days of its year and of the next year. */
interface MonthInfo {
  readonly year: number
  readonly first: number
  readonly length: number
  /** The weekday of its first day. */
  readonly weekday: number
  readonly yearFirst: number
  readonly yearEnd: number
}

function matches(spec: DaySpec, monthInfo: MonthInfo, index: number): boolean {
  const day = monthInfo.first + index
  return (
    (spec.monthDays === null || spec.monthDays.has(index + 1) || spec.monthDays.has(index - monthInfo.length)) &&
    (spec.weekdays === null || matchesWeekday(spec, monthInfo, index)) &&
    (spec.yearDays === null ||
      spec.yearDays.has(day - monthInfo.yearFirst + 1) ||
      spec.yearDays.has(day - monthInfo.yearEnd)) &&
    (spec.weeks === null || spec.weeks(day)) &&
    isInPeriod(spec, day)
  )
}

/** Whether INTERVAL includes the day or week. Months and years are checked in `matchingDays`. */
function isInPeriod({ parts, startDay, weekStart }: DaySpec, day: number): boolean {
  if (parts.interval === 1) return true
  if (parts.frequency === 'DAILY') return modulo(day - startDay, parts.interval) === 0
  if (parts.frequency !== 'WEEKLY') return true
  return modulo((startOfWeek(day, weekStart) - startOfWeek(startDay, weekStart)) / 7, parts.interval) === 0
}

function matchesWeekday(
  { parts, weekdays, numberedWeekdays, months }: DaySpec,
  monthInfo: MonthInfo,
  index: number,
): boolean {
  const weekday = (monthInfo.weekday + index) % 7
  if (weekdays?.has(weekday) === true) return true
  if (numberedWeekdays === null || numberedWeekdays.size === 0) return false
  const isInMonth = parts.frequency === 'MONTHLY' || months !== null
  const before = isInMonth ? index : monthInfo.first + index - monthInfo.yearFirst
  const length = isInMonth ? monthInfo.length : monthInfo.yearEnd - monthInfo.yearFirst
  const [front, back] = [Math.floor(before / 7) + 1, -Math.floor((length - before - 1) / 7) - 1]
  return numberedWeekdays.has(front * 7 + weekday) || numberedWeekdays.has(back * 7 + weekday)
}

const startOfWeek = (day: number, weekStart: number): number => day - modulo(weekdayOf(day) - weekStart, 7)

/** The first day of week 1, which is the first week with at least four days in the year. */
const firstWeek = (year: number, weekStart: number): number => startOfWeek(yearStart(year) + 3, weekStart)

/** The year that the week of a day belongs to; around New Year it can differ from the calendar year. */
function weekYear(day: number, weekStart: number): number {
  const year = yearAt(day)
  if (day < firstWeek(year, weekStart)) return year - 1
  return day < firstWeek(year + 1, weekStart) ? year : year + 1
}

/** Creates a check for BYWEEKNO and INTERVAL. It caches the year of the last day, because days are checked in order. */
function weekMatcher(spec: Pick<DaySpec, 'parts' | 'startDay' | 'weekStart'>, weeks: ReadonlySet<number>) {
  const { parts, startDay, weekStart } = spec
  const startYear = weekYear(startDay, weekStart)
  let cached = { first: Infinity, end: -Infinity, isNamed: false }
  return (day: number): boolean => {
    if (day < cached.first || day >= cached.end) {
      const year = weekYear(day, weekStart)
      const isNamed = modulo(year - startYear, parts.interval) === 0
      cached = { first: firstWeek(year, weekStart), end: firstWeek(year + 1, weekStart), isNamed }
    }
    if (!cached.isNamed) return false
    return weeks.has(Math.floor((day - cached.first) / 7) + 1) || weeks.has(Math.floor((day - cached.end) / 7))
  }
}

function periodAround(spec: DaySpec, day: number): { readonly first: number; readonly last: number } {
  switch (spec.parts.frequency) {
    case 'YEARLY': {
      if (spec.weeks === null) return { first: yearStart(yearAt(day)), last: yearStart(yearAt(day) + 1) - 1 }
      const year = weekYear(day, spec.weekStart)
      return { first: firstWeek(year, spec.weekStart), last: firstWeek(year + 1, spec.weekStart) - 1 }
    }
    case 'MONTHLY':
      return { first: firstDayOfMonth(monthAt(day)), last: firstDayOfMonth(monthAt(day) + 1) - 1 }
    case 'WEEKLY': {
      const first = startOfWeek(day, spec.weekStart)
      return { first, last: first + 6 }
    }
    case 'DAILY':
    case 'HOURLY':
    case 'MINUTELY':
    case 'SECONDLY':
      return { first: day, last: day }
  }
}
