import { setImmediate as afterOthers } from 'node:timers/promises'
import type { ForecastAmount, ForecastBasis, ForecastFigures } from '../../features/forecast/schema.ts'
import { BUDGET_UNITS, type BudgetUnit, fromMicros } from '../../domain/budget/budget.ts'
import { periodBounds } from '../../domain/budget/budget-period.ts'
import type { ExpectedUse } from '../../core/forecast/expected-use.ts'
import { type ForecastDay, type RunsPerDay, stretchesBetween } from '../../domain/forecast/runs-per-day.ts'
import {
  type BudgetCourse,
  type ForecastBudget,
  type LimitedSource,
  playBudgets,
} from '../../domain/forecast/within-budgets.ts'
import type { BudgetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Zone } from '../../core/time/zone.ts'
import type { BudgetOnRecord } from '../../features/budgets/store.ts'
import { computeCounts, type Computing } from '../../engine/compute.ts'
import { covers } from '../desk/budget-book.ts'
import type { Source } from './plan.ts'

/** Others get their turn after so many days of sources were looked at: about two milliseconds of work. */
const DAYS_IN_A_SLICE = 300

/** Lets others have their turn each time a slice of work is done. */
export function slicing(): (days: number) => Promise<void> {
  let done = 0
  return async (days) => {
    done += days
    if (done < DAYS_IN_A_SLICE) return
    done = 0
    await afterOthers()
  }
}

/** From when to when. */
export interface Window {
  readonly from: Instant
  readonly to: Instant
}

/** Stretches of time, each inside one day of every zone that matters, and how many runs each source is to make in them. */
export interface Series {
  readonly stretches: readonly ForecastDay[]
  readonly runs: ReadonlyMap<Source, RunsPerDay>
}

/** Counts what the sources make in a window, in slices: requests and runs go on in between. */
export async function countRuns(
  computing: Computing,
  sources: readonly Source[],
  { window, zone, others }: { readonly window: Window; readonly zone: Zone; readonly others: readonly Zone[] },
): Promise<Series> {
  const stretches = stretchesBetween(zone, others, window)
  const counted = await countRules(computing, sources, stretches)
  const runs = new Map<Source, RunsPerDay>()
  const breathe = slicing()
  for (const source of sources) {
    runs.set(source, counted.get(source) ?? source.runsOn(stretches))
    await breathe(stretches.length)
  }
  return { stretches, runs }
}

/** So many rules are counted at once elsewhere, so that other jobs of the org come in between. */
const RULES_AT_ONCE = 200

async function countRules(
  computing: Computing,
  sources: readonly Source[],
  days: readonly ForecastDay[],
): Promise<ReadonlyMap<Source, RunsPerDay>> {
  const counted = new Map<Source, RunsPerDay>()
  const rules = sources.flatMap((source) => (source.rule === undefined ? [] : [{ source, rule: source.rule }]))
  for (let from = 0; from < rules.length; from += RULES_AT_ONCE) {
    const some = rules.slice(from, from + RULES_AT_ONCE)
    const plans = some.map(({ rule }) => rule)
    const runs = await computeCounts(computing, plans, days)
    for (const [place, { source }] of some.entries()) counted.set(source, runs[place] ?? [])
  }
  return counted
}

/** A sum of runs and of what they are expected to use, in the units of budgets. */
export interface Sum {
  runs: number
  readonly use: Record<BudgetUnit, { expected: number; high: number; known: boolean }>
}

const nothing = (): Sum['use'][BudgetUnit] => ({ expected: 0, high: 0, known: false })

export const emptySum = (): Sum => ({ runs: 0, use: { tokens: nothing(), money: nothing() } })

/** A number of runs as is expected, and if every run uses as much as they do at most. */
interface RunCount {
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

/** What starts of the runs of a source, in each stretch, and how many do not. */
interface SourceCourse {
  readonly runs: RunsPerDay
  readonly heldBack: number
}

/** What can run under every budget that applies, and where the budgets go. */
interface Play {
  readonly sources: ReadonlyMap<Source, SourceCourse>
  readonly budgets: ReadonlyMap<BudgetId, BudgetCourse>
}

/** As is expected, and if every run uses as much as they do at most. */
export type Plays = Readonly<Record<keyof ExpectedUse, Play>>

/** The budgets of a forecast, and what runs in flight have set aside in them. */
interface Limits {
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
