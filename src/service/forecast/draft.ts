import type { BudgetEffect, ScheduleForecast, ScheduleForecastInput } from '../../features/forecast/schema.ts'
import { pacedOf, paceInterval, startPace } from '../../domain/schedule/pace/pace.ts'
import { boundsText, everyText } from '../../domain/schedule/pace/describe.ts'
import { scheduleId, type AgentId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Zone } from '../../core/time/zone.ts'
import { loadAgents } from '../../features/agents/store.ts'
import { loadBudgets, type BudgetOnRecord } from '../../features/budgets/store.ts'
import { loadOrg } from '../../features/access/orgs-store.ts'
import { loadSchedules } from '../../store/schedules.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { Caller } from '../caller.ts'
import { covers } from '../desk/budget-book.ts'
import { accepted, agentFor, known, zoneOf } from '../schedule-agent.ts'
import { ownBudgetId, ownBudgetOf, termsIn } from '../schedule-budget.ts'
import { noSchedule } from '../schedule-editing.ts'
import { parseSchedule } from '../schedule-input.ts'
import { newSchedule } from '../../features/schedules/new-schedule.ts'
import { viewBudgetForecast } from './budget-forecast.ts'
import { ASSUMED, daysIn, loadReservedOf, windowFrom, withUse, type Looking } from './forecast.ts'
import { loadPlan, originOf, type Source } from './plan.ts'
import {
  addCourse,
  countRuns,
  emptySum,
  type Plays,
  playSeries,
  type Series,
  type Sum,
  viewBasis,
  viewFigures,
  type Window,
} from './series.ts'

/** Under this id stands a schedule that nobody has made yet. */
const DRAFT = scheduleId('sch_draft')

/** What a schedule would use before it is saved, and what becomes of the budgets it would use. Nothing is kept. */
export async function forecastDraft(
  ports: Looking,
  caller: Caller,
  { input, seesBudgets }: { readonly input: ScheduleForecastInput; readonly seesBudgets: boolean },
): Promise<ScheduleForecast> {
  const now = ports.clock.now()
  const draft = await readDraft(ports, caller, { input, now })
  const window = windowFrom(now, daysIn(draft.days))
  const budgets = await budgetsOf(ports, caller, { draft, now })
  const { mine, series } = await countedWith(ports, caller, { draft, budgets, window })
  const reserved = await loadReservedOf(ports, caller.orgId, budgets.after)
  const playOf = (onRecord: readonly BudgetOnRecord[], without: Source | null): Promise<Plays> => {
    const runs = new Map([...series.runs].filter(([source]) => source !== without))
    return playSeries({ ...series, runs }, { budgets: onRecord, reserved, now })
  }
  const after = await playOf(budgets.after, mine.before)
  const before = await playOf(budgets.before, mine.after)
  const figures = figuresOf(after, mine.after)
  const effects = seesBudgets ? effectsOf(budgets, { before, after }) : []
  return {
    ...{ from: formatInstant(window.from), to: formatInstant(window.to), timezone: draft.zone.name },
    figures: viewFigures(figures.ran),
    held_back: viewFigures(figures.heldBack),
    before: mine.before === null ? null : viewFigures(figuresOf(before, mine.before).ran),
    based_on: viewBasis(mine.after),
    budgets: effects,
    warnings: effects.flatMap(warningOf),
    notes: notesOf(draft, mine.after),
  }
}

function figuresOf(plays: Plays, source: Source): { readonly ran: Sum; readonly heldBack: Sum } {
  const sums = { ran: emptySum(), heldBack: emptySum() }
  addCourse(plays, source, sums)
  return sums
}

interface Draft {
  readonly after: ScheduleRow
  /** Null: it is new. */
  readonly existing: ScheduleRow | null
  readonly zone: Zone
  readonly days: number | null | undefined
}

async function readDraft(
  { database }: Looking,
  caller: Caller,
  { input, now }: { readonly input: ScheduleForecastInput; readonly now: Instant },
): Promise<Draft> {
  const { id, days, ...change } = input
  const { orgId } = caller
  const existing = await loadExisting({ database }, caller, id)
  const org = known(await loadOrg(database, orgId), orgId)
  const load = async (agent: AgentId) => (await loadAgents(database, { orgId, ids: [agent] }))[0]
  const agent = await agentFor(load, { org, input: change, existing, id: existing?.id ?? DRAFT })
  const zone = zoneOf(org)
  const read = accepted(parseSchedule(change, { now, defaultZone: zone, agent, existing }))
  const { timingChanged, enabled: _enabled, ...fields } = read
  const changed = timingChanged ? { ...fields, pace: startPace(read.timing, now) } : fields
  const row = existing === null ? newSchedule(read, { caller, now, id: DRAFT }) : { ...existing, ...changed }
  // One that is off is judged as if it were on: that is when it will cost something.
  return { after: { ...row, watermark: now }, existing, zone, days }
}

async function loadExisting(
  { database }: Pick<Looking, 'database'>,
  { orgId }: Caller,
  id: string | null | undefined,
): Promise<ScheduleRow | null> {
  if (id === undefined || id === null) return null
  const [found] = await loadSchedules(database, { orgId, ids: [scheduleId(id)] })
  if (found === undefined) throw noSchedule(id)
  return found
}

/** A budget that the schedule would use, as it is on record and as it would be. */
interface Affected {
  readonly before: BudgetOnRecord | null
  readonly after: BudgetOnRecord
}

/** All budgets of the org as they are and as they would be, and those that the schedule uses or would use. */
interface DraftBudgets {
  readonly before: readonly BudgetOnRecord[]
  readonly after: readonly BudgetOnRecord[]
  readonly affected: readonly Affected[]
}

/** The schedule's own budget is the one it is to have. */
async function budgetsOf(
  { database }: Looking,
  { orgId }: Caller,
  { draft, now }: { readonly draft: Draft; readonly now: Instant },
): Promise<DraftBudgets> {
  const { after, existing } = draft
  const spenders = [after, ...(existing === null ? [] : [existing])].map(({ agentId, id, owner }) => ({
    agentId,
    scheduleId: id,
    owner,
  }))
  const all = await loadBudgets(database, { orgId })
  const own = ownBudgetId(after.id)
  const others = all.filter(({ id }) => id !== own)
  const affected = others
    .filter(({ scope }) => spenders.some((spender) => covers(scope, spender)))
    .map((budget) => ({ before: budget, after: budget }))
  const terms = termsIn(after)
  if (terms === null) return { before: all, after: others, affected }
  const before = all.find(({ id }) => id === own) ?? null
  const made = { ...ownBudgetOf(after, terms, now), uses: before?.uses ?? [], pausedAt: before?.pausedAt ?? null }
  return { before: all, after: [made, ...others], affected: [{ before, after: made }, ...affected] }
}

interface Mine {
  readonly before: Source | null
  readonly after: Source
}

/** Counts the schedule before and after, and everything else that uses the same budgets. */
async function countedWith(
  ports: Looking,
  caller: Caller,
  { draft, budgets, window }: { readonly draft: Draft; readonly budgets: DraftBudgets; readonly window: Window },
): Promise<{ readonly mine: Mine; readonly series: Series }> {
  const { orgId } = caller
  const { existing, after, zone } = draft
  const shared = budgets.affected.filter(({ after: { scope } }) => scope.kind !== 'schedule')
  const plan = shared.length === 0 ? null : await loadPlan(ports.database, { orgId, now: window.from })
  const rest = (plan?.origins ?? []).filter(
    (origin) =>
      (origin.scheduleId === null || origin.scheduleId !== existing?.id) &&
      shared.some(({ after: { scope } }) => covers(scope, origin)),
  )
  const isOn = existing?.state === 'active'
  const origins = [originOf(after), ...(existing !== null && isOn ? [originOf(existing)] : []), ...rest]
  const sources = await withUse(ports, { orgId }, { origins, budgets: budgets.after })
  const [mine, before] = sources
  if (mine === undefined) throw new Error('a draft makes no source')
  const others = [...budgets.before, ...budgets.after].map(({ timezone }) => timezone)
  const computing = { orgId, computations: ports.computations }
  return {
    mine: { after: mine, before: isOn ? (before ?? null) : null },
    series: await countRuns(computing, sources, { window, zone, others }),
  }
}

const effectsOf = (
  { affected }: DraftBudgets,
  plays: { readonly before: Plays; readonly after: Plays },
): readonly BudgetEffect[] =>
  affected.map(({ before, after }) => ({
    before: before === null ? null : viewBudgetForecast(before, plays.before),
    after: viewBudgetForecast(after, plays.after),
  }))

/** Only what the schedule makes worse: a budget that is used up anyway is no news in its editor. */
function warningOf({ before, after }: BudgetEffect): readonly string[] {
  const [was, will] = [before?.used_up_at ?? null, after.used_up_at]
  if (will === null || (was !== null && was <= will)) return []
  const whose = after.agent_id ?? after.owner ?? (after.schedule_id === null ? 'the org' : 'the schedule')
  const what = `${after.amount} ${after.unit} per ${after.period} of ${whose}`
  return [`With it, the budget of ${what} is used up about ${will}. ${after.sentence}`]
}

/** At the bounds it would be more or less than at the pace it has: how much is said, because nobody knows what it will find. */
function paceNotes(row: ScheduleRow): readonly string[] {
  const timing = pacedOf(row.timing)
  if (timing === null || row.pace === null) return []
  const every = everyText(paceInterval(timing, row.pace.level))
  return [`It is counted at its present pace, ${every}; its cadence lets it come ${boundsText(timing.cadence)} apart.`]
}

function notesOf({ after, existing }: Draft, { use }: Source): readonly string[] {
  const isOff = after.state !== 'active' && after.state !== 'finished' && existing !== null
  return [
    ASSUMED,
    ...(isOff ? ['It is off; this is what it would use if it were on.'] : []),
    ...paceNotes(after),
    ...(use.tokens === null && use.money === null ? ['Nobody knows yet what a run of it uses.'] : []),
  ]
}
