import { invalid, Refusal } from '../../api/refusals.ts'
import { MOST_SCHEDULES, type SimulationBasis } from './schema.ts'
import type { AssumptionInput } from './result-schema.ts'
import { inlineKindOf } from '../../core/executor/inline-agent.ts'
import { agentId, scheduleId } from '../../domain/ids.ts'
import { formatInstant } from '../../domain/instant.ts'
import { startedShare } from '../../core/probe/asked.ts'
import { type AgentRow, listAgents } from '../agents/store.ts'
import { loadNodes } from '../nodes/store.ts'
import { loadOrg, type OrgRow } from '../access/orgs-store.ts'
import { loadProbes } from '../probes/store.ts'
import { loadProviders, type ProviderRow } from '../providers/store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { listSchedules, loadSchedules } from '../../store/schedules.ts'
import { findBudgets } from '../../service/budgets.ts'
import type { Caller } from '../../service/caller.ts'
import { readLaneSizes } from '../../service/lanes.ts'
import type { Ports } from '../../service/ports.ts'
import type {
  SimulatedAgent,
  SimulatedBudget,
  SimulatedProvider,
  SimulatedScheduleInput,
  SimulationTask,
} from './task.ts'
import type { ReadSimulation } from './input.ts'
import { type Past, readPast } from '../../service/simulate/past.ts'

/** What is computed, and what it is based on. */
export interface Gathered {
  readonly task: SimulationTask
  readonly basis: readonly SimulationBasis[]
}

/** Brings together everything a simulation needs. Reads a handful of times, however many schedules there are. */
export async function gather(ports: Ports, caller: Caller, asked: ReadSimulation): Promise<Gathered> {
  const { database } = ports
  const org = await loadOrg(database, caller.orgId)
  if (org === undefined) throw new Refusal('NOT_FOUND', `There is no org ${caller.orgId}`)
  const stored = await storedSchedules(ports, caller, asked)
  const agents = await listAgents(database, { orgId: caller.orgId })
  const past = await readPast(ports, caller.orgId, { asked, rows: stored })
  const given = givenSchedules(asked)
  const probes = await loadProbes(database, {
    orgId: caller.orgId,
    subjects: stored.filter(hasProbe).map(({ id }) => id),
  })
  const known = stored.map((row) => ({
    ...storedSchedule(row, asked, past),
    probe_started: startedShare(probes.get(row.id)),
  }))
  return {
    task: {
      ...baseOf(asked, org),
      schedules: [...given, ...known],
      agents: agents.map(viewAgent),
      budgets: asked.budgets ? (await findBudgets(ports, caller)).map(viewBudget) : [],
      own_budgets: asked.budgets,
      providers: (await loadProviders(database, { orgId: caller.orgId })).map(viewProvider),
      settings: await settingsFor(ports),
      interventions: [...asked.interventions, ...past.interventions],
      outages: asked.replay ? past.outages : asked.outages,
    },
    basis: [
      ...given.map(({ id }) => basisOf(id, 'given', past)),
      ...stored.map(({ id }) => basisOf(id, 'stored', past)),
    ],
  }
}

const hasProbe = ({ input }: ScheduleRow): boolean => (input['probe'] ?? null) !== null

const basisOf = (id: string, source: SimulationBasis['source'], past: Past): SimulationBasis => ({
  ...{ schedule_id: id, source },
  observed_runs: past.observed.get(id)?.runs ?? 0,
  recorded_attempts: past.recorded.get(id)?.length ?? 0,
})

const baseOf = (asked: ReadSimulation, org: OrgRow) => ({
  ...{ from: formatInstant(asked.from), to: formatInstant(asked.to), seed: asked.seed, max_rows: asked.maxRows },
  ...{ timezone: org.defaultTimezone, default_agent_id: org.defaultAgentId, assume: asked.assume },
  changes: asked.changes,
  org: { max_concurrent: org.maxConcurrent, runs_per_day: org.runsPerDay },
})

async function storedSchedules(
  { database }: Ports,
  { orgId }: Caller,
  asked: ReadSimulation,
): Promise<readonly ScheduleRow[]> {
  const named = await loadSchedules(database, { orgId, ids: asked.ids.map(scheduleId) })
  const byId = new Map<string, ScheduleRow>(named.map((row) => [row.id, row]))
  const missing = asked.ids.flatMap((id, index) => (byId.has(id) ? [] : [{ id, index }]))
  if (missing.length > 0)
    throw invalid(
      missing.map(({ id, index }) => ({ field: `ids.${index}`, value: id, message: 'names no schedule of the org' })),
    )
  const room = MOST_SCHEDULES - asked.schedules.length - named.length
  const active = asked.all
    ? await listSchedules(database, {
        ...{ orgId, state: 'active' as const, sort: 'next_run_at' as const, after: null, limit: MOST_SCHEDULES + 1 },
        agentId: asked.agentId === null ? null : agentId(asked.agentId),
      })
    : []
  const others = active.filter(({ id }) => !byId.has(id))
  if (others.length > room)
    throw invalid([
      {
        ...{ field: 'all', value: true, message: 'makes too many schedules' },
        allowed: `${MOST_SCHEDULES} schedules in all; agent_id narrows them down, or name them by ids`,
      },
    ])
  return [...named, ...others]
}

/** The schedule as it was given, and where it stands. One that is off is taken as if it were on: it was asked for. */
function storedSchedule(row: ScheduleRow, asked: ReadSimulation, past: Past): SimulatedScheduleInput {
  const isInline = inlineKindOf(row.agentId) !== null
  const recorded = past.recorded.get(row.id)
  return {
    id: row.id,
    input: {
      ...row.input,
      ...{ name: row.name, payload: row.payload },
      ...(isInline ? {} : { agent_id: row.agentId }),
    },
    created_at: formatInstant(row.createdAt),
    standing: past.standings.get(row.id),
    ...assumedFor(asked, past.observed.get(row.id)?.assume ?? {}, [row.id, row.name]),
    ...(recorded === undefined ? {} : { recorded }),
  }
}

const viewAgent = (agent: AgentRow): SimulatedAgent => ({
  ...{ id: agent.id, executor_kind: agent.executor.kind, retry_policy: agent.retryPolicy },
  ...{ timeout_seconds: agent.timeoutSeconds, max_concurrent: agent.maxConcurrent, provider: agent.provider },
  default_session: agent.defaultSession,
})

const viewProvider = ({ name, quotas }: ProviderRow): SimulatedProvider => ({
  ...{ name, requests_per_minute: quotas.requestsPerMinute, tokens_per_minute: quotas.tokensPerMinute },
  max_concurrent: quotas.maxConcurrent,
})

type KnownBudget = Awaited<ReturnType<typeof findBudgets>>[number]

const viewBudget = (budget: KnownBudget): SimulatedBudget => ({
  ...{ id: budget.id, agent_id: budget.agent_id, schedule_id: budget.schedule_id, unit: budget.unit },
  ...{ amount: budget.amount, period: budget.period, timezone: budget.timezone, on_exceed: budget.on_exceed },
  ...{ default_reserve: budget.default_reserve, spent: budget.spent },
})

/** What was observed, under what is said of all, under what is said of it by name. */
function assumedFor(
  { assume, assumeFor }: Pick<ReadSimulation, 'assume' | 'assumeFor'>,
  observed: AssumptionInput,
  names: readonly (string | null)[],
): { readonly assume?: AssumptionInput } {
  const own = assumeFor.filter(({ schedules }) => schedules.some((name) => names.includes(name)))
  const layers = [assume, ...own.map((one) => one.assume)]
  const merged = layers.reduce(over, observed)
  return Object.keys(merged).length === 0 ? {} : { assume: merged }
}

/** Rates and a list of outcomes say the same in two ways: the later word stands. */
function over(below: AssumptionInput, above: AssumptionInput): AssumptionInput {
  const { failure_rate: fails, timeout_rate: hangs, outcomes, ...rest } = below
  if (above.outcomes !== undefined) return { ...rest, ...above }
  const isRated = above.failure_rate !== undefined || above.timeout_rate !== undefined
  if (isRated) return { ...rest, ...above }
  return {
    ...rest,
    ...(fails === undefined ? {} : { failure_rate: fails }),
    ...(hangs === undefined ? {} : { timeout_rate: hangs }),
    ...(outcomes === undefined ? {} : { outcomes }),
    ...above,
  }
}

/** The schedules of the request. They have no ids yet, so they get one to be told apart by. */
export const givenSchedules = (asked: ReadSimulation): readonly SimulatedScheduleInput[] =>
  asked.schedules.map((input, index) => {
    const id = `new_${index + 1}`
    return { id, input, ...assumedFor(asked, {}, [id, typeof input.name === 'string' ? input.name : null]) }
  })

/**
 * The settings under which the deployment works, in the names of the configuration. Lanes are those of all nodes that
 * live together: whoever simulates has one.
 */
async function settingsFor(
  ports: Pick<Ports, 'database' | 'settings' | 'clock'>,
): Promise<Readonly<Record<string, unknown>>> {
  const { schedules, node, sessions } = ports.settings()
  const now = ports.clock.now()
  const alive = (await loadNodes(ports.database)).filter(
    ({ leaseUntil, lost, draining }) => leaseUntil > now && !lost && !draining,
  ).length
  const nodes = Math.max(1, alive)
  const lanes = await readLaneSizes(ports)
  return {
    lanes: Object.fromEntries([...lanes].map(([name, size]) => [name, size * nodes])),
    schedules: {
      misfire_grace_seconds: schedules.misfireGraceSeconds,
      catchup_window_seconds: schedules.catchupWindowSeconds,
      catchup_spacing_ms: schedules.catchupSpacingMs,
      catchup_max_active: schedules.catchupMaxActive * nodes,
    },
    node: { stop_grace_ms: node.stopGraceMs },
    sessions: { max_concurrent: sessions.maxConcurrent },
  }
}
