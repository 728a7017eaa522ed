import { DAY_COUNT, DAY_SECONDS, monthOfDay, monthStart } from './calendar.ts'
import type { CronExpression } from './cron-expression.ts'
import {
  bitCount,
  countTimes,
  firstTime,
  highestBit,
  lastTime,
  lowestBit,
  matchingDays,
  nextMonth,
  nextTime,
  previousMonth,
  previousTime,
} from './cron-match.ts'

/**
 * The search on the wall clock alone, as if there were no zones: seconds since 1970-01-01 00:00 in, seconds out. The
 * years are those of the grammar, 1970 to 2199. Numbers go in and out one by one so that the search makes no objects.
 */

/** No answer: there is no such wall-clock time in the years of the grammar. */
export const NONE = -1

const END_OF_YEARS = DAY_COUNT * DAY_SECONDS

/** The first match at `from` or later. `both`: a day must match both day fields where both are restricted. */
export function nextLocal(cron: CronExpression, both: boolean, from: number): number {
  const start = from < 0 ? 0 : from
  if (start >= END_OF_YEARS) return NONE
  const day = Math.floor(start / DAY_SECONDS)
  let month = monthOfDay(day)
  let days = matchingDays(cron.days, both, month)
  const index = day - monthStart(month)
  if (((days >>> index) & 1) !== 0) {
    const time = nextTime(cron, start - day * DAY_SECONDS)
    if (time >= 0) return day * DAY_SECONDS + time
  }
  days &= -2 << index
  if (days === 0) {
    month = nextMonth(cron.days, both, month + 1)
    if (month < 0) return NONE
    days = matchingDays(cron.days, both, month)
  }
  return (monthStart(month) + lowestBit(days)) * DAY_SECONDS + firstTime(cron)
}

/** The last match at `from` or earlier. */
export function previousLocal(cron: CronExpression, both: boolean, from: number): number {
  if (from < 0) return NONE
  const start = from < END_OF_YEARS ? from : END_OF_YEARS - 1
  const day = Math.floor(start / DAY_SECONDS)
  let month = monthOfDay(day)
  let days = matchingDays(cron.days, both, month)
  const index = day - monthStart(month)
  if (((days >>> index) & 1) !== 0) {
    const time = previousTime(cron, start - day * DAY_SECONDS)
    if (time >= 0) return day * DAY_SECONDS + time
  }
  days &= ~(-1 << index)
  if (days === 0) {
    month = previousMonth(cron.days, both, month - 1)
    if (month < 0) return NONE
    days = matchingDays(cron.days, both, month)
  }
  return (monthStart(month) + highestBit(days)) * DAY_SECONDS + lastTime(cron)
}

/** How many matches there are before `end`. Counted in months and whole days, never fire by fire. */
function countBefore(cron: CronExpression, both: boolean, end: number): number {
  const day = Math.floor(end / DAY_SECONDS)
  const month = monthOfDay(day)
  const days = matchingDays(cron.days, both, month)
  const index = day - monthStart(month)
  const today = ((days >>> index) & 1) === 0 ? 0 : countTimes(cron, end - day * DAY_SECONDS)
  return bitCount(days & ~(-1 << index)) * countTimes(cron, DAY_SECONDS) + today
}

/** How many matches there are from `from` (inclusive) to `to` (exclusive). */
export function countLocal(
  cron: CronExpression,
  both: boolean,
  span: { readonly from: number; readonly to: number },
): number {
  const from = Math.max(0, span.from)
  const to = Math.min(END_OF_YEARS, span.to)
  if (from >= to) return 0
  const perDay = countTimes(cron, DAY_SECONDS)
  const lastMonth = to === END_OF_YEARS ? monthOfDay(DAY_COUNT - 1) + 1 : monthOfDay(Math.floor(to / DAY_SECONDS))
  let wholeDays = 0
  for (let month = monthOfDay(Math.floor(from / DAY_SECONDS)); month < lastMonth; month += 1)
    wholeDays += bitCount(matchingDays(cron.days, both, month))
  const tail = to === END_OF_YEARS ? 0 : countBefore(cron, both, to)
  return wholeDays * perDay + tail - countBefore(cron, both, from)
}
