import type { ForecastFilter, ForecastView } from '../../features/forecast/schema.ts'
import type { BudgetId, OrgId } from '../../domain/ids.ts'
import { DAY_MS, formatInstant, later, type Instant } from '../../domain/instant.ts'
import { loadBudgets, loadReserved, type BudgetOnRecord } from '../../features/budgets/store.ts'
import { loadOrg } from '../../features/access/orgs-store.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import { known, zoneOf } from '../schedule-agent.ts'
import { viewBudgetForecast } from './budget-forecast.ts'
import { loadHabits, loadPlan, MOST_SCHEDULES, type Origin, type Plan, type Source, sourceOf } from './plan.ts'
import {
  addCourse,
  addRuns,
  countRuns,
  emptySum,
  type Plays,
  playSeries,
  roundRuns,
  type Series,
  slicing,
  type Sum,
  viewBasis,
  viewFigures,
  type Window,
} from './series.ts'

const USUAL_DAYS = 30

/** What a forecast looks with. */
export type Looking = Pick<Ports, 'database' | 'clock' | 'computations'>

/** How many days are wanted. */
export const daysIn = (days: number | null | undefined): number => days ?? USUAL_DAYS

export const windowFrom = (now: Instant, days: number): Window => ({ from: now, to: later(now, days * DAY_MS) })

/** What the next days of an org will use, from its plan and from what runs have used so far. Nothing is kept. */
export async function forecastOrg(
  ports: Looking,
  { orgId }: Caller,
  filter: ForecastFilter = {},
): Promise<ForecastView> {
  const { database, clock } = ports
  const now = clock.now()
  const window = windowFrom(now, daysIn(filter.days))
  const zone = zoneOf(known(await loadOrg(database, orgId), orgId))
  const budgets = await loadBudgets(database, { orgId })
  const plan = await loadPlan(database, { orgId, now })
  const sources = await withUse(ports, { orgId }, { origins: plan.origins, budgets })
  const others = budgets.map(({ timezone }) => timezone)
  const computing = { orgId, computations: ports.computations }
  const series = await countRuns(computing, sources, { window, zone, others })
  const plays = await playSeries(series, { budgets, reserved: await loadReservedOf(ports, orgId, budgets), now })
  return {
    ...{ from: formatInstant(window.from), to: formatInstant(window.to), timezone: zone.name },
    ...(await summed(series, plays)),
    budgets: budgets.map((budget) => viewBudgetForecast(budget, plays)),
    notes: notesOf(sources, plan),
  }
}

/** What runs in flight have set aside, for an org that has budgets. */
export const loadReservedOf = async (
  { database }: Pick<Ports, 'database'>,
  orgId: OrgId,
  budgets: readonly BudgetOnRecord[],
): Promise<ReadonlyMap<BudgetId, number>> =>
  budgets.length === 0 ? new Map<BudgetId, number>() : loadReserved(database, { orgId })

/** Adds to what will make runs what those are expected to use. */
export async function withUse(
  { database }: Looking,
  { orgId }: Pick<Caller, 'orgId'>,
  { origins, budgets }: { readonly origins: readonly Origin[]; readonly budgets: readonly BudgetOnRecord[] },
): Promise<readonly Source[]> {
  const habits = await loadHabits(database, orgId, {
    schedules: origins.flatMap(({ scheduleId }) => scheduleId ?? []),
    agents: [...new Set(origins.map(({ agentId }) => agentId))],
  })
  return origins.map((origin) => sourceOf(origin, habits, budgets))
}

type Sums = Pick<ForecastView, 'total' | 'held_back' | 'days' | 'sources' | 'agents'>

async function summed({ stretches }: Series, plays: Plays): Promise<Sums> {
  const breathe = slicing()
  const [total, heldBack] = [emptySum(), emptySum()]
  const perDay = new Map(stretches.map(({ date }) => [date, emptySum()]))
  const perAgent = new Map<string, Sum>()
  const perSource: Course[] = []
  for (const [source, { runs }] of plays.expected.sources) {
    const course = { source, ran: emptySum(), heldBack: emptySum() }
    const agent = perAgent.get(source.agentId) ?? emptySum()
    perAgent.set(source.agentId, agent)
    addCourse(plays, source, course)
    addCourse(plays, source, { ran: total, heldBack })
    addCourse(plays, source, { ran: agent, heldBack: emptySum() })
    const most = plays.high.sources.get(source)?.runs
    for (const [place, { date }] of stretches.entries()) {
      const day = perDay.get(date)
      if (day !== undefined) addRuns(day, source, { expected: runs[place] ?? 0, high: most?.[place] ?? 0 })
    }
    if (course.ran.runs > 0 || course.heldBack.runs > 0) perSource.push(course)
    await breathe(stretches.length)
  }
  return {
    total: viewFigures(total),
    held_back: viewFigures(heldBack),
    days: [...perDay].map(([date, sum]) => ({ date, ...viewFigures(sum) })),
    sources: perSource.toSorted((a, b) => weigh(b.ran) - weigh(a.ran) || b.ran.runs - a.ran.runs).map(viewSource),
    agents: [...perAgent]
      .map(([id, sum]) => ({ agent_id: id, ...viewFigures(sum) }))
      .filter(({ runs: made }) => made > 0),
  }
}

interface Course {
  readonly source: Source
  readonly ran: Sum
  readonly heldBack: Sum
}

const weigh = ({ use }: Sum): number => use.money.expected || use.tokens.expected

const viewSource = ({ source, ran, heldBack }: Course): ForecastView['sources'][number] => ({
  ...{ kind: source.kind, name: source.name, schedule_id: source.scheduleId, agent_id: source.agentId },
  ...viewFigures(ran),
  held_back_runs: roundRuns(heldBack.runs),
  based_on: viewBasis(source),
})

/** What the forecast takes for granted, and what it does not know. */
export const ASSUMED =
  'Every occurrence counts as one run: what policies skip is not taken off. Counted is what can run under every budget; ' +
  'what budgets hold back is shown apart. Heartbeats without a route are left out; of runs with a probe, the share that ' +
  'it has started so far is charged.'

function notesOf(sources: readonly Source[], { leftOut, paced }: Pick<Plan, 'leftOut' | 'paced'>): readonly string[] {
  const unknown = sources.filter(({ use }) => use.tokens === null && use.money === null).length
  return [
    ASSUMED,
    ...(unknown === 0
      ? []
      : [`Of ${unknown} of ${sources.length} sources nobody knows what their runs use; they are not in the sums.`]),
    ...(paced === 0 ? [] : [`Schedules with a cadence are counted at the pace they have now: ${paced}.`]),
    ...(leftOut === 0 ? [] : [`Only the newest ${MOST_SCHEDULES} schedules are counted.`]),
  ]
}
