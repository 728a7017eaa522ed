import type { ForecastSource } from './schema.ts'
import { type Amounts, amountsStated, amountsUsed } from '../../domain/budget/amounts.ts'
import { type BudgetUnit, reserveUnder } from '../../domain/budget/budget.ts'
import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import {
  type ExpectedUsage,
  type ForecastDay,
  estimateUsage,
  heartbeatRuns,
  maxWaiting,
  observedRuns,
  type PlannedSchedule,
  type RunsPerDay,
  scheduledRuns,
  type UsageSource,
} from '../../domain/forecast/runs-per-day.ts'
import type { AgentId, OrgId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { addAll, largest } from '../../domain/long-lists.ts'
import { heartbeatSubject, startedFraction } from '../../domain/probe/verdict.ts'
import type { BudgetWithPeriods } from '../budgets/store.ts'
import type { Connection } from '../../platform/db/database.ts'
import { loadEnabledHeartbeats } from '../heartbeats/store.ts'
import { loadProbes, type ProbeRow } from '../probes/store.ts'
import { listSchedules, type ScheduleRow } from '../schedules/store.ts'
import {
  loadChatRates,
  loadRecentUsageOfAgents,
  loadRecentUsageOfSchedules,
  loadTaskRates,
  type ObservedRate,
  type RunUsage,
} from '../budgets/usage-store.ts'
import { covers, TYPICAL_USAGE_RUNS, type Spender } from '../../engine/org-state/budget-usage.ts'
import { storedHeartbeatConfig, filterRoutable } from '../heartbeats/view.ts'

/** A forecast includes at most this many schedules, newest first. */
export const MAX_FORECAST_SCHEDULES = 10_000

/** Everything that creates runs on a plan or did so regularly. */
export interface ForecastPlan {
  readonly origins: readonly RunOrigin[]
  readonly omittedCount: number
  /** Number of schedules with a cadence, which are counted at their current interval. */
  readonly pacedCount: number
}

/** The plan of an org: active schedules and heartbeats, and chats and tasks at their recent rate. */
export async function loadForecastPlan(
  connection: Connection,
  { orgId, now }: { readonly orgId: OrgId; readonly now: Instant },
): Promise<ForecastPlan> {
  const schedules = await loadActiveSchedules(connection, orgId)
  const heartbeats = await loadEnabledHeartbeats(connection, { orgId, limit: MAX_FORECAST_SCHEDULES })
  // A heartbeat without a route starts no agent.
  const reachable = await filterRoutable(connection, heartbeats, { orgId, now })
  const subjects = [
    ...schedules.flatMap(({ id, input }) => ((input['probe'] ?? null) === null ? [] : [id])),
    ...reachable.flatMap((row) => (storedHeartbeatConfig(row).probe === null ? [] : [heartbeatSubject(row.agentId)])),
  ]
  const probes = subjects.length === 0 ? new Map<string, ProbeRow>() : await loadProbes(connection, { orgId, subjects })
  const chats = await loadChatRates(connection, { orgId, now })
  const tasks = await loadTaskRates(connection, { orgId, now })
  const origins = [
    ...schedules
      .slice(0, MAX_FORECAST_SCHEDULES)
      .map((row) => ({ ...scheduleOrigin(row), started: startedFraction(probes.get(row.id)) })),
    ...reachable.map((row): RunOrigin => {
      const config = storedHeartbeatConfig(row)
      const { agentId, okStreak } = row
      const runsOn: RunOrigin['runsOn'] = (days) => heartbeatRuns(config, okStreak, days)
      const started = startedFraction(probes.get(heartbeatSubject(agentId)))
      const base = { kind: 'heartbeat', name: agentId, agentId, scheduleId: null, payload: null } as const
      // A waiting run blocks further heartbeats of its agent.
      return { ...base, runsOn, started, maxWaiting: 1 }
    }),
    ...chats.map((rate) => rateOrigin('chat', rate)),
    ...tasks.map((rate) => rateOrigin('tasks', rate)),
  ]
  const pacedCount = schedules.filter(({ pace }) => pace !== null).length
  return { origins, omittedCount: Math.max(0, schedules.length - MAX_FORECAST_SCHEDULES), pacedCount }
}

/** Page size: parsing schedules blocks the event loop, so they are loaded in small pages. */
const SCHEDULE_PAGE_SIZE = 100

async function loadActiveSchedules(connection: Connection, orgId: OrgId): Promise<readonly ScheduleRow[]> {
  const found: ScheduleRow[] = []
  for (;;) {
    const last = found.at(-1)
    const after = last === undefined ? null : { value: last.createdAt, id: last.id }
    const page = { orgId, state: 'active', sort: '-created_at', after, limit: SCHEDULE_PAGE_SIZE } as const
    const rows = await listSchedules(connection, page)
    addAll(found, rows)
    if (rows.length < SCHEDULE_PAGE_SIZE || found.length > MAX_FORECAST_SCHEDULES) return found
  }
}

/** A schedule as an origin of runs. */
export function scheduleOrigin(row: ScheduleRow): RunOrigin {
  const { id, name, agentId, owner, payload, rules, fires, watermark } = row
  // The current interval, because the results that change it are not known yet.
  const timing = plannedTiming(row)
  const planned = { timing, maxFires: rules.maxFires, fires, watermark }
  const runsOn: RunOrigin['runsOn'] = (days) => scheduledRuns(planned, days)
  const waiting = { maxWaiting: maxWaiting(rules) }
  const base = { kind: 'schedule', name, agentId, scheduleId: id, owner, payload, runsOn, ...waiting } as const
  return timing.kind === 'rrule' ? { ...base, rule: planned } : base
}

const rateOrigin = (kind: 'chat' | 'tasks', { agentId, perDay }: ObservedRate): RunOrigin => ({
  ...{ kind, name: inlineKindOf(agentId) ?? agentId, agentId, scheduleId: null, payload: null },
  runsOn: (days) => observedRuns(perDay, days),
})

/** A source of runs: how many on given days, and the expected usage of each. */
export interface RunSource extends Spender {
  readonly kind: ForecastSource['kind']
  readonly name: string
  readonly runsOn: (days: readonly ForecastDay[]) => RunsPerDay
  /** Set for a recurrence rule, which is counted in another thread because that may take long. */
  readonly rule?: PlannedSchedule | undefined
  /** The share of its runs whose probe starts the agent; the others use nothing. Omitted: all. */
  readonly started?: number | undefined
  /** How many of its runs may wait at once for a budget that queues. Omitted: no limit. */
  readonly maxWaiting?: number | undefined
  readonly use: Readonly<Record<BudgetUnit, ExpectedUsage | null>>
  readonly basis: Readonly<Record<BudgetUnit, UsageSource>>
  /** How many recent runs the estimate is based on. */
  readonly sampleSize: number
  /** The amount that must remain of a budget for one of its runs to start. */
  readonly reserveUnder: (budget: BudgetWithPeriods) => number
}

/** A source before the usage of its runs is known. */
export interface RunOrigin extends Spender {
  readonly kind: ForecastSource['kind']
  readonly name: string
  readonly payload: unknown
  readonly runsOn: RunSource['runsOn']
  readonly started?: RunSource['started']
  readonly rule?: RunSource['rule']
  readonly maxWaiting?: RunSource['maxWaiting']
}

/** Adds the expected usage of its runs. */
export function toRunSource(
  origin: RunOrigin,
  recentUsage: RecentUsage,
  budgets: readonly BudgetWithPeriods[],
): RunSource {
  const { payload, ...base } = origin
  const scheduleUsage = base.scheduleId === null ? [] : (recentUsage.schedules.get(base.scheduleId) ?? [])
  const agentUsage = recentUsage.agents.get(base.agentId) ?? []
  const stated = amountsStated(payload)
  const guess = (unit: BudgetUnit): ReturnType<typeof estimateUsage> =>
    estimateUsage({
      ofSchedule: scheduleUsage.flatMap((used) => used[unit] ?? []),
      ofAgent: agentUsage.flatMap((used) => used[unit] ?? []),
      stated: stated[unit],
      defaultReserve: largestReserve(budgets, base, unit),
    })
  const [tokens, money] = [guess('tokens'), guess('money')]
  return {
    ...base,
    use: { tokens: tokens.use, money: money.use },
    basis: { tokens: tokens.source, money: money.source },
    sampleSize: scheduleUsage.length > 0 ? scheduleUsage.length : agentUsage.length,
    reserveUnder: (budget) => {
      const last = budget.scope.kind === 'schedule' ? scheduleUsage : agentUsage
      const used = last.flatMap((amounts) => amounts[budget.unit] ?? [])
      return reserveUnder(budget, stated[budget.unit], used)
    },
  }
}

/** The largest default reserve of the budgets that cover the spender, as an estimate of a run's usage. */
function largestReserve(budgets: readonly BudgetWithPeriods[], spender: Spender, unit: BudgetUnit): number | null {
  const found = budgets.filter((budget) => budget.unit === unit && covers(budget.scope, spender))
  return found.length === 0 ? null : largest(found.map(({ defaultReserve }) => defaultReserve))
}

/** The usage of recent runs, by schedule and by agent. */
interface RecentUsage {
  readonly schedules: ReadonlyMap<ScheduleId, readonly Amounts[]>
  readonly agents: ReadonlyMap<AgentId, readonly Amounts[]>
}

/** How many schedules or agents are queried in one statement. */
const IDS_PER_QUERY = 500

/** How many runs are searched for reported usage, because an agent that reports none may have thousands. */
const MAX_RUNS_FOR_USAGE = 60

/** Loads the usage of the last runs of these schedules and agents, as many of each as budgets consider. */
export async function loadRecentUsage(
  connection: Connection,
  orgId: OrgId,
  wanted: { readonly schedules: readonly ScheduleId[]; readonly agents: readonly AgentId[] },
): Promise<RecentUsage> {
  const schedules = new Map<ScheduleId, Amounts[]>()
  const agents = new Map<AgentId, Amounts[]>()
  for (const ids of inChunks(wanted.schedules))
    for (const run of await loadRecentUsageOfSchedules(connection, {
      orgId,
      ids,
      perId: TYPICAL_USAGE_RUNS,
      searchLimit: MAX_RUNS_FOR_USAGE,
    }))
      if (run.scheduleId !== null) addRunUsage(schedules, run.scheduleId, run)
  for (const ids of inChunks(wanted.agents))
    for (const run of await loadRecentUsageOfAgents(connection, {
      orgId,
      ids,
      perId: TYPICAL_USAGE_RUNS,
      searchLimit: MAX_RUNS_FOR_USAGE,
    }))
      addRunUsage(agents, run.agentId, run)
  return { schedules, agents }
}

function addRunUsage<Id>(recentUsage: Map<Id, Amounts[]>, id: Id, { usage }: RunUsage): void {
  const amounts = recentUsage.get(id)
  if (amounts === undefined) recentUsage.set(id, [amountsUsed(usage)])
  else amounts.push(amountsUsed(usage))
}

function* inChunks<Id>(ids: readonly Id[]): Generator<readonly Id[]> {
  for (let from = 0; from < ids.length; from += IDS_PER_QUERY) yield ids.slice(from, from + IDS_PER_QUERY)
}
