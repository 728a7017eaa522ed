import { isWorkerKey } from '../agent.ts'
import { type AgentId, laneName, type LaneName, type SessionKey } from '../ids.ts'
import { DEFAULT_LANES, resolveLane } from './lanes.ts'
import { isActive, isInFlight, isRetrying } from '../run/run.ts'
import { inSessionOrder } from '../session/session.ts'
import { addRanked, NOT_IN_HEAP, rankedList, rankOf, removeRanked, createIndexedHeap } from './heap.ts'
import { isRunFirst, isServedFirst, reorderQueues } from './ready-lines.ts'
import {
  type PickingKey,
  QUEUE_KINDS,
  type Agent,
  type AgentInLane,
  type AgentQueue,
  type Lane,
  type QueueEntry,
  type QueueState,
  type QueuedRun,
  type Session,
} from './queued-run.ts'

/** The maximum number of idle agents remembered per lane; a forgotten agent counts as never served. */
const MAX_REMEMBERED_AGENTS = 10_000

const isDueEarlier = (a: QueueEntry, b: QueueEntry): boolean => (a.notBefore ?? 0) < (b.notBefore ?? 0)
const isAhead = (a: QueueEntry, b: QueueEntry): boolean => inSessionOrder(a, b) < 0

const isQueueFirst = (a: AgentQueue, b: AgentQueue): boolean => isServedFirst(a.agentInLane, b.agentInLane)

/** The state of an empty ready queue. */
export const createQueueState = (maxBlocked: number): QueueState => ({
  runs: new Map(),
  lanes: new Map(),
  agents: new Map(),
  sessions: new Map(),
  load: { inFlight: 0, limit: null },
  tasks: { inFlight: 0, limit: null },
  budgets: new Map(),
  outOfBudget: new Set(),
  providers: new Map(),
  notYetDue: createIndexedHeap(isDueEarlier),
  executable: new Map(),
  isExecutable: () => true,
  laneNames: new Map(Object.keys(DEFAULT_LANES).map((name) => [laneName(name), null])),
  tasksPerAgent: null,
  servedCount: 0,
  tails: new Map(),
  capped: new Set(),
  maxBlocked,
  shortSessions: new Set(),
  shortage: null,
})

/** The lane of a run: the lane that serves its name on this node, or the pool of its workers. */
export function servingLane(state: QueueState, run: Pick<QueuedRun, 'lane' | 'executorKey'>): LaneName {
  if (isWorkerKey(run.executorKey)) return laneName(run.executorKey)
  return state.laneNames.has(run.lane) ? run.lane : resolveLane(run.lane, state.laneNames)
}

/** Whether this node can execute the key; cached per key until the answers change. */
export function canExecute(state: QueueState, key: string): boolean {
  const known = state.executable.get(key)
  if (known !== undefined) return known
  const can = state.isExecutable(key)
  state.executable.set(key, can)
  return can
}

/** The state of an agent, created on demand. */
export function getOrCreateAgent(state: QueueState, id: AgentId): Agent {
  const known = state.agents.get(id)
  if (known !== undefined) return known
  const agent: Agent = {
    id,
    load: { inFlight: 0, limit: null },
    tasks: { inFlight: 0, limit: state.tasksPerAgent },
    lanes: new Map(),
    queued: rankedList<PickingKey>(isRunFirst),
    heldQueues: new Set(),
    provider: null,
  }
  state.agents.set(id, agent)
  return agent
}

/** The state of a session, created on demand; without settings it runs one run at a time. */
export function getOrCreateSession(state: QueueState, key: SessionKey): Session {
  const known = state.sessions.get(key)
  if (known !== undefined) return known
  const load = { active: 0, stopping: 0, maxConcurrent: 1, context: null, head: null }
  const session: Session = {
    key,
    load,
    head: null,
    waiting: createIndexedHeap(isAhead),
    runs: 0,
    hasLimits: false,
    tail: null,
    isTailOnly: false,
  }
  state.sessions.set(key, session)
  return session
}

function getOrCreateQueueLane(state: QueueState, name: LaneName): Lane {
  const known = state.lanes.get(name)
  if (known !== undefined) return known
  const queues = {
    ordinary: createIndexedHeap(isQueueFirst),
    task: createIndexedHeap(isQueueFirst),
    catchup: createIndexedHeap(isQueueFirst),
  }
  const lane: Lane = { name, queues, lastServed: new Map(), inFlight: 0, queued: 0 }
  state.lanes.set(name, lane)
  return lane
}

/** The state of an agent in a lane, created on demand. */
export function getOrCreateAgentInLane(state: QueueState, agent: Agent, name: LaneName): AgentInLane {
  const known = agent.lanes.get(name)
  if (known !== undefined) return known
  const lane = getOrCreateQueueLane(state, name)
  const servedAt = lane.lastServed.get(agent.id) ?? -1
  lane.lastServed.delete(agent.id)
  const agentInLane: AgentInLane = {
    id: agent.id,
    agent,
    lane,
    queues: new Map(),
    inFlight: 0,
    servedAt,
    runs: 0,
    queued: 0,
  }
  agent.lanes.set(name, agentInLane)
  return agentInLane
}

/** The entry of a run in its current state. */
export function createEntry(state: QueueState, run: QueuedRun): QueueEntry {
  const counts = run.sessionKey !== null && run.inGeneration
  return {
    id: run.id,
    orgId: run.orgId,
    agentId: run.agentId,
    sessionKey: run.sessionKey,
    trigger: run.trigger,
    lane: run.lane,
    priority: run.priority,
    createdAt: run.createdAt,
    seq: run.seq,
    notBefore: run.notBefore,
    retrying: isRetrying(run),
    parkedBehind: run.slot === 'parked' ? 1 : null,
    interrupts: run.interrupts,
    executable: canExecute(state, run.executorKey),
    reserves: run.reserves,
    run,
    agentInLane: getOrCreateAgentInLane(state, getOrCreateAgent(state, run.agentId), servingLane(state, run)),
    session: run.sessionKey === null ? null : getOrCreateSession(state, run.sessionKey),
    executorKey: run.executorKey,
    isQueued: run.state === 'queued',
    inFlight: isInFlight(run.state),
    isActive: counts && isActive(run),
    isStopping: counts && run.state === 'stopping',
    heap: null,
    group: null,
    heapIndex: NOT_IN_HEAP,
  }
}

/** Deletes the state of an agent, lane entry or session that has no runs left. */
export function deleteUnused(state: QueueState, entry: Pick<QueueEntry, 'agentInLane' | 'session'>): void {
  const { agentInLane, session } = entry
  forgetAgentInLaneIfIdle(state, agentInLane)
  if (session !== null && session.runs === 0 && session.tail === null && !session.hasLimits)
    state.sessions.delete(session.key)
}

/** Deletes what an agent has in a lane without runs, in memory or in the backlog. */
export function forgetAgentInLaneIfIdle(state: QueueState, agentInLane: AgentInLane): void {
  if (agentInLane.runs === 0 && !hasTail(agentInLane)) forgetAgentInLane(agentInLane)
  forgetAgentIfIdle(state, agentInLane.agent)
}

function hasTail({ queues }: AgentInLane): boolean {
  for (const { tails } of queues.values()) if (tails.size > 0) return true
  return false
}

/** Deletes an agent that has no runs, no limit and no provider. */
export function forgetAgentIfIdle(state: QueueState, agent: Agent): void {
  if (agent.lanes.size === 0 && agent.load.limit === null && agent.provider === null) state.agents.delete(agent.id)
}

function forgetAgentInLane(agentInLane: AgentInLane): void {
  const { agent, lane } = agentInLane
  for (const queue of agentInLane.queues.values()) {
    agent.heldQueues.delete(queue)
    agent.provider?.heldQueues.delete(queue)
  }
  agent.lanes.delete(lane.name)
  if (agentInLane.servedAt < 0) return
  lane.lastServed.set(agent.id, agentInLane.servedAt)
  if (lane.lastServed.size > MAX_REMEMBERED_AGENTS) forgetOldest(lane.lastServed)
}

/**
 * Agents that left longest ago were, roughly, served longest ago, so forgetting them changes the order least. Many
 * are deleted at once, because iterating from the front of a Map passes earlier deletions.
 */
function forgetOldest(lastServed: Lane['lastServed']): void {
  let kept = lastServed.size
  for (const id of lastServed.keys()) {
    lastServed.delete(id)
    kept -= 1
    if (kept <= 0.9 * MAX_REMEMBERED_AGENTS) return
  }
}

/** Adds a run to all counters, or with -1 removes it. */
export function countEntry(state: QueueState, entry: QueueEntry, by: 1 | -1): void {
  const { agentInLane, session } = entry
  agentInLane.runs += by
  if (session !== null) {
    session.runs += by
    if (entry.isActive) session.load.active += by
    if (entry.isStopping) session.load.stopping += by
  }
  if (entry.isQueued) countQueuedEntry(entry, by)
  if (!entry.inFlight) return
  agentInLane.agent.load.inFlight += by
  if (agentInLane.agent.provider !== null) agentInLane.agent.provider.inFlight += by
  state.load.inFlight += by
  if (entry.trigger === 'task') {
    agentInLane.agent.tasks.inFlight += by
    state.tasks.inFlight += by
  }
  agentInLane.lane.inFlight += by
  agentInLane.inFlight += by
  reorderQueues(agentInLane)
}

function countQueuedEntry(entry: QueueEntry, by: 1 | -1): void {
  const { agent, lane } = entry.agentInLane
  lane.queued += by
  entry.agentInLane.queued += by
  if (by === 1) addRanked(agent.queued, entry)
  else removeRanked(agent.queued, entry)
}

/** Records that a run goes into flight: its agent was served, and its reserves are no longer available to others. */
export function recordServed(state: QueueState, entry: QueueEntry): void {
  state.servedCount += 1
  entry.agentInLane.servedAt = state.servedCount
  reorderQueues(entry.agentInLane)
  for (const { budgetId, amount } of entry.reserves) {
    const budget = state.budgets.get(budgetId)
    if (budget !== undefined) state.budgets.set(budgetId, { ...budget, remaining: budget.remaining - amount })
  }
}

/** How many queued runs of the agent go before this key. */
export function queuedBefore(state: QueueState, id: AgentId, key: PickingKey): number {
  const queued = state.agents.get(id)?.queued
  return queued === undefined ? 0 : rankOf(queued, key)
}

/** The position of a run among the queued runs of its agent, from 1. */
export const queuePosition = (entry: QueueEntry): number => rankOf(entry.agentInLane.agent.queued, entry) + 1

/** Whether any run competes in the lane. */
export function hasReady(state: QueueState, name: LaneName): boolean {
  const lane = state.lanes.get(name)
  if (state.shortSessions.size > 0) return true
  return lane !== undefined && QUEUE_KINDS.some((kind) => lane.queues[kind].items.length > 0)
}

/** All pending runs of the agent in memory. */
export function pendingOf(state: QueueState, id: AgentId): number {
  let pending = 0
  for (const agentInLane of state.agents.get(id)?.lanes.values() ?? []) pending += agentInLane.runs
  return pending
}

/** All queued runs in memory. */
export function queuedIn(state: QueueState): number {
  let queued = 0
  for (const lane of state.lanes.values()) queued += lane.queued
  return queued
}
