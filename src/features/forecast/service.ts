import type { BudgetAction } from '../../domain/budget/budget.ts'
import type { SimulatedBudget } from '../../domain/forecast/within-budgets.ts'
import type { BudgetId, OrgId } from '../../domain/ids.ts'
import { DAY_MS, formatInstant, type Instant, later } from '../../domain/instant.ts'
import { covers } from '../../engine/org-state/budget-usage.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { loadOrg } from '../access/orgs-store.ts'
import { type BudgetWithPeriods, loadBudgets, loadReserved } from '../budgets/store.ts'
import { settingsOf } from '../budgets/stored-budget.ts'
import {
  loadRecentUsage,
  loadForecastPlan,
  MAX_FORECAST_SCHEDULES,
  type RunOrigin,
  type ForecastPlan,
  type RunSource,
  toRunSource,
} from './plan.ts'
import type { BudgetForecast, ForecastFilter, ForecastView } from './schema.ts'
import {
  addSourceCourse,
  addRuns,
  countRuns,
  emptySum,
  type ForecastResults,
  simulateSeries,
  roundRuns,
  type RunSeries,
  createSlicer,
  type ForecastSum,
  viewAmount,
  viewBasis,
  viewFigures,
  type ForecastWindow,
} from './series.ts'
import { existingOrg, orgZone } from '../schedules/agent-and-target.ts'
import { formatInstantOrNull } from '../schedules/view.ts'

const EMPTY_COURSE: SimulatedBudget = { periods: [], usedUpAt: null, heldBackRuns: 0 }

/** The forecast of one budget. */
export function viewBudgetForecast(budget: BudgetWithPeriods, results: ForecastResults): BudgetForecast {
  const { default_reserve: _reserve, ...settings } = settingsOf(budget)
  const expected = results.expected.budgets.get(budget.id) ?? EMPTY_COURSE
  const high = results.high.budgets.get(budget.id) ?? EMPTY_COURSE
  const view = (amount: number): number => viewAmount(budget.unit, amount)
  const incomplete = [...results.expected.sources.keys()].some(
    (source) => covers(budget.scope, source) && source.use[budget.unit] === null,
  )
  const isPaused = budget.pausedAt !== null
  const [usedUpAt, usedUpAtHigh] = isPaused ? [null, null] : [expected.usedUpAt, high.usedUpAt]
  return {
    budget_id: budget.id,
    ...settings,
    paused: isPaused,
    periods: expected.periods.map(({ start, end, used, heldBack }, position) => ({
      start: formatInstant(start),
      end: formatInstant(end),
      expected: view(used),
      high: view(Math.max(used, high.periods[position]?.used ?? 0)),
      held_back: view(heldBack),
    })),
    used_up_at: formatInstantOrNull(usedUpAt),
    used_up_at_high: formatInstantOrNull(usedUpAtHigh),
    held_back_runs: roundRuns(expected.heldBackRuns),
    incomplete,
    sentence: budgetSentence(budget, { expected, high, incomplete }),
  }
}

const CONSEQUENCES: Readonly<Record<BudgetAction, string>> = {
  skip: 'new runs are refused and occurrences are skipped until the next period',
  queue: 'runs wait in the queue until the next period',
  pause: 'all runs under it stop until a user resumes it',
}

interface BudgetCourses {
  readonly expected: SimulatedBudget
  readonly high: SimulatedBudget
  readonly incomplete: boolean
}

function budgetSentence(
  { pausedAt, onExceed }: BudgetWithPeriods,
  { expected, high, incomplete }: BudgetCourses,
): string {
  const consequence = CONSEQUENCES[onExceed]
  const runs = roundRuns(expected.heldBackRuns)
  const heldBack = runs > 0 ? ` It holds back ${runs} ${runs === 1 ? 'run' : 'runs'}.` : ''
  if (pausedAt !== null) return `Paused since ${formatInstant(pausedAt)} until a user resumes it.${heldBack}`
  if (expected.usedUpAt !== null)
    return `It will be exhausted about ${formatInstant(expected.usedUpAt)}; then ${consequence}.${heldBack}`
  if (high.usedUpAt !== null)
    return `It lasts at the expected usage. At the high estimate it is exhausted about ${formatInstant(high.usedUpAt)}; then ${consequence}.${heldBack}`
  return `${incomplete ? 'It lasts as far as known: the usage of some of its runs is unknown.' : 'It lasts.'}${heldBack}`
}

const DEFAULT_FORECAST_DAYS = 30

/** The ports that a forecast reads from. */
export type ForecastPorts = Pick<Ports, 'database' | 'clock' | 'computations'>

/** The given number of days, or the default. */
export const daysOrDefault = (days: number | null | undefined): number => days ?? DEFAULT_FORECAST_DAYS

export const windowFrom = (now: Instant, days: number): ForecastWindow => ({ from: now, to: later(now, days * DAY_MS) })

/** Forecasts the usage of an org from its plan and the usage of recent runs. Nothing is saved. */
export async function forecastOrg(
  ports: ForecastPorts,
  { orgId }: Caller,
  filter: ForecastFilter = {},
): Promise<ForecastView> {
  const { database, clock } = ports
  const now = clock.now()
  const window = windowFrom(now, daysOrDefault(filter.days))
  const zone = orgZone(existingOrg(await loadOrg(database, orgId), orgId))
  const budgets = await loadBudgets(database, { orgId })
  const plan = await loadForecastPlan(database, { orgId, now })
  const sources = await withExpectedUsage(ports, { orgId }, { origins: plan.origins, budgets })
  const others = budgets.map(({ timezone }) => timezone)
  const computing = { orgId, computations: ports.computations }
  const series = await countRuns(computing, sources, { window, zone, others })
  const results = await simulateSeries(series, { budgets, reserved: await loadReservedOf(ports, orgId, budgets), now })
  return {
    ...{ from: formatInstant(window.from), to: formatInstant(window.to), timezone: zone.name },
    ...(await sumSources(series, results)),
    budgets: budgets.map((budget) => viewBudgetForecast(budget, results)),
    notes: forecastNotes(sources, plan),
  }
}

/** The amounts reserved by runs in flight, by budget. */
export const loadReservedOf = async (
  { database }: Pick<Ports, 'database'>,
  orgId: OrgId,
  budgets: readonly BudgetWithPeriods[],
): Promise<ReadonlyMap<BudgetId, number>> =>
  budgets.length === 0 ? new Map<BudgetId, number>() : loadReserved(database, { orgId })

/** Adds the expected usage to each origin of runs. */
export async function withExpectedUsage(
  { database }: ForecastPorts,
  { orgId }: Pick<Caller, 'orgId'>,
  { origins, budgets }: { readonly origins: readonly RunOrigin[]; readonly budgets: readonly BudgetWithPeriods[] },
): Promise<readonly RunSource[]> {
  const recentUsage = await loadRecentUsage(database, orgId, {
    schedules: origins.flatMap(({ scheduleId }) => scheduleId ?? []),
    agents: [...new Set(origins.map(({ agentId }) => agentId))],
  })
  return origins.map((origin) => toRunSource(origin, recentUsage, budgets))
}

type ForecastSums = Pick<ForecastView, 'total' | 'held_back' | 'days' | 'sources' | 'agents'>

async function sumSources({ stretches }: RunSeries, results: ForecastResults): Promise<ForecastSums> {
  const yieldControl = createSlicer()
  const [total, heldBack] = [emptySum(), emptySum()]
  const perDay = new Map(stretches.map(({ date }) => [date, emptySum()]))
  const perAgent = new Map<string, ForecastSum>()
  const perSource: SourceSums[] = []
  for (const [source, { runs }] of results.expected.sources) {
    const course = { source, ran: emptySum(), heldBack: emptySum() }
    const agent = perAgent.get(source.agentId) ?? emptySum()
    perAgent.set(source.agentId, agent)
    addSourceCourse(results, source, course)
    addSourceCourse(results, source, { ran: total, heldBack })
    addSourceCourse(results, source, { ran: agent, heldBack: emptySum() })
    const high = results.high.sources.get(source)?.runs
    for (const [position, { date }] of stretches.entries()) {
      const day = perDay.get(date)
      if (day !== undefined) addRuns(day, source, { expected: runs[position] ?? 0, high: high?.[position] ?? 0 })
    }
    if (course.ran.runs > 0 || course.heldBack.runs > 0) perSource.push(course)
    await yieldControl(stretches.length)
  }
  return {
    total: viewFigures(total),
    held_back: viewFigures(heldBack),
    days: [...perDay].map(([date, sum]) => ({ date, ...viewFigures(sum) })),
    sources: perSource
      .toSorted((a, b) => sortWeight(b.ran) - sortWeight(a.ran) || b.ran.runs - a.ran.runs)
      .map(viewSource),
    agents: [...perAgent]
      .map(([id, sum]) => ({ agent_id: id, ...viewFigures(sum) }))
      .filter(({ runs: count }) => count > 0),
  }
}

interface SourceSums {
  readonly source: RunSource
  readonly ran: ForecastSum
  readonly heldBack: ForecastSum
}

const sortWeight = ({ use }: ForecastSum): number => use.money.expected || use.tokens.expected

const viewSource = ({ source, ran, heldBack }: SourceSums): ForecastView['sources'][number] => ({
  ...{ kind: source.kind, name: source.name, schedule_id: source.scheduleId, agent_id: source.agentId },
  ...viewFigures(ran),
  held_back_runs: roundRuns(heldBack.runs),
  based_on: viewBasis(source),
})

/** The assumptions of every forecast. */
export const FORECAST_ASSUMPTIONS =
  'Every occurrence counts as one run, including those that policies would skip. The figures contain the runs that all ' +
  'budgets allow; runs held back by budgets are shown separately. Heartbeats without a route are not included. Of runs ' +
  'with a probe, the share that it has started so far is charged.'

function forecastNotes(
  sources: readonly RunSource[],
  { omittedCount, pacedCount }: Pick<ForecastPlan, 'omittedCount' | 'pacedCount'>,
): readonly string[] {
  const unknown = sources.filter(({ use }) => use.tokens === null && use.money === null).length
  return [
    FORECAST_ASSUMPTIONS,
    ...(unknown === 0
      ? []
      : [`The usage of ${unknown} of ${sources.length} sources is unknown; they are not included in the totals.`]),
    ...(pacedCount === 0 ? [] : [`Schedules with a cadence are counted at their current interval: ${pacedCount}.`]),
    ...(omittedCount === 0 ? [] : [`Only the newest ${MAX_FORECAST_SCHEDULES} schedules are included.`]),
  ]
}
