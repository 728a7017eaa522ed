import { attemptId, runId, type AgentId, type AttemptId, type RunId, type ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { bookHabits, wantHabits, type BudgetBook } from '../desk/budget-book.ts'
import { takeBudgets } from '../desk/budgets.ts'
import { bookHabits as bookTokenHabits } from '../desk/quota-book.ts'
import { takeProviders } from '../desk/quotas.ts'
import { takeDailyRuns } from '../desk/daily-runs.ts'
import type { Desk } from '../desk/desk.ts'
import { inlineAgent } from '../desk/runs.ts'
import { createNodeLanes, type NodeLanes } from '../node-lanes.ts'
import { applyNodeFacts, emptyMemory, recallRun, type Memory, type NodeFacts } from '../turn/memory.ts'
import { createTimers, type Timers } from '../../engine/org-state/timers.ts'
import type { AttemptPlan } from './attempts.ts'
import { createRetryChance } from './draws.ts'
import { NOBODYS_ORG, type SimulationPlan } from '../../features/simulation/task.ts'
import { createRecord, type Record } from './record.ts'

/** An attempt that is at work: it holds a slot of a lane until it has ended. */
export interface Performance {
  readonly attemptId: AttemptId
  readonly runId: RunId
  readonly scheduleId: ScheduleId
  readonly startedAt: Instant
  readonly release: () => void
  plan: AttemptPlan
  /** It was told to stop. */
  isStopped: boolean
}

/** One node and one org in memory, and everything that will happen in them by itself. */
export interface World {
  readonly plan: SimulationPlan
  readonly record: Record
  readonly node: NodeFacts
  /** Agents that nobody can execute now. */
  offline: ReadonlySet<AgentId>
  readonly performances: Map<AttemptId, Performance>
  readonly byRun: Map<RunId, Performance>
  /** When attempts end by themselves, and when schedules are due. */
  readonly ends: Timers
  readonly due: Timers
  memory: Memory
  lanes: NodeLanes
  now: Instant
  turns: number
  nodes: number
  /** The moment at which a turn that nobody asked for came to nothing. */
  vainAt: Instant | null
  /** Nothing fires. */
  isStalled: boolean
  /** No node works. */
  isDown: boolean
}

/** The world at the beginning of the window. */
export function createWorld(plan: SimulationPlan): World {
  const lanes = createNodeLanes(plan.settings.lanes.byName)
  const node = nodeOf(plan, { offline: () => world.offline, catchups: () => world.lanes.catchups() })
  const memory = emptyMemory(NOBODYS_ORG, { ...node, canExecute: () => true })
  const world: World = {
    memory,
    ...{ plan, node, lanes, offline: new Set<AgentId>(), record: createRecord(plan) },
    ...{ performances: new Map(), byRun: new Map(), ends: createTimers(), due: createTimers() },
    ...{ now: plan.window.from, turns: 0, nodes: 1, vainAt: null, isStalled: false, isDown: false },
  }
  fill(world, null)
  for (const row of plan.schedules) planNext(world, row)
  return world
}

/** Says when the schedule is due next. */
export const planNext = ({ due }: World, { id, state, nextRunAt }: ScheduleRow): void => {
  due.set(asTimed(id), state === 'active' ? nextRunAt : null)
}

/** Timers tell runs by their ids; here they tell schedules and attempts. */
export const asTimed = (id: ScheduleId | AttemptId): RunId => id as string as RunId

function nodeOf(
  plan: SimulationPlan,
  { offline, catchups }: { readonly offline: () => ReadonlySet<AgentId>; readonly catchups: () => number },
): NodeFacts {
  const keys = new Map(plan.agents.map(({ id, executorKey }) => [executorKey, id]))
  const names = new Set(plan.settings.lanes.byName.keys())
  return {
    chance: chanceOf(plan.task.seed),
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

/** Ids count on, so that they sort in the order in which they were made; chance hangs on the attempt it is for. */
function chanceOf(seed: number): NodeFacts['chance'] {
  let made = 0
  const next = (): string => {
    made += 1
    return made.toString(36).padStart(9, '0')
  }
  return {
    newRunId: () => runId(`run_${next()}`),
    newAttemptId: () => attemptId(`att_${next()}`),
    random: createRetryChance(seed),
  }
}

/** Puts on an empty desk what a node loads when it comes. `before` is what was on record; null: nothing has happened. */
function fill(world: World, before: Desk | null): void {
  const { memory, plan } = world
  const { desk, lineUp } = memory
  for (const row of before?.schedules.values() ?? plan.schedules) desk.schedules.set(row.id, row)
  for (const agent of plan.agents) {
    desk.agents.set(agent.id, agent)
    lineUp.setAgent(agent.id, agent)
  }
  for (const { agentId } of desk.schedules.values()) {
    const inline = desk.agents.has(agentId) ? null : inlineAgent(agentId)
    if (inline !== null) desk.agents.set(agentId, inline)
  }
  memory.orgLimit = plan.orgLimit
  for (const [key, session] of before?.sessions ?? []) desk.sessions.set(key, session)
  applyNodeFacts(memory, world.node)
  takeOnRecord(world, before)
  // As they are loaded: by their ids.
  for (const run of [...(before?.runs.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    run.heldBy = null
    // How an attempt went is on record with the attempt; with the run only when it has ended.
    run.errorCode = null
    run.errorMessage = null
    recallRun(memory, run)
  }
  memory.missing.agents.clear()
  memory.missing.schedules.clear()
}

/** What has been used of budgets, of quotas and of the day. */
function takeOnRecord({ memory: { desk }, plan }: World, before: Desk | null): void {
  const { runsPerDay, zone, schedules } = plan
  takeDailyRuns(desk, runsPerDay === null ? null : { perDay: runsPerDay, zone }, [])
  if (before !== null) desk.daily = before.daily
  takeQuotas(desk, plan, before)
  const book = before?.budgets ?? null
  takeBudgets(desk, book === null ? plan.budgets : budgetsIn(plan, book))
  if (desk.budgets === null) return
  const { habits } = desk.budgets
  for (const [id, habit] of book?.habits.agents ?? []) habits.agents.set(id, habit)
  for (const [id, habit] of book?.habits.schedules ?? []) habits.schedules.set(id, habit)
  for (const { id, agentId } of schedules) wantHabits(desk.budgets, { agentId, scheduleId: id })
  bookHabits(desk.budgets, { agents: [], schedules: [] })
}

/** What is left of quotas is on record, and so is what agents used; of what has not happened here nothing is known. */
function takeQuotas(desk: Desk, { providers, agents }: SimulationPlan, before: Desk | null): void {
  const known = [...(before?.quotas?.providers.values() ?? [])]
  takeProviders(desk, known.length === 0 ? providers : known)
  if (desk.quotas === null) return
  const calling = agents.filter(({ provider }) => provider !== null).map(({ id }) => id)
  bookTokenHabits(desk.quotas, calling, [])
  for (const [id, habit] of before?.quotas?.habits ?? []) desk.quotas.habits.set(id, habit)
}

const budgetsIn = ({ budgets }: SimulationPlan, book: BudgetBook): SimulationPlan['budgets'] =>
  budgets.map((given) => {
    const booked = book.budgets.get(given.id)
    if (booked === undefined) return given
    const uses = [...booked.spent].map(([start, used]) => ({ start, used })).sort((a, b) => b.start - a.start)
    return { ...given, ...booked.budget, uses }
  })

/** Another node comes: it knows what is on record, and nothing of what the one before it only remembered. */
export function restart(world: World): void {
  const before = world.memory.desk
  world.nodes += 1
  world.lanes = createNodeLanes(world.plan.settings.lanes.byName)
  world.memory = emptyMemory(NOBODYS_ORG, world.node)
  world.memory.desk.now = before.now
  fill(world, before)
}

/** The name of the node that works now. */
export const nodeId = ({ nodes }: World): string => `node ${nodes}`
