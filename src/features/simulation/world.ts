import { attemptId, runId, type AgentId, type AttemptId, type RunId, type ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import { storeTypicalUsage, requestTypicalUsage, type OrgBudgets } from '../../engine/org-state/budget-usage.ts'
import { applyBudgetRows } from '../../engine/commands/budgets.ts'
import { storeTypicalTokens as bookTokenHabits } from '../../engine/org-state/quota-usage.ts'
import { applyProviderRows } from '../../engine/commands/quotas.ts'
import { setDailyRuns } from '../../engine/commands/daily-runs.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import { inlineAgentFor } from '../../engine/commands/runs.ts'
import { createNodeLanes, type NodeLanes } from '../lanes/node-lanes.ts'
import {
  applyCapabilities,
  emptyLoadedOrg,
  addLoadedRun,
  type LoadedOrg,
  type NodeCapabilities,
} from '../../engine/org-state/memory.ts'
import { createTimers, type Timers } from '../../engine/org-state/timers.ts'
import type { AttemptPlan } from './attempts.ts'
import { createRetryRandom } from './draws.ts'
import { SIMULATION_ORG, type SimulationPlan } from './task.ts'
import { createRecord, type SimulationRecord } from './record.ts'

/** A running attempt, which holds a slot of a lane until it ends. */
export interface InFlightAttempt {
  readonly attemptId: AttemptId
  readonly runId: RunId
  readonly scheduleId: ScheduleId
  readonly startedAt: Instant
  readonly release: () => void
  plan: AttemptPlan
  /** A stop was requested. */
  isStopped: boolean
}

/** The state of a simulation: one node and one org in memory, with their timers. */
export interface SimulationState {
  readonly plan: SimulationPlan
  readonly record: SimulationRecord
  readonly node: NodeCapabilities
  /** Agents that no executor can run now. */
  offline: ReadonlySet<AgentId>
  readonly runningAttempts: Map<AttemptId, InFlightAttempt>
  readonly byRun: Map<RunId, InFlightAttempt>
  /** The ends of attempts; `due` has the due times of schedules. */
  readonly ends: Timers
  readonly due: Timers
  memory: LoadedOrg
  lanes: NodeLanes
  now: Instant
  transactionCount: number
  nodes: number
  /** The time at which a transaction triggered by a timer changed nothing; null: none. */
  idleAt: Instant | null
  /** No schedule fires. */
  isStalled: boolean
  /** No node is running. */
  isDown: boolean
}

/** Creates the state at the start of the window. */
export function createSimulationState(plan: SimulationPlan): SimulationState {
  const lanes = createNodeLanes(plan.settings.lanes.byName)
  const node = simulatedNode(plan, { offline: () => simulation.offline, catchups: () => simulation.lanes.catchups() })
  const memory = emptyLoadedOrg(SIMULATION_ORG, { ...node, canExecute: () => true })
  const simulation: SimulationState = {
    memory,
    ...{ plan, node, lanes, offline: new Set<AgentId>(), record: createRecord(plan) },
    ...{ runningAttempts: new Map(), byRun: new Map(), ends: createTimers(), due: createTimers() },
    ...{ now: plan.window.from, transactionCount: 0, nodes: 1, idleAt: null, isStalled: false, isDown: false },
  }
  loadStoredState(simulation, null)
  for (const row of plan.schedules) setDueTime(simulation, row)
  return simulation
}

/** Sets the due time of a schedule. */
export const setDueTime = ({ due }: SimulationState, { id, state, nextRunAt }: ScheduleRow): void => {
  due.set(timerKey(id), state === 'active' ? nextRunAt : null)
}

/** Timers are keyed by run id; here the keys are ids of schedules and attempts. */
export const timerKey = (id: ScheduleId | AttemptId): RunId => id as string as RunId

function simulatedNode(
  plan: SimulationPlan,
  { offline, catchups }: { readonly offline: () => ReadonlySet<AgentId>; readonly catchups: () => number },
): NodeCapabilities {
  const keys = new Map(plan.agents.map(({ id, executorKey }) => [executorKey, id]))
  const names = new Set(plan.settings.lanes.byName.keys())
  return {
    randomSource: createSeededIds(plan.task.seed),
    settings: () => plan.settings,
    canExecute: (key) => {
      const agent = keys.get(key)
      return agent === undefined || !offline().has(agent)
    },
    laneNames: () => names,
    estimate: null,
    catchups,
  }
}

/** Ids are sequential, so that they sort in order of creation; random numbers depend on the attempt. */
function createSeededIds(seed: number): NodeCapabilities['randomSource'] {
  let count = 0
  const next = (): string => {
    count += 1
    return count.toString(36).padStart(9, '0')
  }
  return {
    newRunId: () => runId(`run_${next()}`),
    newAttemptId: () => attemptId(`att_${next()}`),
    random: createRetryRandom(seed),
  }
}

/** Fills an empty org state with what a starting node loads. `before` is the stored state; null: the initial one. */
function loadStoredState(simulation: SimulationState, before: OrgState | null): void {
  const { memory, plan } = simulation
  const { state, readyQueue } = memory
  for (const row of before?.schedules.values() ?? plan.schedules) state.schedules.set(row.id, row)
  for (const agent of plan.agents) {
    state.agents.set(agent.id, agent)
    readyQueue.setAgent(agent.id, agent)
  }
  for (const { agentId } of state.schedules.values()) {
    const inline = state.agents.has(agentId) ? null : inlineAgentFor(agentId)
    if (inline !== null) state.agents.set(agentId, inline)
  }
  memory.orgLimit = plan.orgLimit
  for (const [key, session] of before?.sessions ?? []) state.sessions.set(key, session)
  applyCapabilities(memory, simulation.node)
  loadUsage(simulation, before)
  // In the order in which a node loads them: by id.
  for (const run of [...(before?.runs.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    run.heldBy = null
    // A pending run has no error in the database, because the error is stored with the attempt.
    run.errorCode = null
    run.errorMessage = null
    addLoadedRun(memory, run)
  }
  memory.missing.agents.clear()
  memory.missing.schedules.clear()
}

/** Loads the usage of budgets, quotas and daily runs. */
function loadUsage({ memory: { state }, plan }: SimulationState, before: OrgState | null): void {
  const { runsPerDay, zone, schedules } = plan
  setDailyRuns(state, runsPerDay === null ? null : { perDay: runsPerDay, zone }, [])
  if (before !== null) state.daily = before.daily
  loadQuotas(state, plan, before)
  const usage = before?.budgets ?? null
  applyBudgetRows(state, usage === null ? plan.budgets : budgetsWithUsage(plan, usage))
  if (state.budgets === null) return
  const { typicalUsage } = state.budgets
  for (const [id, usualAmounts] of usage?.typicalUsage.agents ?? []) typicalUsage.agents.set(id, usualAmounts)
  for (const [id, usualAmounts] of usage?.typicalUsage.schedules ?? []) typicalUsage.schedules.set(id, usualAmounts)
  for (const { id, agentId } of schedules) requestTypicalUsage(state.budgets, { agentId, scheduleId: id })
  storeTypicalUsage(state.budgets, { agents: [], schedules: [] })
}

/** Loads the quotas and the typical usage of agents. Usage before the simulation is unknown. */
function loadQuotas(state: OrgState, { providers, agents }: SimulationPlan, before: OrgState | null): void {
  const known = [...(before?.quotas?.providers.values() ?? [])]
  applyProviderRows(state, known.length === 0 ? providers : known)
  if (state.quotas === null) return
  const calling = agents.filter(({ provider }) => provider !== null).map(({ id }) => id)
  bookTokenHabits(state.quotas, calling, [])
  for (const [id, usualAmounts] of before?.quotas?.typicalTokens ?? []) state.quotas.typicalTokens.set(id, usualAmounts)
}

const budgetsWithUsage = ({ budgets }: SimulationPlan, usage: OrgBudgets): SimulationPlan['budgets'] =>
  budgets.map((given) => {
    const stored = usage.budgets.get(given.id)
    if (stored === undefined) return given
    const uses = [...stored.spent].map(([start, used]) => ({ start, used })).sort((a, b) => b.start - a.start)
    return { ...given, ...stored.budget, uses }
  })

/** Starts another node: it keeps the stored state and loses what the previous node had only in memory. */
export function replaceNode(simulation: SimulationState): void {
  const before = simulation.memory.state
  simulation.nodes += 1
  simulation.lanes = createNodeLanes(simulation.plan.settings.lanes.byName)
  simulation.memory = emptyLoadedOrg(SIMULATION_ORG, simulation.node)
  simulation.memory.state.now = before.now
  loadStoredState(simulation, before)
}

/** The name of the current node. */
export const currentNodeId = ({ nodes }: SimulationState): string => `node ${nodes}`
