import type { ForecastAmount, ForecastBasis, ForecastFigures } from '../../contract/forecast.ts'
import { BUDGET_UNITS, fromMicros, type BudgetUnit } from '../../core/budget/budget.ts'
import type { Source } from './source.ts'

/** A sum of runs and of what they are expected to use, in the units of budgets. */
export interface Sum {
  runs: number
  readonly use: Record<BudgetUnit, { expected: number; high: number; known: boolean }>
}

const nothing = (): Sum['use'][BudgetUnit] => ({ expected: 0, high: 0, known: false })

export const emptySum = (): Sum => ({ runs: 0, use: { tokens: nothing(), money: nothing() } })

/** A number of runs as is expected, and if every run uses as much as they do at most. */
export interface RunCount {
  readonly expected: number
  readonly high: number
}

/** Adds so many runs of the source. */
export function addRuns(sum: Sum, { use, started = 1 }: Pick<Source, 'use' | 'started'>, runs: RunCount): void {
  sum.runs += runs.expected
  for (const unit of BUDGET_UNITS) {
    const each = use[unit]
    if (each === null) continue
    const total = sum.use[unit]
    total.known = true
    total.expected += each.expected * runs.expected * started
    total.high += each.high * runs.high * started
  }
}

/** Averages have no whole runs, and nobody reads more than a decimal of them. */
export const roundRuns = (runs: number): number => Math.round(runs * 10) / 10

/** As every surface shows it. Where nothing is known nothing is said: a nought would be a promise. */
export const viewFigures = ({ runs, use }: Sum): ForecastFigures => ({
  runs: roundRuns(runs),
  tokens: viewUse('tokens', use.tokens),
  cost: viewUse('money', use.money),
})

const viewUse = (unit: BudgetUnit, { expected, high, known }: Sum['use'][BudgetUnit]): ForecastAmount | null =>
  // Larger runs are held back earlier, which may leave less in all.
  known ? { expected: viewAmount(unit, expected), high: viewAmount(unit, Math.max(expected, high)) } : null

/** An amount that was computed, as people read it. */
export const viewAmount = (unit: BudgetUnit, amount: number): number =>
  unit === 'money' ? fromMicros(Math.round(amount)) : Math.round(amount)

export const viewBasis = ({ basis, seen }: Pick<Source, 'basis' | 'seen'>): ForecastBasis => ({
  ...{ tokens: basis.tokens, cost: basis.money, runs: seen },
})
