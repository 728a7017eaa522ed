import { periodBounds } from '../budget/budget-period.ts'
import type { Budget } from '../budget/budget.ts'
import { instant, type Instant } from '../instant.ts'
import type { ForecastDay } from './days.ts'
import type { ExpectedUse } from './expected-use.ts'

/** What a day is expected to use of a budget. */
export interface ProjectedDay {
  readonly day: ForecastDay
  readonly use: ExpectedUse
}

/** One period of a budget: what it will have used at its end, or at the end of the forecast. */
export interface ProjectedPeriod extends ExpectedUse {
  readonly start: Instant
  readonly end: Instant
}

/** When a budget will be used up: as is expected, and if runs use as much as they do at most. Null: not in this time. */
export interface Projection {
  readonly periods: readonly ProjectedPeriod[]
  readonly usedUpAt: { readonly expected: Instant | null; readonly high: Instant | null }
}

type Measure = keyof ExpectedUse

/**
 * Follows a budget through the days of its own zone. What it has used so far is in the first period; what runs in flight
 * have set aside counts as used. Inside a day spending is taken for even. Budgets hold nothing back here: what would be
 * used is said, so that who looks sees by how much too much it is.
 */
export function projectBudget(
  budget: Pick<Budget, 'amount' | 'period' | 'timezone'>,
  used: number,
  days: readonly ProjectedDay[],
): Projection {
  const periods: { start: Instant; end: Instant; expected: number; high: number }[] = []
  const usedUpAt: Record<Measure, Instant | null> = { expected: null, high: null }
  for (const { day, use } of days) {
    const { start, end } = periodBounds(budget.period, budget.timezone, day.from)
    let current = periods.at(-1)
    if (current?.start !== start) {
      const begun = periods.length === 0 ? used : 0
      current = { start, end, expected: begun, high: begun }
      periods.push(current)
    }
    for (const measure of ['expected', 'high'] as const) {
      const before = current[measure]
      current[measure] += use[measure]
      if (usedUpAt[measure] === null && current[measure] >= budget.amount)
        usedUpAt[measure] = momentWithin(day, (budget.amount - before) / use[measure])
    }
  }
  return { periods, usedUpAt }
}

/** A budget that is used up already is so from the first moment on. */
const momentWithin = ({ from, to }: ForecastDay, share: number): Instant =>
  instant(Math.round(from + (to - from) * (Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0)))
