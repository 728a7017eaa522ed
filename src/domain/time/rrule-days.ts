import { civilFromDay, dayFromCivil, LAST_YEAR, monthLength, weekdayOf } from './calendar.ts'
import type { RuleParts } from './rrule-text.ts'

/**
 * The days on which a rule can have occurrences. Each month is worked out as bits, so that a century is looked through
 * in a millisecond and the answer is the same from wherever the search begins.
 */
export interface RuleDays {
  /** The first such day at or after a day; Infinity if there is none. */
  readonly next: (day: number) => number
  /** The last such day at or before a day; -Infinity if there is none since the start. */
  readonly previous: (day: number) => number
  /** The days of the day, week, month or year that BYSETPOS counts in, both inclusive. */
  readonly periodOf: (day: number) => { readonly first: number; readonly last: number }
}

/** Parts that name days, read once. Numbers from the end of a month or year are negative. */
interface DaySpec {
  readonly parts: RuleParts
  readonly startDay: number
  readonly weekStart: number
  readonly months: ReadonlySet<number> | null
  readonly monthDays: ReadonlySet<number> | null
  readonly yearDays: ReadonlySet<number> | null
  /** Whether a day is in a week that BYWEEKNO names. */
  readonly weeks: ((day: number) => boolean) | null
  /** Every Monday and the like: 0 is Sunday. */
  readonly weekdays: ReadonlySet<number> | null
  /** The second Monday of the month or year and the like: seven times the place and the weekday. */
  readonly places: ReadonlySet<number> | null
}

const CODES = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** A clock ahead of UTC shows the first day of the year after the last one. */
const LAST_MONTH = (LAST_YEAR + 1) * 12

const modulo = (value: number, by: number): number => ((value % by) + by) % by

export function daysOf(parts: RuleParts, startDay: number): RuleDays {
  const spec = readSpec(parts, startDay)
  const firstMonth = monthAt(startDay)
  // Questions come in order, so the last month that was worked out is nearly always the one that is asked for.
  let known = { month: Number.NaN, first: Number.NaN, last: Number.NaN, bits: 0 }
  const monthAround = (day: number): number => (day >= known.first && day <= known.last ? known.month : monthAt(day))
  const bitsOf = (month: number, first: number): number => {
    if (known.month !== month)
      known = { month, first, last: firstDay(month + 1) - 1, bits: matchingDays(spec, month, first) }
    return known.bits
  }
  // That there is none left takes the longest to find out, and stays true.
  let [noneFrom, noneUpTo] = [Infinity, -Infinity]
  return {
    next: (day) => {
      if (day >= noneFrom) return Infinity
      for (let month = Math.max(firstMonth, monthAround(day)); month <= LAST_MONTH; month += 1) {
        const first = month === known.month ? known.first : firstDay(month)
        const bits = day <= first ? bitsOf(month, first) : bitsOf(month, first) & (-1 << (day - first))
        if (bits !== 0) return first + 31 - Math.clz32(bits & -bits)
      }
      noneFrom = day
      return Infinity
    },
    previous: (day) => {
      if (day <= noneUpTo) return -Infinity
      for (let month = Math.min(LAST_MONTH, monthAround(day)); month >= firstMonth; month -= 1) {
        const first = month === known.month ? known.first : firstDay(month)
        const bits = day - first >= 30 ? bitsOf(month, first) : bitsOf(month, first) & ((2 << (day - first)) - 1)
        if (bits !== 0) return first + 31 - Math.clz32(bits)
      }
      noneUpTo = day
      return -Infinity
    },
    periodOf: (day) => periodAround(spec, day),
  }
}

/** Months are counted through all years, so that the next one is one more. */
function monthAt(day: number): number {
  const { year, month } = civilFromDay(day)
  return year * 12 + month - 1
}

const firstDay = (month: number): number =>
  dayFromCivil({ year: Math.floor(month / 12), month: modulo(month, 12) + 1, day: 1 })

function readSpec(parts: RuleParts, startDay: number): DaySpec {
  const { frequency, other } = parts
  const items = (name: string): readonly string[] | null => other.get(name)?.replaceAll('+', '').split(',') ?? null
  const numbers = (name: string): ReadonlySet<number> | null => setOf(items(name)?.map(Number))
  const start = civilFromDay(startDay)
  const weekStart = CODES.indexOf(other.get('WKST') ?? 'MO')
  const weeks = numbers('BYWEEKNO')
  const named = ['BYMONTHDAY', 'BYYEARDAY', 'BYDAY'].some((name) => other.has(name))
  // What no part names is the start's: its weekday in a week, its date in a month or year.
  const byWeekday = !named && (frequency === 'WEEKLY' || weeks !== null)
  const byDate = !named && !byWeekday && (frequency === 'MONTHLY' || frequency === 'YEARLY')
  const [plain, placed] = [(item: string) => item.length === 2, (item: string) => item.length > 2]
  return {
    parts,
    startDay,
    weekStart,
    months: numbers('BYMONTH') ?? (byDate && frequency === 'YEARLY' ? new Set([start.month]) : null),
    monthDays: byDate ? new Set([start.day]) : numbers('BYMONTHDAY'),
    yearDays: numbers('BYYEARDAY'),
    weeks: weeks === null ? null : weekMatcher({ parts, startDay, weekStart }, weeks),
    weekdays: byWeekday ? new Set([weekdayOf(startDay)]) : setOf(items('BYDAY')?.filter(plain).map(weekdayNamed)),
    places: setOf(
      items('BYDAY')
        ?.filter(placed)
        .map((item) => Number(item.slice(0, -2)) * 7 + weekdayNamed(item.slice(-2))),
    ),
  }
}

const weekdayNamed = (code: string): number => CODES.indexOf(code)

const setOf = (numbers: readonly number[] | undefined): ReadonlySet<number> | null =>
  numbers === undefined ? null : new Set(numbers)

/** The days of a month as bits, the first as the lowest. */
function matchingDays(spec: DaySpec, month: number, first: number): number {
  const [year, number] = [Math.floor(month / 12), modulo(month, 12) + 1]
  if (spec.months !== null && !spec.months.has(number)) return 0
  const { frequency, interval } = spec.parts
  if (frequency === 'MONTHLY' && modulo(month - monthAt(spec.startDay), interval) !== 0) return 0
  if (frequency === 'YEARLY' && spec.weeks === null && modulo(year - yearAt(spec.startDay), interval) !== 0) return 0
  const place = {
    year,
    first,
    length: monthLength(year, number),
    weekday: weekdayOf(first),
    yearFirst: yearStart(year),
    yearEnd: yearStart(year + 1),
  }
  let bits = 0
  for (let index = 0; index < place.length; index += 1) if (matches(spec, place, index)) bits |= 1 << index
  return bits
}

const yearAt = (day: number): number => civilFromDay(day).year
const yearStart = (year: number): number => dayFromCivil({ year, month: 1, day: 1 })

/** A month: its first day and its length, and the first days of its year and of the next. */
interface MonthPlace {
  readonly year: number
  readonly first: number
  readonly length: number
  /** The weekday of its first day. */
  readonly weekday: number
  readonly yearFirst: number
  readonly yearEnd: number
}

function matches(spec: DaySpec, place: MonthPlace, index: number): boolean {
  const day = place.first + index
  return (
    (spec.monthDays === null || spec.monthDays.has(index + 1) || spec.monthDays.has(index - place.length)) &&
    (spec.weekdays === null || matchesWeekday(spec, place, index)) &&
    (spec.yearDays === null ||
      spec.yearDays.has(day - place.yearFirst + 1) ||
      spec.yearDays.has(day - place.yearEnd)) &&
    (spec.weeks === null || spec.weeks(day)) &&
    isInPeriod(spec, day)
  )
}

/** Whether the day or week is one of those that INTERVAL names; months and years are looked at before. */
function isInPeriod({ parts, startDay, weekStart }: DaySpec, day: number): boolean {
  if (parts.interval === 1) return true
  if (parts.frequency === 'DAILY') return modulo(day - startDay, parts.interval) === 0
  if (parts.frequency !== 'WEEKLY') return true
  return modulo((startOfWeek(day, weekStart) - startOfWeek(startDay, weekStart)) / 7, parts.interval) === 0
}

function matchesWeekday({ parts, weekdays, places, months }: DaySpec, place: MonthPlace, index: number): boolean {
  const weekday = (place.weekday + index) % 7
  if (weekdays?.has(weekday) === true) return true
  if (places === null || places.size === 0) return false
  const isInMonth = parts.frequency === 'MONTHLY' || months !== null
  const before = isInMonth ? index : place.first + index - place.yearFirst
  const length = isInMonth ? place.length : place.yearEnd - place.yearFirst
  const [front, back] = [Math.floor(before / 7) + 1, -Math.floor((length - before - 1) / 7) - 1]
  return places.has(front * 7 + weekday) || places.has(back * 7 + weekday)
}

const startOfWeek = (day: number, weekStart: number): number => day - modulo(weekdayOf(day) - weekStart, 7)

/** The first day of the first week, which is the one that has most of its days in the year. */
const firstWeek = (year: number, weekStart: number): number => startOfWeek(yearStart(year) + 3, weekStart)

/** The year that a day's week belongs to: the days around New Year may belong to the other one. */
function weekYear(day: number, weekStart: number): number {
  const year = yearAt(day)
  if (day < firstWeek(year, weekStart)) return year - 1
  return day < firstWeek(year + 1, weekStart) ? year : year + 1
}

/** Which weeks of which years; the year of the last day is kept, because a year is asked for day by day. */
function weekMatcher(spec: Pick<DaySpec, 'parts' | 'startDay' | 'weekStart'>, weeks: ReadonlySet<number>) {
  const { parts, startDay, weekStart } = spec
  const startYear = weekYear(startDay, weekStart)
  let known = { first: Infinity, end: -Infinity, isNamed: false }
  return (day: number): boolean => {
    if (day < known.first || day >= known.end) {
      const year = weekYear(day, weekStart)
      const isNamed = modulo(year - startYear, parts.interval) === 0
      known = { first: firstWeek(year, weekStart), end: firstWeek(year + 1, weekStart), isNamed }
    }
    if (!known.isNamed) return false
    return weeks.has(Math.floor((day - known.first) / 7) + 1) || weeks.has(Math.floor((day - known.end) / 7))
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
      return { first: firstDay(monthAt(day)), last: firstDay(monthAt(day) + 1) - 1 }
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
