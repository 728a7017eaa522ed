import type { RuleParts } from '../../../src/domain/time/rrule-text.ts'

const CODES = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const DAY = 86_400_000

const yearOf = (day: number): number => new Date(day).getUTCFullYear()
const startOfYear = (year: number): number => Date.UTC(year, 0, 1)
const monthOf = (day: number): number => yearOf(day) * 12 + new Date(day).getUTCMonth()

/** The Monday, or what WKST says, of the week around a day. */
function weekOf(day: number, weekStart: number): number {
  let start = day
  while (new Date(start).getUTCDay() !== weekStart) start -= DAY
  return start
}

/** The week's number and its year: the year that its fourth day is in. */
function numberedWeek(
  day: number,
  weekStart: number,
): { readonly year: number; readonly front: number; readonly back: number } {
  const start = weekOf(day, weekStart)
  const year = yearOf(start + 3 * DAY)
  let [front, back] = [1, -1]
  for (let other = start - 7 * DAY; yearOf(other + 3 * DAY) === year; other -= 7 * DAY) front += 1
  for (let other = start + 7 * DAY; yearOf(other + 3 * DAY) === year; other += 7 * DAY) back -= 1
  return { year, front, back }
}

/** The days of a daily or coarser rule without BYSETPOS from its start to an end, each looked at by itself, in UTC. */
export function namedDays(parts: RuleParts, start: number, end: number): readonly string[] {
  const first = Math.floor(start / DAY) * DAY
  const days: string[] = []
  for (let day = first; day < end; day += DAY)
    if (isNamed(parts, first, day)) days.push(new Date(day).toISOString().slice(0, 10))
  return days
}

function isNamed(parts: RuleParts, first: number, day: number): boolean {
  const { frequency, interval } = parts
  const items = (name: string): readonly string[] | null =>
    parts.other.get(name)?.replaceAll('+', '').split(',') ?? null
  const weekStart = CODES.indexOf(parts.other.get('WKST') ?? 'MO')
  const names = (name: string, ...values: readonly (number | string)[]): boolean => {
    const list = items(name)
    return list === null || values.some((value) => list.includes(String(value)))
  }
  const date = new Date(day).getUTCDate()
  const length = new Date(Date.UTC(yearOf(day), new Date(day).getUTCMonth() + 1, 0)).getUTCDate()
  const week = numberedWeek(day, weekStart)
  const [yearDay, yearLength] = [
    day - startOfYear(yearOf(day)),
    startOfYear(yearOf(day) + 1) - startOfYear(yearOf(day)),
  ]
  const distance = {
    YEARLY: items('BYWEEKNO') === null ? yearOf(day) - yearOf(first) : week.year - numberedWeek(first, weekStart).year,
    MONTHLY: monthOf(day) - monthOf(first),
    WEEKLY: (weekOf(day, weekStart) - weekOf(first, weekStart)) / (7 * DAY),
    DAILY: (day - first) / DAY,
    ...{ HOURLY: 0, MINUTELY: 0, SECONDLY: 0 },
  }[frequency]
  const inMonth = frequency === 'MONTHLY' || items('BYMONTH') !== null
  const [before, total] = inMonth ? [date - 1, length] : [yearDay / DAY, yearLength / DAY]
  const code = CODES[new Date(day).getUTCDay()] ?? ''
  const [place, placeBack] = [Math.floor(before / 7) + 1, Math.floor((total - before - 1) / 7) + 1]
  const isBare = ['BYMONTHDAY', 'BYYEARDAY', 'BYDAY'].every((name) => items(name) === null)
  const sameWeekday = new Date(day).getUTCDay() === new Date(first).getUTCDay()
  const sameDate = date === new Date(first).getUTCDate()
  const sameMonth = items('BYMONTH') !== null || monthOf(day) % 12 === monthOf(first) % 12
  const byStart = {
    YEARLY: items('BYWEEKNO') === null ? sameDate && sameMonth : sameWeekday,
    ...{ MONTHLY: sameDate, WEEKLY: sameWeekday, DAILY: true, HOURLY: true, MINUTELY: true, SECONDLY: true },
  }[frequency]
  return (
    distance % interval === 0 &&
    names('BYMONTH', (monthOf(day) % 12) + 1) &&
    names('BYMONTHDAY', date, date - length - 1) &&
    names('BYYEARDAY', yearDay / DAY + 1, (yearDay - yearLength) / DAY) &&
    names('BYWEEKNO', week.front, week.back) &&
    names('BYDAY', code, `${place}${code}`, `-${placeBack}${code}`) &&
    (!isBare || byStart)
  )
}
