import { periodBounds } from '../../core/budget/budget-period.ts'
import type { ExpectedUse } from '../../core/forecast/expected-use.ts'
import type { RunsPerDay } from '../../core/forecast/runs-per-day.ts'
import {
  playBudgets,
  type BudgetCourse,
  type ForecastBudget,
  type LimitedSource,
} from '../../core/forecast/within-budgets.ts'
import type { BudgetId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import type { BudgetOnRecord } from '../../store/budgets.ts'
import { covers } from '../desk/budget-book.ts'
import { addRuns, type Series, slicing, type Sum } from './series.ts'
import type { Source } from './source.ts'

/** What starts of the runs of a source, in each stretch, and how many do not. */
export interface SourceCourse {
  readonly runs: RunsPerDay
  readonly heldBack: number
}

/** What can run under every budget that applies, and where the budgets go. */
export interface Play {
  readonly sources: ReadonlyMap<Source, SourceCourse>
  readonly budgets: ReadonlyMap<BudgetId, BudgetCourse>
}

/** As is expected, and if every run uses as much as they do at most. */
export type Plays = Readonly<Record<keyof ExpectedUse, Play>>

/** The budgets of a forecast, and what runs in flight have set aside in them. */
export interface Limits {
  readonly budgets: readonly BudgetOnRecord[]
  readonly reserved: ReadonlyMap<BudgetId, number>
  readonly now: Instant
}

/** Plays the runs of a series against the budgets. */
export async function playSeries(series: Series, limits: Limits): Promise<Plays> {
  if (limits.budgets.length === 0) {
    const sources = new Map([...series.runs].map(([source, runs]) => [source, { runs, heldBack: 0 }]))
    const play = { sources, budgets: new Map<BudgetId, BudgetCourse>() }
    return { expected: play, high: play }
  }
  return { expected: await played(series, limits, 'expected'), high: await played(series, limits, 'high') }
}

async function played({ stretches, runs }: Series, limits: Limits, measure: keyof ExpectedUse): Promise<Play> {
  const { budgets } = limits
  const sources = [...runs.keys()]
  const breathe = slicing()
  const limitedSources: LimitedSource[] = []
  for (const source of sources) {
    limitedSources.push(limited(source, budgets, measure))
    await breathe(budgets.length)
  }
  const play = playBudgets(
    budgets.map((budget) => standing(budget, limits)),
    limitedSources,
  )
  const wanted = [...runs.values()]
  const started: number[][] = sources.map(() => [])
  for (const [place, stretch] of stretches.entries()) {
    const now = play.next(
      stretch,
      wanted.map((made) => made[place] ?? 0),
    )
    for (const [index, count] of now.entries()) started[index]?.push(count)
    await breathe(sources.length)
  }
  const heldBack = play.heldBack()
  const courses = play.courses()
  return {
    sources: new Map(
      sources.map((source, place) => [source, { runs: started[place] ?? [], heldBack: heldBack[place] ?? 0 }]),
    ),
    budgets: new Map(budgets.flatMap(({ id }, place) => (courses[place] ? [[id, courses[place]]] : []))),
  }
}

function standing(budget: BudgetOnRecord, { reserved, now }: Limits): ForecastBudget {
  const { start } = periodBounds(budget.period, budget.timezone, now)
  const spent = budget.uses.find((use) => use.start === start)?.used ?? 0
  return { ...budget, used: spent + (reserved.get(budget.id) ?? 0) }
}

const limited = (source: Source, budgets: readonly BudgetOnRecord[], measure: keyof ExpectedUse): LimitedSource => ({
  isWhole: source.kind === 'schedule',
  maxWaiting: source.maxWaiting ?? Infinity,
  draws: budgets.flatMap((budget, place) =>
    covers(budget.scope, source)
      ? [
          {
            budget: place,
            use: (source.use[budget.unit]?.[measure] ?? 0) * (source.started ?? 1),
            reserve: source.reserveUnder(budget),
          },
        ]
      : [],
  ),
})

/** Adds what starts of a source in all stretches, and what is held back. */
export function addCourse(
  { expected, high }: Plays,
  source: Source,
  to: { readonly ran: Sum; readonly heldBack: Sum },
): void {
  const [usual, most] = [expected.sources.get(source), high.sources.get(source)]
  const total = (runs: RunsPerDay = []): number => runs.reduce((sum, one) => sum + one, 0)
  addRuns(to.ran, source, { expected: total(usual?.runs), high: total(most?.runs) })
  addRuns(to.heldBack, source, { expected: usual?.heldBack ?? 0, high: most?.heldBack ?? 0 })
}
