import type { BudgetForecast } from '../../contract/forecast.ts'
import type { BudgetAction } from '../../core/budget/budget.ts'
import { periodBounds } from '../../core/budget/budget-period.ts'
import { projectBudget, type Projection } from '../../core/forecast/projection.ts'
import { formatInstant, type Instant } from '../../core/instant.ts'
import type { BudgetOnRecord } from '../../store/budgets.ts'
import { settingsOf } from '../budget-view.ts'
import { covers } from '../desk/budget-book.ts'
import { momentOrNull } from '../schedule-view.ts'
import { addRuns, emptySum, viewAmount } from './figures.ts'
import type { Counting } from './series.ts'
import type { Source } from './source.ts'

/** What a budget stands at, and whose runs count in it. */
export interface Outlook {
  readonly budget: BudgetOnRecord
  readonly reserved: number
  readonly now: Instant
  readonly counting: Counting
  /** Left out: all. */
  readonly counts?: (source: Source) => boolean
}

/** Where a budget is going. */
export async function forecastBudget(outlook: Outlook): Promise<BudgetForecast> {
  const { budget, reserved, now, counting, counts } = outlook
  const { days, runs } = await counting.inZone(budget.timezone)
  const covered = [...runs].filter(([source]) => covers(budget.scope, source) && counts?.(source) !== false)
  const projected = days.map((day, place) => {
    const sum = emptySum()
    for (const [source, made] of covered) addRuns(sum, source, made[place] ?? 0)
    return { day, use: sum.use[budget.unit] }
  })
  const { start } = periodBounds(budget.period, budget.timezone, now)
  const spent = budget.uses.find((use) => use.start === start)?.used ?? 0
  const projection = projectBudget(budget, spent + reserved, projected)
  const incomplete = covered.some(([source]) => source.use[budget.unit] === null)
  return viewForecast(budget, projection, incomplete)
}

function viewForecast(budget: BudgetOnRecord, projection: Projection, incomplete: boolean): BudgetForecast {
  const { default_reserve: _reserve, ...settings } = settingsOf(budget)
  const { periods, usedUpAt } = projection
  const view = (amount: number): number => viewAmount(budget.unit, amount)
  return {
    budget_id: budget.id,
    ...settings,
    paused: budget.pausedAt !== null,
    periods: periods.map(({ start, end, expected, high }) => ({
      ...{ start: formatInstant(start), end: formatInstant(end), expected: view(expected), high: view(high) },
    })),
    used_up_at: momentOrNull(usedUpAt.expected),
    used_up_at_high: momentOrNull(usedUpAt.high),
    incomplete,
    sentence: sentenceOf(budget, projection, incomplete),
  }
}

const CONSEQUENCES: Readonly<Record<BudgetAction, string>> = {
  skip: 'new work is refused and occurrences are skipped until the next period',
  queue: 'work waits in the queue until the next period',
  pause: 'everything under it stops until somebody resumes it',
}

function sentenceOf({ pausedAt, onExceed }: BudgetOnRecord, { usedUpAt }: Projection, incomplete: boolean): string {
  const consequence = CONSEQUENCES[onExceed]
  if (pausedAt !== null) return `It stands still since ${formatInstant(pausedAt)} until somebody resumes it.`
  if (usedUpAt.expected !== null)
    return `It will be used up about ${formatInstant(usedUpAt.expected)}; then ${consequence}.`
  if (usedUpAt.high !== null)
    return `It lasts as expected. If runs use as much as they do at most, it is used up about ${formatInstant(usedUpAt.high)}; then ${consequence}.`
  return incomplete ? 'It lasts as far as is known: some of its runs use an amount that nobody knows.' : 'It lasts.'
}
