import type { Instant } from '../instant.ts'
import { civilFromDay, dayFromCivil } from '../time/calendar.ts'
import { localDayOf, spansOfLocalDay } from '../time/wall-clock.ts'
import type { Zone } from '../../core/time/zone.ts'

export const BUDGET_PERIODS = ['day', 'month'] as const
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number]

/** A stretch in which spending is counted together: the start is inside, the end is the start of the next. */
export interface PeriodBounds {
  readonly start: Instant
  readonly end: Instant
}

/**
 * The day or month around an instant, as the zone's calendar has it. A period begins when its first date is first shown
 * and ends when the next one begins, so that every instant lies in exactly one, also where a clock goes back over
 * midnight and shows the old date again.
 */
export function periodBounds(period: BudgetPeriod, timezone: Zone, at: Instant): PeriodBounds {
  const first = firstDayOf(period, localDayOf(timezone, at))
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

/** When a date is first shown. Samoa never showed 30 December 2011: such a day begins when the next one does. */
function startOfDay(zone: Zone, day: number): Instant {
  return spansOfLocalDay(zone, day)[0]?.from ?? startOfDay(zone, day + 1)
}
