import type { BudgetEffect, ScheduleForecast, ScheduleForecastInput } from './schema.ts'
import { pacedOf, paceInterval, startPace } from '../../domain/schedule/pace/pace.ts'
import { boundsText, everyText } from '../../domain/schedule/pace/describe.ts'
import { scheduleId, type AgentId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Zone } from '../../domain/time/zone.ts'
import { loadAgents } from '../agents/store.ts'
import { loadBudgets, type BudgetWithPeriods } from '../budgets/store.ts'
import { loadOrg } from '../access/orgs-store.ts'
import { loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import type { Caller } from '../access/caller.ts'
import { covers } from '../../engine/org-state/budget-usage.ts'
import { valueOrRefuse, agentForSchedule, existingOrg, orgZone } from '../schedules/agent-and-target.ts'
import { ownBudgetId, newOwnBudget, ownBudgetTerms } from '../schedules/budget.ts'
import { scheduleNotFound } from '../schedules/editing.ts'
import { parseSchedule } from '../schedules/input.ts'
import { newScheduleRow } from '../schedules/new-schedule.ts'
import {
  FORECAST_ASSUMPTIONS,
  daysOrDefault,
  loadReservedOf,
  type ForecastPorts,
  viewBudgetForecast,
  windowFrom,
  withExpectedUsage,
} from './service.ts'
import { loadForecastPlan, scheduleOrigin, type RunSource } from './plan.ts'
import {
  addSourceCourse,
  countRuns,
  emptySum,
  type ForecastResults,
  simulateSeries,
  type RunSeries,
  type ForecastSum,
  viewBasis,
  viewFigures,
  type ForecastWindow,
} from './series.ts'

/** The id of a draft, which is not stored. */
const DRAFT_SCHEDULE_ID = scheduleId('sch_draft')

/** Forecasts the usage of a schedule before it is saved, and the effect on its budgets. Nothing is saved. */
export async function forecastDraft(
  ports: ForecastPorts,
  caller: Caller,
  { input, seesBudgets }: { readonly input: ScheduleForecastInput; readonly seesBudgets: boolean },
): Promise<ScheduleForecast> {
  const now = ports.clock.now()
  const draft = await parseForecastDraft(ports, caller, { input, now })
  const window = windowFrom(now, daysOrDefault(draft.days))
  const budgets = await loadDraftBudgets(ports, caller, { draft, now })
  const { mine, series } = await countDraftRuns(ports, caller, { draft, budgets, window })
  const reserved = await loadReservedOf(ports, caller.orgId, budgets.after)
  const playOf = (onRecord: readonly BudgetWithPeriods[], without: RunSource | null): Promise<ForecastResults> => {
    const runs = new Map([...series.runs].filter(([source]) => source !== without))
    return simulateSeries({ ...series, runs }, { budgets: onRecord, reserved, now })
  }
  const after = await playOf(budgets.after, mine.before)
  const before = await playOf(budgets.before, mine.after)
  const figures = sourceSums(after, mine.after)
  const effects = seesBudgets ? budgetEffects(budgets, { before, after }) : []
  return {
    ...{ from: formatInstant(window.from), to: formatInstant(window.to), timezone: draft.zone.name },
    figures: viewFigures(figures.ran),
    held_back: viewFigures(figures.heldBack),
    before: mine.before === null ? null : viewFigures(sourceSums(before, mine.before).ran),
    based_on: viewBasis(mine.after),
    budgets: effects,
    warnings: effects.flatMap(budgetWarnings),
    notes: draftNotes(draft, mine.after),
  }
}

function sourceSums(
  results: ForecastResults,
  source: RunSource,
): { readonly ran: ForecastSum; readonly heldBack: ForecastSum } {
  const sums = { ran: emptySum(), heldBack: emptySum() }
  addSourceCourse(results, source, sums)
  return sums
}

interface ForecastDraft {
  readonly after: ScheduleRow
  /** Null: the schedule is new. */
  readonly existing: ScheduleRow | null
  readonly zone: Zone
  readonly days: number | null | undefined
}

async function parseForecastDraft(
  { database }: ForecastPorts,
  caller: Caller,
  { input, now }: { readonly input: ScheduleForecastInput; readonly now: Instant },
): Promise<ForecastDraft> {
  const { id, days, ...change } = input
  const { orgId } = caller
  const existing = await loadExisting({ database }, caller, id)
  const org = existingOrg(await loadOrg(database, orgId), orgId)
  const load = async (agent: AgentId) => (await loadAgents(database, { orgId, ids: [agent] }))[0]
  const agent = await agentForSchedule(load, { org, input: change, existing, id: existing?.id ?? DRAFT_SCHEDULE_ID })
  const zone = orgZone(org)
  const read = valueOrRefuse(parseSchedule(change, { now, defaultZone: zone, agent, existing }))
  const { timingChanged, enabled: _enabled, ...fields } = read
  const changed = timingChanged ? { ...fields, pace: startPace(read.timing, now) } : fields
  const row =
    existing === null ? newScheduleRow(read, { caller, now, id: DRAFT_SCHEDULE_ID }) : { ...existing, ...changed }
  // A disabled schedule is forecast as if it were enabled, because it uses nothing while disabled.
  return { after: { ...row, watermark: now }, existing, zone, days }
}

async function loadExisting(
  { database }: Pick<ForecastPorts, 'database'>,
  { orgId }: Caller,
  id: string | null | undefined,
): Promise<ScheduleRow | null> {
  if (id === undefined || id === null) return null
  const [found] = await loadSchedules(database, { orgId, ids: [scheduleId(id)] })
  if (found === undefined) throw scheduleNotFound(id)
  return found
}

/** A budget of the schedule, as stored and after the change. */
interface AffectedBudget {
  readonly before: BudgetWithPeriods | null
  readonly after: BudgetWithPeriods
}

/** All budgets of the org before and after the change, and those that apply to the schedule. */
interface DraftBudgets {
  readonly before: readonly BudgetWithPeriods[]
  readonly after: readonly BudgetWithPeriods[]
  readonly affected: readonly AffectedBudget[]
}

/** Loads the budgets, with the schedule's own budget as the draft defines it. */
async function loadDraftBudgets(
  { database }: ForecastPorts,
  { orgId }: Caller,
  { draft, now }: { readonly draft: ForecastDraft; readonly now: Instant },
): Promise<DraftBudgets> {
  const { after, existing } = draft
  const consumers = [after, ...(existing === null ? [] : [existing])].map(({ agentId, id, owner }) => ({
    agentId,
    scheduleId: id,
    owner,
  }))
  const all = await loadBudgets(database, { orgId })
  const ownId = ownBudgetId(after.id)
  const others = all.filter(({ id }) => id !== ownId)
  const affected = others
    .filter(({ scope }) => consumers.some((consumer) => covers(scope, consumer)))
    .map((budget) => ({ before: budget, after: budget }))
  const terms = ownBudgetTerms(after)
  if (terms === null) return { before: all, after: others, affected }
  const before = all.find(({ id }) => id === ownId) ?? null
  const ownBudget = { ...newOwnBudget(after, terms, now), uses: before?.uses ?? [], pausedAt: before?.pausedAt ?? null }
  return { before: all, after: [ownBudget, ...others], affected: [{ before, after: ownBudget }, ...affected] }
}

interface OwnSources {
  readonly before: RunSource | null
  readonly after: RunSource
}

/** Counts the runs of the schedule before and after, and of all other sources under the same budgets. */
async function countDraftRuns(
  ports: ForecastPorts,
  caller: Caller,
  {
    draft,
    budgets,
    window,
  }: { readonly draft: ForecastDraft; readonly budgets: DraftBudgets; readonly window: ForecastWindow },
): Promise<{ readonly mine: OwnSources; readonly series: RunSeries }> {
  const { orgId } = caller
  const { existing, after, zone } = draft
  const shared = budgets.affected.filter(({ after: { scope } }) => scope.kind !== 'schedule')
  const plan = shared.length === 0 ? null : await loadForecastPlan(ports.database, { orgId, now: window.from })
  const rest = (plan?.origins ?? []).filter(
    (origin) =>
      (origin.scheduleId === null || origin.scheduleId !== existing?.id) &&
      shared.some(({ after: { scope } }) => covers(scope, origin)),
  )
  const isOn = existing?.state === 'active'
  const origins = [scheduleOrigin(after), ...(existing !== null && isOn ? [scheduleOrigin(existing)] : []), ...rest]
  const sources = await withExpectedUsage(ports, { orgId }, { origins, budgets: budgets.after })
  const [mine, before] = sources
  if (mine === undefined) throw new Error('The draft has no source')
  const others = [...budgets.before, ...budgets.after].map(({ timezone }) => timezone)
  const computing = { orgId, computations: ports.computations }
  return {
    mine: { after: mine, before: isOn ? (before ?? null) : null },
    series: await countRuns(computing, sources, { window, zone, others }),
  }
}

const budgetEffects = (
  { affected }: DraftBudgets,
  results: { readonly before: ForecastResults; readonly after: ForecastResults },
): readonly BudgetEffect[] =>
  affected.map(({ before, after }) => ({
    before: before === null ? null : viewBudgetForecast(before, results.before),
    after: viewBudgetForecast(after, results.after),
  }))

/** Warns only if the schedule makes it worse: a budget that is exhausted anyway needs no warning here. */
function budgetWarnings({ before, after }: BudgetEffect): readonly string[] {
  const [was, will] = [before?.used_up_at ?? null, after.used_up_at]
  if (will === null || (was !== null && was <= will)) return []
  const whose = after.agent_id ?? after.owner ?? (after.schedule_id === null ? 'the org' : 'the schedule')
  const what = `${after.amount} ${after.unit} per ${after.period} of ${whose}`
  return [`With this schedule, the budget of ${what} is exhausted about ${will}. ${after.sentence}`]
}

/** Notes the bounds of a cadence, because the forecast uses the current interval. */
function paceNotes(row: ScheduleRow): readonly string[] {
  const timing = pacedOf(row.timing)
  if (timing === null || row.pace === null) return []
  const every = everyText(paceInterval(timing, row.pace.level))
  return [
    `It is counted at its current interval, ${every}; its cadence allows intervals ${boundsText(timing.cadence)}.`,
  ]
}

function draftNotes({ after, existing }: ForecastDraft, { use }: RunSource): readonly string[] {
  const isOff = after.state !== 'active' && after.state !== 'finished' && existing !== null
  return [
    FORECAST_ASSUMPTIONS,
    ...(isOff ? ['The schedule is disabled; the figures assume that it is enabled.'] : []),
    ...paceNotes(after),
    ...(use.tokens === null && use.money === null ? ['The usage of its runs is unknown so far.'] : []),
  ]
}
