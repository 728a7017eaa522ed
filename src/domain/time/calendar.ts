/**
 * Calendar dates as integers: days are counted from 1970-01-01 and months from January 1970. The search for occurrences
 * then needs only additions and table lookups and allocates no objects.
 */
export const FIRST_YEAR = 1970
export const LAST_YEAR = 2199
export const DAY_SECONDS = 86_400

/** Number of months in the years that a cron expression can name. */
export const MONTH_COUNT = (LAST_YEAR - FIRST_YEAR + 1) * 12

export interface CivilDate {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** Days from 1970-01-01 to a Gregorian date. Computed per era of 400 years, because all eras are identical. */
export function dayFromCivil(date: CivilDate): number {
  const year = date.month <= 2 ? date.year - 1 : date.year
  const era = Math.floor(year / 400)
  const yearOfEra = year - era * 400
  const monthFromMarch = (date.month + 9) % 12
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + date.day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

export function civilFromDay(day: number): CivilDate {
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  }
}

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

export function monthLength(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** 0 is Sunday. 1970-01-01 was a Thursday. */
export const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7

const MONTH_STARTS = Int32Array.from({ length: MONTH_COUNT + 1 }, (_, index) =>
  dayFromCivil({ year: FIRST_YEAR + Math.floor(index / 12), month: (index % 12) + 1, day: 1 }),
)

/** The first day of a month counted from January 1970. The month after the last supported one is valid too. */
export const monthStart = (month: number): number => MONTH_STARTS[month] ?? 0

/** The number of days that cron expressions cover: the first day after the last year. */
export const DAY_COUNT = monthStart(MONTH_COUNT)

/** The month, counted from January 1970, of a day in [0, DAY_COUNT). */
export function monthOfDay(day: number): number {
  // Dividing by the mean month length is off by at most two days, so the guess is off by at most one month.
  const guess = Math.floor(day / 30.436875)
  if (monthStart(guess) > day) return guess - 1
  return monthStart(guess + 1) <= day ? guess + 1 : guess
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0')

/** `2026-03-29` */
export function formatDay(day: number): string {
  const { year, month, day: dayOfMonth } = civilFromDay(day)
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(dayOfMonth, 2)}`
}

/** `02:30`, or `02:30:15` if the seconds are not zero. */
export function formatTimeOfDay(second: number): string {
  const hourAndMinute = `${pad(Math.floor(second / 3600), 2)}:${pad(Math.floor(second / 60) % 60, 2)}`
  return second % 60 === 0 ? hourAndMinute : `${hourAndMinute}:${pad(second % 60, 2)}`
}

/** Formats wall-clock seconds since 1970-01-01 00:00 as `2026-03-29 02:30`. */
export function formatLocal(local: number): string {
  const day = Math.floor(local / DAY_SECONDS)
  return `${formatDay(day)} ${formatTimeOfDay(local - day * DAY_SECONDS)}`
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/

/** Parses `YYYY-MM-DD` into a day number; null if the date does not exist. */
export function dayFromText(text: string): number | null {
  const match = DATE.exec(text)
  if (match === null) return null
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  if (month < 1 || month > 12 || day < 1 || day > monthLength(year, month)) return null
  return dayFromCivil({ year, month, day })
}
