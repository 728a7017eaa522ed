import type { ForecastSource } from '../../features/forecast/schema.ts'
import { type Amounts, amountsStated, amountsUsed } from '../../core/budget/amounts.ts'
import { type BudgetUnit, reserveUnder } from '../../domain/budget/budget.ts'
import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { inlineKindOf } from '../../core/executor/inline-agent.ts'
import { type ExpectedUse, guessUse, type UseSource } from '../../core/forecast/expected-use.ts'
import {
  type ForecastDay,
  heartbeatRuns,
  maxWaiting,
  observedRuns,
  type PlannedSchedule,
  type RunsPerDay,
  scheduledRuns,
} from '../../domain/forecast/runs-per-day.ts'
import type { AgentId, OrgId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { addAll, largest } from '../../domain/long-lists.ts'
import { heartbeatSubject, startedShare } from '../../core/probe/asked.ts'
import type { BudgetOnRecord } from '../../features/budgets/store.ts'
import type { Connection } from '../../store/database.ts'
import { loadEnabledHeartbeats } from '../../features/heartbeats/store.ts'
import { loadProbes, type ProbeRow } from '../../features/probes/store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { listSchedules } from '../../store/schedules.ts'
import {
  loadChatRates,
  loadHabitsOfAgents,
  loadHabitsOfSchedules,
  loadTaskRates,
  type ObservedRate,
  type RunUsage,
} from '../../features/budgets/usage-store.ts'
import { covers, HABIT_RUNS, type Spender } from '../desk/budget-book.ts'
import { configOf, withRoute } from '../heartbeat/view.ts'

/** More schedules than these are not forecast; those that were made last are. */
export const MOST_SCHEDULES = 10_000

/** Everything that will make runs by itself or has done so regularly. */
export interface Plan {
  readonly origins: readonly Origin[]
  readonly leftOut: number
  /** Schedules whose interval moves by itself, which are counted at the pace they have. */
  readonly paced: number
}

/** The plan of an org: its active schedules and heartbeats, and what comes without a plan at the pace it had. */
export async function loadPlan(
  connection: Connection,
  { orgId, now }: { readonly orgId: OrgId; readonly now: Instant },
): Promise<Plan> {
  const schedules = await loadActive(connection, orgId)
  const heartbeats = await loadEnabledHeartbeats(connection, { orgId, limit: MOST_SCHEDULES })
  // Without a route no agent is started.
  const reaching = await withRoute(connection, heartbeats, { orgId, now })
  const subjects = [
    ...schedules.flatMap(({ id, input }) => ((input['probe'] ?? null) === null ? [] : [id])),
    ...reaching.flatMap((row) => (configOf(row).probe === null ? [] : [heartbeatSubject(row.agentId)])),
  ]
  const probes = subjects.length === 0 ? new Map<string, ProbeRow>() : await loadProbes(connection, { orgId, subjects })
  const chats = await loadChatRates(connection, { orgId, now })
  const tasks = await loadTaskRates(connection, { orgId, now })
  const origins = [
    ...schedules
      .slice(0, MOST_SCHEDULES)
      .map((row) => ({ ...originOf(row), started: startedShare(probes.get(row.id)) })),
    ...reaching.map((row): Origin => {
      const config = configOf(row)
      const { agentId, okStreak } = row
      const runsOn: Origin['runsOn'] = (days) => heartbeatRuns(config, okStreak, days)
      const started = startedShare(probes.get(heartbeatSubject(agentId)))
      const made = { kind: 'heartbeat', name: agentId, agentId, scheduleId: null, payload: null } as const
      // A heartbeat whose run waits keeps its agent busy.
      return { ...made, runsOn, started, maxWaiting: 1 }
    }),
    ...chats.map((rate) => observed('chat', rate)),
    ...tasks.map((rate) => observed('tasks', rate)),
  ]
  const paced = schedules.filter(({ pace }) => pace !== null).length
  return { origins, leftOut: Math.max(0, schedules.length - MOST_SCHEDULES), paced }
}

/** So many are read at once: a schedule has to be read and understood, and others wait meanwhile. */
const AT_ONCE = 100

async function loadActive(connection: Connection, orgId: OrgId): Promise<readonly ScheduleRow[]> {
  const found: ScheduleRow[] = []
  for (;;) {
    const last = found.at(-1)
    const after = last === undefined ? null : { value: last.createdAt, id: last.id }
    const page = { orgId, state: 'active', sort: '-created_at', after, limit: AT_ONCE } as const
    const rows = await listSchedules(connection, page)
    addAll(found, rows)
    if (rows.length < AT_ONCE || found.length > MOST_SCHEDULES) return found
  }
}

/** A schedule as something that makes runs. */
export function originOf(row: ScheduleRow): Origin {
  const { id, name, agentId, owner, payload, rules, fires, watermark } = row
  // At the pace it has now: what its runs will find is not foreseen.
  const timing = plannedTiming(row)
  const planned = { timing, maxFires: rules.maxFires, fires, watermark }
  const runsOn: Origin['runsOn'] = (days) => scheduledRuns(planned, days)
  const waiting = { maxWaiting: maxWaiting(rules) }
  const made = { kind: 'schedule', name, agentId, scheduleId: id, owner, payload, runsOn, ...waiting } as const
  return timing.kind === 'rrule' ? { ...made, rule: planned } : made
}

const observed = (kind: 'chat' | 'tasks', { agentId, perDay }: ObservedRate): Origin => ({
  ...{ kind, name: inlineKindOf(agentId) ?? agentId, agentId, scheduleId: null, payload: null },
  runsOn: (days) => observedRuns(perDay, days),
})

/** Something that makes runs, how many on given days, and what each is expected to use. */
export interface Source extends Spender {
  readonly kind: ForecastSource['kind']
  readonly name: string
  readonly runsOn: (days: readonly ForecastDay[]) => RunsPerDay
  /** Set for a recurrence rule, whose occurrences may take long to count: then it is counted elsewhere. */
  readonly rule?: PlannedSchedule | undefined
  /** The share of its runs whose probe starts the agent; the others use nothing. Left out: all. */
  readonly started?: number | undefined
  /** How many of its runs may wait at once for a budget that queues; left out: any number. */
  readonly maxWaiting?: number | undefined
  readonly use: Readonly<Record<BudgetUnit, ExpectedUse | null>>
  readonly basis: Readonly<Record<BudgetUnit, UseSource>>
  /** How many runs were looked at. */
  readonly seen: number
  /** What has to be left of a budget for a run of it to start. */
  readonly reserveUnder: (budget: BudgetOnRecord) => number
}

/** What a source is before anybody has looked at what its runs use. */
export interface Origin extends Spender {
  readonly kind: ForecastSource['kind']
  readonly name: string
  readonly payload: unknown
  readonly runsOn: Source['runsOn']
  readonly started?: Source['started']
  readonly rule?: Source['rule']
  readonly maxWaiting?: Source['maxWaiting']
}

/** Adds what is known about the use of its runs. */
export function sourceOf(origin: Origin, habits: Habits, budgets: readonly BudgetOnRecord[]): Source {
  const { payload, ...made } = origin
  const own = made.scheduleId === null ? [] : (habits.schedules.get(made.scheduleId) ?? [])
  const usual = habits.agents.get(made.agentId) ?? []
  const stated = amountsStated(payload)
  const guess = (unit: BudgetUnit): ReturnType<typeof guessUse> =>
    guessUse({
      ofSchedule: own.flatMap((used) => used[unit] ?? []),
      ofAgent: usual.flatMap((used) => used[unit] ?? []),
      stated: stated[unit],
      defaultReserve: reserveOf(budgets, made, unit),
    })
  const [tokens, money] = [guess('tokens'), guess('money')]
  return {
    ...made,
    use: { tokens: tokens.use, money: money.use },
    basis: { tokens: tokens.source, money: money.source },
    seen: own.length > 0 ? own.length : usual.length,
    reserveUnder: (budget) => {
      const last = budget.scope.kind === 'schedule' ? own : usual
      const used = last.flatMap((amounts) => amounts[budget.unit] ?? [])
      return reserveUnder(budget, stated[budget.unit], used)
    },
  }
}

/** Of the budgets that cover the spender, the one that sets most aside says what a run is expected to use. */
function reserveOf(budgets: readonly BudgetOnRecord[], spender: Spender, unit: BudgetUnit): number | null {
  const found = budgets.filter((budget) => budget.unit === unit && covers(budget.scope, spender))
  return found.length === 0 ? null : largest(found.map(({ defaultReserve }) => defaultReserve))
}

/** What the last runs used, by schedule and by agent. */
interface Habits {
  readonly schedules: ReadonlyMap<ScheduleId, readonly Amounts[]>
  readonly agents: ReadonlyMap<AgentId, readonly Amounts[]>
}

/** So many schedules are asked about in one statement. */
const SOURCES_AT_ONCE = 500

/** Of somebody who reports nothing so many runs are looked through: there may be thousands of them. */
const LOOKED_THROUGH = 60

/** Reads what the last runs of these schedules and agents used, as many of each as budgets look at. */
export async function loadHabits(
  connection: Connection,
  orgId: OrgId,
  wanted: { readonly schedules: readonly ScheduleId[]; readonly agents: readonly AgentId[] },
): Promise<Habits> {
  const schedules = new Map<ScheduleId, Amounts[]>()
  const agents = new Map<AgentId, Amounts[]>()
  for (const ids of inParts(wanted.schedules))
    for (const run of await loadHabitsOfSchedules(connection, {
      orgId,
      ids,
      each: HABIT_RUNS,
      lookThrough: LOOKED_THROUGH,
    }))
      if (run.scheduleId !== null) add(schedules, run.scheduleId, run)
  for (const ids of inParts(wanted.agents))
    for (const run of await loadHabitsOfAgents(connection, {
      orgId,
      ids,
      each: HABIT_RUNS,
      lookThrough: LOOKED_THROUGH,
    }))
      add(agents, run.agentId, run)
  return { schedules, agents }
}

function add<Id>(habits: Map<Id, Amounts[]>, id: Id, { usage }: RunUsage): void {
  const known = habits.get(id)
  if (known === undefined) habits.set(id, [amountsUsed(usage)])
  else known.push(amountsUsed(usage))
}

function* inParts<Id>(ids: readonly Id[]): Generator<readonly Id[]> {
  for (let from = 0; from < ids.length; from += SOURCES_AT_ONCE) yield ids.slice(from, from + SOURCES_AT_ONCE)
}
