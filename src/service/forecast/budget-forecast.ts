import type { BudgetForecast } from '../../features/forecast/schema.ts'
import type { BudgetAction } from '../../domain/budget/budget.ts'
import type { BudgetCourse } from '../../domain/forecast/within-budgets.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { BudgetOnRecord } from '../../features/budgets/store.ts'
import { settingsOf } from '../budget-view.ts'
import { covers } from '../desk/budget-book.ts'
import { momentOrNull } from '../schedule-view.ts'
import { type Plays, roundRuns, viewAmount } from './series.ts'

const NOWHERE: BudgetCourse = { periods: [], usedUpAt: null, heldBackRuns: 0 }

/** Where a budget is going. */
export function viewBudgetForecast(budget: BudgetOnRecord, plays: Plays): BudgetForecast {
  const { default_reserve: _reserve, ...settings } = settingsOf(budget)
  const usual = plays.expected.budgets.get(budget.id) ?? NOWHERE
  const most = plays.high.budgets.get(budget.id) ?? NOWHERE
  const view = (amount: number): number => viewAmount(budget.unit, amount)
  const incomplete = [...plays.expected.sources.keys()].some(
    (source) => covers(budget.scope, source) && source.use[budget.unit] === null,
  )
  const isPaused = budget.pausedAt !== null
  const [usedUpAt, usedUpAtHigh] = isPaused ? [null, null] : [usual.usedUpAt, most.usedUpAt]
  return {
    budget_id: budget.id,
    ...settings,
    paused: isPaused,
    periods: usual.periods.map(({ start, end, used, heldBack }, place) => ({
      start: formatInstant(start),
      end: formatInstant(end),
      expected: view(used),
      high: view(Math.max(used, most.periods[place]?.used ?? 0)),
      held_back: view(heldBack),
    })),
    used_up_at: momentOrNull(usedUpAt),
    used_up_at_high: momentOrNull(usedUpAtHigh),
    held_back_runs: roundRuns(usual.heldBackRuns),
    incomplete,
    sentence: sentenceOf(budget, { usual, most, incomplete }),
  }
}

const CONSEQUENCES: Readonly<Record<BudgetAction, string>> = {
  skip: 'new work is refused and occurrences are skipped until the next period',
  queue: 'work waits in the queue until the next period',
  pause: 'everything under it stops until a person resumes it',
}

interface Courses {
  readonly usual: BudgetCourse
  readonly most: BudgetCourse
  readonly incomplete: boolean
}

function sentenceOf({ pausedAt, onExceed }: BudgetOnRecord, { usual, most, incomplete }: Courses): string {
  const consequence = CONSEQUENCES[onExceed]
  const runs = roundRuns(usual.heldBackRuns)
  const heldBack = runs > 0 ? ` It holds back ${runs} ${runs === 1 ? 'run' : 'runs'}.` : ''
  if (pausedAt !== null) return `Paused since ${formatInstant(pausedAt)} until a person resumes it.${heldBack}`
  if (usual.usedUpAt !== null)
    return `It will be used up about ${formatInstant(usual.usedUpAt)}; then ${consequence}.${heldBack}`
  if (most.usedUpAt !== null)
    return `It lasts as expected. If runs use as much as they do at most, it is used up about ${formatInstant(most.usedUpAt)}; then ${consequence}.${heldBack}`
  return `${incomplete ? 'It lasts as far as is known: the use of some of its runs is unknown.' : 'It lasts.'}${heldBack}`
}
