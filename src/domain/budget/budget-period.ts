import type { Instant } from '../instant.ts'
import { civilFromDay, dayFromCivil } from '../time/calendar.ts'
import { localDayAt, spansOfLocalDay } from '../time/wall-clock.ts'
import type { Zone } from '../time/zone.ts'

export const BUDGET_PERIODS = ['day', 'month'] as const
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number]

/** A period in which spending is summed: start inclusive, end exclusive. */
export interface PeriodBounds {
  readonly start: Instant
  readonly end: Instant
}

/**
 * The day or month that contains a time, in the zone's calendar. A period begins when its first date begins locally
 * and ends when the next one begins, so that every time is in exactly one period, even where a clock goes back over
 * midnight and repeats part of the old date.
 */
export function periodBounds(period: BudgetPeriod, timezone: Zone, at: Instant): PeriodBounds {
  const first = firstDayOf(period, localDayAt(timezone, at))
  const next = firstDayAfter(period, first)
  const end = startOfDay(timezone, next)
  return at < end
    ? { start: startOfDay(timezone, first), end }
    : { start: end, end: startOfDay(timezone, firstDayAfter(period, next)) }
}

function firstDayOf(period: BudgetPeriod, day: number): number {
  switch (period) {
    case 'day':
      return day
    case 'month':
      return dayFromCivil({ ...civilFromDay(day), day: 1 })
  }
}

function firstDayAfter(period: BudgetPeriod, first: number): number {
  switch (period) {
    case 'day':
      return first + 1
    case 'month': {
      const { year, month } = civilFromDay(first)
      return month === 12
        ? dayFromCivil({ year: year + 1, month: 1, day: 1 })
        : dayFromCivil({ year, month: month + 1, day: 1 })
    }
  }
}

/** The start of a local date. Samoa skipped 30 December 2011: such a day begins when the next one does. */
function startOfDay(zone: Zone, day: number): Instant {
  return spansOfLocalDay(zone, day)[0]?.from ?? startOfDay(zone, day + 1)
}
