import type { BudgetEffect, BudgetForecast, ScheduleForecast, ScheduleForecastInput } from '../../contract/forecast.ts'
import { invalid } from '../../contract/refusals.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import { pacedOf, paceInterval, startPace } from '../../core/cadence/pace.ts'
import { boundsText, everyText } from '../../core/cadence/sentence.ts'
import { scheduleId, type AgentId } from '../../core/ids.ts'
import { formatInstant, type Instant } from '../../core/instant.ts'
import type { Zone } from '../../core/time/zone.ts'
import { loadAgents } from '../../store/agents.ts'
import { loadBudgets, loadReserved, type BudgetOnRecord } from '../../store/budgets.ts'
import { loadOrg } from '../../store/orgs.ts'
import { loadSchedules } from '../../store/schedules.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { Caller } from '../caller.ts'
import { covers } from '../desk/budget-book.ts'
import { parseObject } from '../input-fields.ts'
import { accepted, agentFor, known, zoneOf } from '../schedule-agent.ts'
import { ownBudgetId, ownBudgetOf, termsIn } from '../schedule-budget.ts'
import { noSchedule } from '../schedule-editing.ts'
import { parseSchedule } from '../schedule-input.ts'
import { newSchedule } from '../schedules.ts'
import { forecastBudget } from './budget-forecast.ts'
import { addRuns, emptySum, viewBasis, viewFigures } from './figures.ts'
import { ASSUMED, daysIn, windowFrom, withUse, type Looking } from './forecast.ts'
import { loadPlan, originOf } from './plan.ts'
import { countingOf, type Counting, type Window } from './series.ts'
import type { Source } from './source.ts'

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
  const budgets = await affected(ports, caller, { draft, now })
  const { mine, counting } = await countedWith(ports, caller, { draft, budgets, window })
  const series = await counting.inZone(draft.zone)
  const figuresOf = (source: Source) => {
    const sum = emptySum()
    for (const runs of series.runs.get(source) ?? []) addRuns(sum, source, runs)
    return viewFigures(sum)
  }
  const effects = seesBudgets ? await effectsOf(ports, caller, { mine, counting, budgets, now }) : []
  return {
    ...{ from: formatInstant(window.from), to: formatInstant(window.to), timezone: draft.zone.name },
    figures: figuresOf(mine.after),
    before: mine.before === null ? null : figuresOf(mine.before),
    based_on: viewBasis(mine.after),
    budgets: effects,
    warnings: effects.flatMap(warningOf),
    notes: notesOf(draft, mine.after),
  }
}

interface Draft {
  readonly after: ScheduleRow
  /** Null: it is new. */
  readonly existing: ScheduleRow | null
  readonly zone: Zone
  readonly days: unknown
}

async function readDraft(
  { database }: Looking,
  caller: Caller,
  { input, now }: { readonly input: ScheduleForecastInput; readonly now: Instant },
): Promise<Draft> {
  const object = parseObject('schedule', input)
  if (!object.ok) throw invalid(object.flaws)
  const { id, days, ...given } = object.value
  const { orgId } = caller
  const existing = await loadExisting({ database }, caller, id)
  const org = known(await loadOrg(database, orgId), orgId)
  const change = given as ScheduleInput
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
  id: unknown,
): Promise<ScheduleRow | null> {
  if (id === undefined || id === null) return null
  if (typeof id !== 'string') throw invalid([{ field: 'id', value: id, message: 'must be a text' }])
  const [found] = await loadSchedules(database, { orgId, ids: [scheduleId(id)] })
  if (found === undefined) throw noSchedule(id)
  return found
}

/** A budget that the schedule would use, as it is on record and as it would be. */
interface Affected {
  readonly before: BudgetOnRecord | null
  readonly after: BudgetOnRecord
}

/** The budgets that cover the schedule as it is or as it is to be; its own is the one it is to have. */
async function affected(
  { database }: Looking,
  { orgId }: Caller,
  { draft, now }: { readonly draft: Draft; readonly now: Instant },
): Promise<readonly Affected[]> {
  const { after, existing } = draft
  const spenders = [after, ...(existing === null ? [] : [existing])].map(({ agentId, id, owner }) => ({
    agentId,
    scheduleId: id,
    owner,
  }))
  const all = await loadBudgets(database, { orgId })
  const found = all.filter(({ scope }) => spenders.some((spender) => covers(scope, spender)))
  const own = ownBudgetId(after.id)
  const others = found.filter(({ id }) => id !== own).map((budget) => ({ before: budget, after: budget }))
  const terms = termsIn(after)
  if (terms === null) return others
  const before = found.find(({ id }) => id === own) ?? null
  const made = { ...ownBudgetOf(after, terms, now), uses: before?.uses ?? [], pausedAt: before?.pausedAt ?? null }
  return [{ before, after: made }, ...others]
}

interface Mine {
  readonly before: Source | null
  readonly after: Source
}

/** Counts the schedule before and after, and everything else that uses the same budgets. */
async function countedWith(
  ports: Looking,
  caller: Caller,
  { draft, budgets, window }: { readonly draft: Draft; readonly budgets: readonly Affected[]; readonly window: Window },
): Promise<{ readonly mine: Mine; readonly counting: Counting }> {
  const { orgId } = caller
  const { existing, after } = draft
  const shared = budgets.filter(({ after: { scope } }) => scope.kind !== 'schedule')
  const plan = shared.length === 0 ? null : await loadPlan(ports.database, { orgId, now: window.from })
  const others = (plan?.origins ?? []).filter(
    (origin) =>
      (origin.scheduleId === null || origin.scheduleId !== existing?.id) &&
      shared.some(({ after: { scope } }) => covers(scope, origin)),
  )
  const isOn = existing?.state === 'active'
  const origins = [originOf(after), ...(existing !== null && isOn ? [originOf(existing)] : []), ...others]
  const onRecord = budgets.map(({ after: budget }) => budget)
  const sources = await withUse(ports, { orgId }, { origins, budgets: onRecord })
  const [mine, before] = sources
  if (mine === undefined) throw new Error('a draft makes no source')
  return {
    mine: { after: mine, before: isOn ? (before ?? null) : null },
    counting: countingOf({ orgId, computations: ports.computations }, sources, window),
  }
}

interface Judging {
  readonly mine: Mine
  readonly counting: Counting
  readonly budgets: readonly Affected[]
  readonly now: Instant
}

async function effectsOf(
  { database }: Looking,
  { orgId }: Caller,
  { mine, counting, budgets, now }: Judging,
): Promise<readonly BudgetEffect[]> {
  if (budgets.length === 0) return []
  const reserved = await loadReserved(database, { orgId })
  return Promise.all(
    budgets.map(async ({ before, after }): Promise<BudgetEffect> => {
      const look = { reserved: reserved.get(after.id) ?? 0, now, counting }
      const withNew = forecastBudget({ ...look, budget: after, counts: (source) => source !== mine.before })
      const withOld = (budget: BudgetOnRecord): Promise<BudgetForecast> =>
        forecastBudget({ ...look, budget, counts: (source) => source !== mine.after })
      return { before: before === null ? null : await withOld(before), after: await withNew }
    }),
  )
}

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
