import type { ForecastFilter, ForecastView } from '../../contract/forecast.ts'
import { invalid } from '../../contract/refusals.ts'
import { parsed, parseInteger } from '../../core/input.ts'
import { DAY_MS, formatInstant, later, type Instant } from '../../core/instant.ts'
import { loadBudgets, loadReserved, type BudgetOnRecord } from '../../store/budgets.ts'
import { loadOrg } from '../../store/orgs.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import { covers } from '../desk/budget-book.ts'
import { known, zoneOf } from '../schedule-agent.ts'
import { forecastBudget } from './budget-forecast.ts'
import { addRuns, emptySum, viewBasis, viewFigures, type Sum } from './figures.ts'
import { loadHabits } from './habits.ts'
import { loadPlan, MOST_SCHEDULES, type Plan } from './plan.ts'
import { countingOf, slicing, type Series, type Window } from './series.ts'
import { sourceOf, type Origin, type Source } from './source.ts'

const USUAL_DAYS = 30
const MOST_DAYS = 92

/** What a forecast looks with. */
export type Looking = Pick<Ports, 'database' | 'clock' | 'computations'>

/** Reads how many days are wanted. */
export function daysIn(value: unknown): number {
  const read =
    value === undefined || value === null ? parsed(USUAL_DAYS) : parseInteger('days', value, { min: 1, max: MOST_DAYS })
  if (!read.ok) throw invalid(read.flaws)
  return read.value
}

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
  const origins = plan.origins.filter((origin) => !standsStill(origin, budgets))
  const sources = await withUse(ports, { orgId }, { origins, budgets })
  const counting = countingOf({ orgId, computations: ports.computations }, sources, window)
  const series = await counting.inZone(zone)
  const reserved = budgets.length === 0 ? new Map<string, number>() : await loadReserved(database, { orgId })
  const outlooks = budgets.map((budget) =>
    forecastBudget({ budget, reserved: reserved.get(budget.id) ?? 0, now, counting }),
  )
  return {
    ...{ from: formatInstant(window.from), to: formatInstant(window.to), timezone: zone.name },
    ...(await summed(series)),
    budgets: await Promise.all(outlooks),
    notes: notesOf(sources, plan),
  }
}

/** Under a budget that is paused nothing starts until a person resumes it. */
const standsStill = (origin: Origin, budgets: readonly BudgetOnRecord[]): boolean =>
  budgets.some(({ pausedAt, scope }) => pausedAt !== null && covers(scope, origin))

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

async function summed({ days, runs }: Series): Promise<Pick<ForecastView, 'total' | 'days' | 'sources' | 'agents'>> {
  const breathe = slicing()
  const total = emptySum()
  const perDay = days.map(emptySum)
  const perAgent = new Map<string, Sum>()
  const perSource: { readonly source: Source; readonly sum: Sum }[] = []
  for (const [source, made] of runs) {
    const sum = emptySum()
    const agent = perAgent.get(source.agentId) ?? emptySum()
    perAgent.set(source.agentId, agent)
    made.forEach((count, place) => {
      const day = perDay[place]
      for (const one of day === undefined ? [total, sum, agent] : [total, sum, agent, day]) addRuns(one, source, count)
    })
    if (sum.runs > 0) perSource.push({ source, sum })
    await breathe(days.length)
  }
  return {
    total: viewFigures(total),
    days: days.map(({ date }, place) => ({ date, ...viewFigures(perDay[place] ?? emptySum()) })),
    sources: perSource.toSorted((a, b) => weigh(b.sum) - weigh(a.sum) || b.sum.runs - a.sum.runs).map(viewSource),
    agents: [...perAgent]
      .map(([id, sum]) => ({ agent_id: id, ...viewFigures(sum) }))
      .filter(({ runs: made }) => made > 0),
  }
}

const weigh = ({ use }: Sum): number => use.money.expected || use.tokens.expected

const viewSource = ({
  source,
  sum,
}: {
  readonly source: Source
  readonly sum: Sum
}): ForecastView['sources'][number] => ({
  ...{ kind: source.kind, name: source.name, schedule_id: source.scheduleId, agent_id: source.agentId },
  ...viewFigures(sum),
  based_on: viewBasis(source),
})

/** What the forecast takes for granted, and what it does not know. */
export const ASSUMED =
  'Every occurrence is taken for one run: what policies hold back is not taken off. Left out are runs under a paused ' +
  'budget and heartbeats without a route; of runs with a probe, the share that it has started so far is charged.'

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
