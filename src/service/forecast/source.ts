import type { ForecastSource } from '../../contract/forecast.ts'
import { largest } from '../../core/long-lists.ts'
import { amountsStated } from '../../core/budget/amounts.ts'
import { reserveUnder, type BudgetUnit } from '../../core/budget/budget.ts'
import { guessUse, type ExpectedUse, type UseSource } from '../../core/forecast/expected-use.ts'
import type { ForecastDay } from '../../core/forecast/days.ts'
import type { PlannedSchedule, RunsPerDay } from '../../core/forecast/runs-per-day.ts'
import type { BudgetOnRecord } from '../../store/budgets.ts'
import { covers, type Spender } from '../desk/budget-book.ts'
import type { Habits } from './habits.ts'

/** Something that makes runs, how many on given days, and what each is expected to use. */
export interface Source extends Spender {
  readonly kind: ForecastSource['kind']
  readonly name: string
  readonly runsOn: (days: readonly ForecastDay[]) => RunsPerDay
  /** Set for a recurrence rule, whose occurrences may take long to count: then it is counted elsewhere. */
  readonly rule?: PlannedSchedule | undefined
  /** The share of its runs whose probe starts the agent; the others use nothing. Left out: all. */
  readonly started?: number | undefined
  /** How many of its runs may wait at once for a budget that queues; left out: any number. */
  readonly maxWaiting?: number | undefined
  readonly use: Readonly<Record<BudgetUnit, ExpectedUse | null>>
  readonly basis: Readonly<Record<BudgetUnit, UseSource>>
  /** How many runs were looked at. */
  readonly seen: number
  /** What has to be left of a budget for a run of it to start. */
  readonly reserveUnder: (budget: BudgetOnRecord) => number
}

/** What a source is before anybody has looked at what its runs use. */
export interface Origin extends Spender {
  readonly kind: ForecastSource['kind']
  readonly name: string
  readonly payload: unknown
  readonly runsOn: Source['runsOn']
  readonly started?: Source['started']
  readonly rule?: Source['rule']
  readonly maxWaiting?: Source['maxWaiting']
}

/** Adds what is known about the use of its runs. */
export function sourceOf(origin: Origin, habits: Habits, budgets: readonly BudgetOnRecord[]): Source {
  const { payload, ...made } = origin
  const own = made.scheduleId === null ? [] : (habits.schedules.get(made.scheduleId) ?? [])
  const usual = habits.agents.get(made.agentId) ?? []
  const stated = amountsStated(payload)
  const guess = (unit: BudgetUnit): ReturnType<typeof guessUse> =>
    guessUse({
      ofSchedule: own.flatMap((used) => used[unit] ?? []),
      ofAgent: usual.flatMap((used) => used[unit] ?? []),
      stated: stated[unit],
      defaultReserve: reserveOf(budgets, made, unit),
    })
  const [tokens, money] = [guess('tokens'), guess('money')]
  return {
    ...made,
    use: { tokens: tokens.use, money: money.use },
    basis: { tokens: tokens.source, money: money.source },
    seen: own.length > 0 ? own.length : usual.length,
    reserveUnder: (budget) => {
      const last = budget.scope.kind === 'schedule' ? own : usual
      const used = last.flatMap((amounts) => amounts[budget.unit] ?? [])
      return reserveUnder(budget, stated[budget.unit], used)
    },
  }
}

/** Of the budgets that cover the spender, the one that sets most aside says what a run is expected to use. */
function reserveOf(budgets: readonly BudgetOnRecord[], spender: Spender, unit: BudgetUnit): number | null {
  const found = budgets.filter((budget) => budget.unit === unit && covers(budget.scope, spender))
  return found.length === 0 ? null : largest(found.map(({ defaultReserve }) => defaultReserve))
}
