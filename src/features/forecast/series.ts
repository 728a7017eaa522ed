import { setImmediate as afterOthers } from 'node:timers/promises'
import type { ForecastAmount, ForecastBasis, ForecastFigures } from './schema.ts'
import { BUDGET_UNITS, type BudgetUnit, fromMicros } from '../../domain/budget/budget.ts'
import { periodBounds } from '../../domain/budget/budget-period.ts'
import {
  type ExpectedUsage,
  type ForecastDay,
  type RunsPerDay,
  splitDaysBetween,
} from '../../domain/forecast/runs-per-day.ts'
import {
  type SimulatedBudget,
  type ForecastBudget,
  type LimitedSource,
  simulateBudgets,
} from '../../domain/forecast/within-budgets.ts'
import type { BudgetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Zone } from '../../domain/time/zone.ts'
import type { BudgetWithPeriods } from '../budgets/store.ts'
import { computeCounts, type ComputeContext } from '../../engine/compute.ts'
import { covers } from '../../engine/org-state/budget-usage.ts'
import type { RunSource } from './plan.ts'

/** The event loop gets control after this many source days: about 2 ms of work. */
const DAYS_PER_SLICE = 300

/** Yields to the event loop after each slice of work. */
export function createSlicer(): (days: number) => Promise<void> {
  let done = 0
  return async (days) => {
    done += days
    if (done < DAYS_PER_SLICE) return
    done = 0
    await afterOthers()
  }
}

/** The period of a forecast. */
export interface ForecastWindow {
  readonly from: Instant
  readonly to: Instant
}

/** Time ranges, each within one day of every relevant zone, and the expected runs of each source in them. */
export interface RunSeries {
  readonly stretches: readonly ForecastDay[]
  readonly runs: ReadonlyMap<RunSource, RunsPerDay>
}

/** Counts the runs of the sources in a window, in slices, so that requests and runs continue in between. */
export async function countRuns(
  computing: ComputeContext,
  sources: readonly RunSource[],
  { window, zone, others }: { readonly window: ForecastWindow; readonly zone: Zone; readonly others: readonly Zone[] },
): Promise<RunSeries> {
  const stretches = splitDaysBetween(zone, others, window)
  const counted = await countRules(computing, sources, stretches)
  const runs = new Map<RunSource, RunsPerDay>()
  const yieldControl = createSlicer()
  for (const source of sources) {
    runs.set(source, counted.get(source) ?? source.runsOn(stretches))
    await yieldControl(stretches.length)
  }
  return { stretches, runs }
}

/** How many rules one job of the compute thread counts, so that other jobs of the org run in between. */
const RULES_PER_JOB = 200

async function countRules(
  computing: ComputeContext,
  sources: readonly RunSource[],
  days: readonly ForecastDay[],
): Promise<ReadonlyMap<RunSource, RunsPerDay>> {
  const counted = new Map<RunSource, RunsPerDay>()
  const rules = sources.flatMap((source) => (source.rule === undefined ? [] : [{ source, rule: source.rule }]))
  for (let from = 0; from < rules.length; from += RULES_PER_JOB) {
    const some = rules.slice(from, from + RULES_PER_JOB)
    const plans = some.map(({ rule }) => rule)
    const runs = await computeCounts(computing, plans, days)
    for (const [position, { source }] of some.entries()) counted.set(source, runs[position] ?? [])
  }
  return counted
}

/** A number of runs and their expected usage, in the units of budgets. */
export interface ForecastSum {
  runs: number
  readonly use: Record<BudgetUnit, { expected: number; high: number; known: boolean }>
}

const zeroUse = (): ForecastSum['use'][BudgetUnit] => ({ expected: 0, high: 0, known: false })

export const emptySum = (): ForecastSum => ({ runs: 0, use: { tokens: zeroUse(), money: zeroUse() } })

/** A number of runs at the expected usage, and at the high estimate. */
interface RunCount {
  readonly expected: number
  readonly high: number
}

/** Adds runs of the source. */
export function addRuns(
  sum: ForecastSum,
  { use, started = 1 }: Pick<RunSource, 'use' | 'started'>,
  runs: RunCount,
): void {
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

/** Rounds to one decimal, because averages are not whole runs. */
export const roundRuns = (runs: number): number => Math.round(runs * 10) / 10

/** The API view of a sum. Unknown usage is null, because 0 would mean that the runs use nothing. */
export const viewFigures = ({ runs, use }: ForecastSum): ForecastFigures => ({
  runs: roundRuns(runs),
  tokens: viewUse('tokens', use.tokens),
  cost: viewUse('money', use.money),
})

const viewUse = (unit: BudgetUnit, { expected, high, known }: ForecastSum['use'][BudgetUnit]): ForecastAmount | null =>
  // At the high estimate more runs are held back, so the total may be smaller than expected.
  known ? { expected: viewAmount(unit, expected), high: viewAmount(unit, Math.max(expected, high)) } : null

/** Rounds an amount, and converts money from micros. */
export const viewAmount = (unit: BudgetUnit, amount: number): number =>
  unit === 'money' ? fromMicros(Math.round(amount)) : Math.round(amount)

export const viewBasis = ({ basis, sampleSize: seen }: Pick<RunSource, 'basis' | 'sampleSize'>): ForecastBasis => ({
  ...{ tokens: basis.tokens, cost: basis.money, runs: seen },
})

/** The runs of a source that start in each range, and the number held back. */
interface SourceCourse {
  readonly runs: RunsPerDay
  readonly heldBack: number
}

/** The runs that all applicable budgets allow, and the course of the budgets. */
interface ForecastResult {
  readonly sources: ReadonlyMap<RunSource, SourceCourse>
  readonly budgets: ReadonlyMap<BudgetId, SimulatedBudget>
}

/** The results at the expected usage and at the high estimate. */
export type ForecastResults = Readonly<Record<keyof ExpectedUsage, ForecastResult>>

/** The budgets of a forecast, and the amounts reserved by runs in flight. */
interface ForecastLimits {
  readonly budgets: readonly BudgetWithPeriods[]
  readonly reserved: ReadonlyMap<BudgetId, number>
  readonly now: Instant
}

/** Simulates the runs of a series under the budgets. */
export async function simulateSeries(series: RunSeries, limits: ForecastLimits): Promise<ForecastResults> {
  if (limits.budgets.length === 0) {
    const sources = new Map([...series.runs].map(([source, runs]) => [source, { runs, heldBack: 0 }]))
    const result = { sources, budgets: new Map<BudgetId, SimulatedBudget>() }
    return { expected: result, high: result }
  }
  return {
    expected: await simulateMeasure(series, limits, 'expected'),
    high: await simulateMeasure(series, limits, 'high'),
  }
}

async function simulateMeasure(
  { stretches, runs }: RunSeries,
  limits: ForecastLimits,
  measure: keyof ExpectedUsage,
): Promise<ForecastResult> {
  const { budgets } = limits
  const sources = [...runs.keys()]
  const yieldControl = createSlicer()
  const limitedSources: LimitedSource[] = []
  for (const source of sources) {
    limitedSources.push(limitedSource(source, budgets, measure))
    await yieldControl(budgets.length)
  }
  const result = simulateBudgets(
    budgets.map((budget) => forecastBudgetOf(budget, limits)),
    limitedSources,
  )
  const wanted = [...runs.values()]
  const started: number[][] = sources.map(() => [])
  for (const [position, stretch] of stretches.entries()) {
    const now = result.next(
      stretch,
      wanted.map((counts) => counts[position] ?? 0),
    )
    for (const [index, count] of now.entries()) started[index]?.push(count)
    await yieldControl(sources.length)
  }
  const heldBack = result.heldBack()
  const courses = result.courses()
  return {
    sources: new Map(
      sources.map((source, position) => [source, { runs: started[position] ?? [], heldBack: heldBack[position] ?? 0 }]),
    ),
    budgets: new Map(budgets.flatMap(({ id }, position) => (courses[position] ? [[id, courses[position]]] : []))),
  }
}

function forecastBudgetOf(budget: BudgetWithPeriods, { reserved, now }: ForecastLimits): ForecastBudget {
  const { start } = periodBounds(budget.period, budget.timezone, now)
  const spent = budget.uses.find((use) => use.start === start)?.used ?? 0
  return { ...budget, used: spent + (reserved.get(budget.id) ?? 0) }
}

const limitedSource = (
  source: RunSource,
  budgets: readonly BudgetWithPeriods[],
  measure: keyof ExpectedUsage,
): LimitedSource => ({
  isWhole: source.kind === 'schedule',
  maxWaiting: source.maxWaiting ?? Infinity,
  draws: budgets.flatMap((budget, position) =>
    covers(budget.scope, source)
      ? [
          {
            budget: position,
            use: (source.use[budget.unit]?.[measure] ?? 0) * (source.started ?? 1),
            reserve: source.reserveUnder(budget),
          },
        ]
      : [],
  ),
})

/** Adds the started and the held-back runs of a source over all ranges. */
export function addSourceCourse(
  { expected, high }: ForecastResults,
  source: RunSource,
  to: { readonly ran: ForecastSum; readonly heldBack: ForecastSum },
): void {
  const [usual, most] = [expected.sources.get(source), high.sources.get(source)]
  const total = (runs: RunsPerDay = []): number => runs.reduce((sum, one) => sum + one, 0)
  addRuns(to.ran, source, { expected: total(usual?.runs), high: total(most?.runs) })
  addRuns(to.heldBack, source, { expected: usual?.heldBack ?? 0, high: most?.heldBack ?? 0 })
}
