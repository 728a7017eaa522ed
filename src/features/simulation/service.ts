import { invalid, Refusal } from '../../api/refusals.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import { agentId, scheduleId } from '../../domain/ids.ts'
import { formatInstant } from '../../domain/instant.ts'
import { startedFraction } from '../../domain/probe/verdict.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { loadOrg, type OrgRow } from '../access/orgs-store.ts'
import { type AgentRow, listAgents } from '../agents/store.ts'
import { findBudgets } from '../budgets/service.ts'
import { loadLaneSizes } from '../lanes/service.ts'
import { loadNodes } from '../nodes/store.ts'
import { loadProbes } from '../probes/store.ts'
import { loadProviders, type ProviderRow } from '../providers/store.ts'
import { listSchedules, loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import { computeSimulation } from './compute.ts'
import { parseSimulate, type SimulationRequest } from './input.ts'
import { type SimulationPast, loadPast } from './past.ts'
import type { SimulationCallbacks } from './port.ts'
import type { AssumptionInput } from './result-schema.ts'
import { MAX_SIMULATED_SCHEDULES, type SimulateAnswer, type SimulateInput, type SimulationBasis } from './schema.ts'
import type {
  SimulatedAgent,
  SimulatedBudget,
  SimulatedProvider,
  SimulatedScheduleInput,
  SimulationTask,
} from './task.ts'

/** The task to compute, and the data it is based on. */
interface PreparedSimulation {
  readonly task: SimulationTask
  readonly basis: readonly SimulationBasis[]
}

/** Loads everything a simulation needs, in a fixed number of queries. */
async function prepareSimulation(
  ports: Ports,
  caller: Caller,
  request: SimulationRequest,
): Promise<PreparedSimulation> {
  const { database } = ports
  const org = await loadOrg(database, caller.orgId)
  if (org === undefined) throw new Refusal('NOT_FOUND', `There is no org ${caller.orgId}`)
  const stored = await loadStoredSchedules(ports, caller, request)
  const agents = await listAgents(database, { orgId: caller.orgId })
  const past = await loadPast(ports, caller.orgId, { request, rows: stored })
  const given = newSchedules(request)
  const probes = await loadProbes(database, {
    orgId: caller.orgId,
    subjects: stored.filter(hasProbe).map(({ id }) => id),
  })
  const simulated = stored.map((row) => ({
    ...toSimulatedSchedule(row, request, past),
    probe_started: startedFraction(probes.get(row.id)),
  }))
  return {
    task: {
      ...taskBase(request, org),
      schedules: [...given, ...simulated],
      agents: agents.map(simulatedAgent),
      budgets: request.budgets ? (await findBudgets(ports, caller)).map(simulatedBudget) : [],
      own_budgets: request.budgets,
      providers: (await loadProviders(database, { orgId: caller.orgId })).map(simulatedProvider),
      settings: await simulationSettings(ports),
      interventions: [...request.interventions, ...past.interventions],
      outages: request.replay ? past.outages : request.outages,
    },
    basis: [
      ...given.map(({ id }) => basisOf(id, 'given', past)),
      ...stored.map(({ id }) => basisOf(id, 'stored', past)),
    ],
  }
}

const hasProbe = ({ input }: ScheduleRow): boolean => (input['probe'] ?? null) !== null

const basisOf = (id: string, source: SimulationBasis['source'], past: SimulationPast): SimulationBasis => ({
  ...{ schedule_id: id, source },
  observed_runs: past.observed.get(id)?.runs ?? 0,
  recorded_attempts: past.recorded.get(id)?.length ?? 0,
})

const taskBase = (request: SimulationRequest, org: OrgRow) => ({
  ...{
    from: formatInstant(request.from),
    to: formatInstant(request.to),
    seed: request.seed,
    max_rows: request.maxRows,
  },
  ...{ timezone: org.defaultTimezone, default_agent_id: org.defaultAgentId, assume: request.assume },
  changes: request.changes,
  org: { max_concurrent: org.maxConcurrent, runs_per_day: org.runsPerDay },
})

async function loadStoredSchedules(
  { database }: Ports,
  { orgId }: Caller,
  request: SimulationRequest,
): Promise<readonly ScheduleRow[]> {
  const named = await loadSchedules(database, { orgId, ids: request.ids.map(scheduleId) })
  const byId = new Map<string, ScheduleRow>(named.map((row) => [row.id, row]))
  const missing = request.ids.flatMap((id, index) => (byId.has(id) ? [] : [{ id, index }]))
  if (missing.length > 0)
    throw invalid(
      missing.map(({ id, index }) => ({ field: `ids.${index}`, value: id, message: 'is not a schedule of this org' })),
    )
  const room = MAX_SIMULATED_SCHEDULES - request.schedules.length - named.length
  const active = request.all
    ? await listSchedules(database, {
        ...{
          orgId,
          state: 'active' as const,
          sort: 'next_run_at' as const,
          after: null,
          limit: MAX_SIMULATED_SCHEDULES + 1,
        },
        agentId: request.agentId === null ? null : agentId(request.agentId),
      })
    : []
  const others = active.filter(({ id }) => !byId.has(id))
  if (others.length > room)
    throw invalid([
      {
        ...{ field: 'all', value: true, message: 'selects too many schedules' },
        allowed: `at most ${MAX_SIMULATED_SCHEDULES} schedules in total; limit them with agent_id, or list ids`,
      },
    ])
  return [...named, ...others]
}

/** A stored schedule with its state. A disabled one is simulated as enabled, because it was requested by id. */
function toSimulatedSchedule(
  row: ScheduleRow,
  request: SimulationRequest,
  past: SimulationPast,
): SimulatedScheduleInput {
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
    ...assumptionsFor(request, past.observed.get(row.id)?.assume ?? {}, [row.id, row.name]),
    ...(recorded === undefined ? {} : { recorded }),
  }
}

const simulatedAgent = (agent: AgentRow): SimulatedAgent => ({
  ...{ id: agent.id, executor_kind: agent.executor.kind, retry_policy: agent.retryPolicy },
  ...{ timeout_seconds: agent.timeoutSeconds, max_concurrent: agent.maxConcurrent, provider: agent.provider },
  default_session: agent.defaultSession,
})

const simulatedProvider = ({ name, quotas }: ProviderRow): SimulatedProvider => ({
  ...{ name, requests_per_minute: quotas.requestsPerMinute, tokens_per_minute: quotas.tokensPerMinute },
  max_concurrent: quotas.maxConcurrent,
})

type ListedBudget = Awaited<ReturnType<typeof findBudgets>>[number]

const simulatedBudget = (budget: ListedBudget): SimulatedBudget => ({
  ...{ id: budget.id, agent_id: budget.agent_id, schedule_id: budget.schedule_id, unit: budget.unit },
  ...{ amount: budget.amount, period: budget.period, timezone: budget.timezone, on_exceed: budget.on_exceed },
  ...{ default_reserve: budget.default_reserve, spent: budget.spent },
})

/** Merges assumptions: observed ones, overridden by those about all schedules, then by those about this one. */
function assumptionsFor(
  { assume, assumeFor }: Pick<SimulationRequest, 'assume' | 'assumeFor'>,
  observed: AssumptionInput,
  names: readonly (string | null)[],
): { readonly assume?: AssumptionInput } {
  const own = assumeFor.filter(({ schedules }) => schedules.some((name) => names.includes(name)))
  const layers = [assume, ...own.map((one) => one.assume)]
  const merged = layers.reduce(mergeAssumptions, observed)
  return Object.keys(merged).length === 0 ? {} : { assume: merged }
}

/** Rates and a list of outcomes cannot be combined, so the later layer replaces both. */
function mergeAssumptions(below: AssumptionInput, above: AssumptionInput): AssumptionInput {
  const { failure_rate: failureRate, timeout_rate: timeoutRate, outcomes, ...rest } = below
  if (above.outcomes !== undefined) return { ...rest, ...above }
  const isRated = above.failure_rate !== undefined || above.timeout_rate !== undefined
  if (isRated) return { ...rest, ...above }
  return {
    ...rest,
    ...(failureRate === undefined ? {} : { failure_rate: failureRate }),
    ...(timeoutRate === undefined ? {} : { timeout_rate: timeoutRate }),
    ...(outcomes === undefined ? {} : { outcomes }),
    ...above,
  }
}

/** The schedules of the request, with generated ids because they have none yet. */
export const newSchedules = (request: SimulationRequest): readonly SimulatedScheduleInput[] =>
  request.schedules.map((input, index) => {
    const id = `new_${index + 1}`
    return { id, input, ...assumptionsFor(request, {}, [id, typeof input.name === 'string' ? input.name : null]) }
  })

/**
 * The deployment's settings in configuration names. The simulation has one node, so it gets the lane slots of all live
 * nodes together.
 */
async function simulationSettings(
  ports: Pick<Ports, 'database' | 'settings' | 'clock'>,
): Promise<Readonly<Record<string, unknown>>> {
  const { schedules, node, sessions } = ports.settings()
  const now = ports.clock.now()
  const alive = (await loadNodes(ports.database)).filter(
    ({ leaseUntil, lost, draining }) => leaseUntil > now && !lost && !draining,
  ).length
  const nodes = Math.max(1, alive)
  const lanes = await loadLaneSizes(ports)
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

/**
 * Simulates new and stored schedules over a window, under assumptions. Nothing is saved, and no request or run waits
 * for it.
 */
export async function simulateSchedules(
  ports: Ports,
  caller: Caller,
  { input, ...callbacks }: SimulationCallbacks & { readonly input: SimulateInput },
): Promise<SimulateAnswer> {
  const parsed = parseSimulate(input, ports.clock.now())
  if (!parsed.ok) throw invalid(parsed.flaws)
  const { task, basis } = await prepareSimulation(ports, caller, parsed.value)
  callbacks.signal?.throwIfAborted()
  const job = { task, against: parsed.value.against }
  const { view, against, diff } =
    ports.simulations === undefined
      ? computeSimulation(job, callbacks)
      : await ports.simulations.compute(caller.orgId, job, callbacks)
  return { ...view, basis, against, diff }
}
