import { instant } from '../instant.ts'
import { closedGate, type GateCandidate, type GateFacts } from './gates.ts'
import { NOT_IN_HEAP, updateInHeap, createIndexedHeap, addToHeap, removeFromHeap } from './heap.ts'
import { MAIN_LANE } from './lanes.ts'
import type {
  Agent,
  AgentInLane,
  AgentQueue,
  Mutable,
  QueueEntry,
  QueueKind,
  QueueState,
  ReserveGroup,
  Session,
} from './queued-run.ts'

/** The runs of an org or agent in flight in a lane, and when it was last served there, as a growing number. */
export interface LaneUsage {
  readonly inFlight: number
  readonly servedAt: number
}

/** Fewest in flight, then least recently served, then by id so that every node decides the same. */
export function isServedFirst(a: LaneUsage & { readonly id: string }, b: LaneUsage & { readonly id: string }): boolean {
  if (a.inFlight !== b.inFlight) return a.inFlight < b.inFlight
  if (a.servedAt !== b.servedAt) return a.servedAt < b.servedAt
  return a.id < b.id
}

/** Lower priority number, then age, then id. */
export function isRunFirst(
  a: Pick<GateCandidate, 'id' | 'priority' | 'createdAt'>,
  b: Pick<GateCandidate, 'id' | 'priority' | 'createdAt'>,
): boolean {
  if (a.priority !== b.priority) return a.priority < b.priority
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt
  return a.id < b.id
}

/**
 * The kind of a run. A lane has a heap of lines per kind, a line a heap of groups, a group a heap of runs. A line is
 * in its lane while it has runs to offer and its agent has room; a group is in its line while budgets have room. A
 * refused line or group leaves its heap and returns with the change that may admit it, so that it is never checked in
 * vain.
 */
export const queueKindOf = (run: Pick<GateCandidate, 'trigger'>): QueueKind =>
  run.trigger === 'task' || run.trigger === 'catchup' ? run.trigger : 'ordinary'

function isGroupFirst(a: ReserveGroup, b: ReserveGroup): boolean {
  const [first, second] = [a.runs.items[0], b.runs.items[0]]
  return first !== undefined && second !== undefined && isRunFirst(first, second)
}

/** The next run of the line; undefined when it has none or budgets block all. */
export const firstEntryOf = (queue: AgentQueue): QueueEntry | undefined => queue.groups.items[0]?.runs.items[0]

/** Adds a run to the competition in its lane. */
export function startCompeting(entry: QueueEntry): void {
  const group = groupFor(agentQueueFor(entry.agentInLane, queueKindOf(entry)), entry)
  addToHeap(group.runs, entry)
  entry.heap = group.runs
  entry.group = group
  if (group.isOutOfBudget) return
  if (group.heapIndex === NOT_IN_HEAP) addToHeap(group.queue.groups, group)
  else if (entry.heapIndex === 0) updateInHeap(group.queue.groups, group)
  listQueue(group.queue)
}

/** Removes a run from its heap. */
export function stopCompeting(state: QueueState, entry: QueueEntry): void {
  const { heap, group } = entry
  entry.heap = null
  entry.group = null
  if (heap === null) return
  const wasFirst = entry.heapIndex === 0
  // The group leaves its line first: a group without runs cannot be ordered.
  if (group !== null && heap.items.length === 1) deleteGroup(state, group)
  removeFromHeap(heap, entry)
  if (group !== null && wasFirst && group.heapIndex !== NOT_IN_HEAP) updateInHeap(group.queue.groups, group)
}

/** The line of an agent in a lane, created on demand. */
export function agentQueueFor(agentInLane: AgentInLane, kind: QueueKind): AgentQueue {
  const known = agentInLane.queues.get(kind)
  if (known !== undefined) return known
  const queue: AgentQueue = {
    agentInLane,
    kind,
    groups: createIndexedHeap(isGroupFirst),
    byReserves: new Map(),
    isHeld: false,
    tails: new Set(),
    isCapped: false,
    heapIndex: NOT_IN_HEAP,
  }
  agentInLane.queues.set(kind, queue)
  return queue
}

function groupFor(queue: AgentQueue, entry: QueueEntry): ReserveGroup {
  // Most runs have no reserves and should not pay for building a key.
  const { reserves } = entry
  const key = reserves.length === 0 ? '' : reserves.map(({ budgetId, amount }) => `${amount} ${budgetId}`).join('\n')
  const known = queue.byReserves.get(key)
  if (known !== undefined) return known
  const group: ReserveGroup = {
    queue,
    key,
    runs: createIndexedHeap<QueueEntry>(isRunFirst),
    isOutOfBudget: false,
    heapIndex: NOT_IN_HEAP,
  }
  queue.byReserves.set(key, group)
  return group
}

function deleteGroup(state: QueueState, group: ReserveGroup): void {
  const { queue } = group
  queue.byReserves.delete(group.key)
  state.outOfBudget.delete(group)
  if (group.heapIndex !== NOT_IN_HEAP) removeFromHeap(queue.groups, group)
  unlistIfEmpty(queue)
}

/** Whether it has nothing to offer, neither in memory nor in the backlog. */
const isEmpty = ({ groups, tails, isCapped }: AgentQueue): boolean =>
  groups.items.length === 0 && (isCapped || tails.size === 0)

/** Adds the line to its lane if it has runs to offer. */
export function listQueue(queue: AgentQueue): void {
  if (queue.isHeld || queue.heapIndex !== NOT_IN_HEAP || isEmpty(queue)) return
  addToHeap(queue.agentInLane.lane.queues[queue.kind], queue)
}

function unlistQueue(queue: AgentQueue): void {
  if (queue.heapIndex !== NOT_IN_HEAP) removeFromHeap(queue.agentInLane.lane.queues[queue.kind], queue)
}

/** Takes a line out of its lane when it has nothing left to offer. */
export function unlistIfEmpty(queue: AgentQueue): void {
  if (isEmpty(queue)) unlistQueue(queue)
}

/** Reorders the lines of an agent after its runs in flight in the lane have changed. */
export function reorderQueues(agentInLane: AgentInLane): void {
  for (const queue of agentInLane.queues.values())
    if (queue.heapIndex !== NOT_IN_HEAP) updateInHeap(agentInLane.lane.queues[queue.kind], queue)
}

/** Takes a line out of its lane because a limit is reached, until it is released; `release` does so for agents. */
export function holdQueue(queue: AgentQueue, held: Set<AgentQueue> = queue.agentInLane.agent.heldQueues): void {
  unlistQueue(queue)
  queue.isHeld = true
  held.add(queue)
}

/** Returns an agent's lines to their lanes after its limits or load have changed. */
export function releaseAgent(agent: Agent): void {
  for (const queue of agent.heldQueues) {
    queue.isHeld = false
    listQueue(queue)
  }
  agent.heldQueues.clear()
}

/** Takes a group out of its line because a budget has no room for its reserves, until `competeAgain`. */
export function blockGroup(state: QueueState, group: ReserveGroup): void {
  group.isOutOfBudget = true
  state.outOfBudget.add(group)
  removeFromHeap(group.queue.groups, group)
  unlistIfEmpty(group.queue)
}

/** Returns a group to its line after budgets have changed. */
export function unblockGroup(state: QueueState, group: ReserveGroup): void {
  group.isOutOfBudget = false
  state.outOfBudget.delete(group)
  addToHeap(group.queue.groups, group)
  listQueue(group.queue)
}

/** Moves a run whose not-before has not come out of the competition. */
export function postponeEntry(state: QueueState, entry: QueueEntry): void {
  stopCompeting(state, entry)
  addToHeap(state.notYetDue, entry)
  entry.heap = state.notYetDue
}

/** Returns all runs to the competition whose not-before has come. */
export function releaseDueRuns(state: QueueState, now: number): void {
  for (let entry = state.notYetDue.items[0]; entry !== undefined; entry = state.notYetDue.items[0]) {
    if ((entry.notBefore ?? 0) > now) return
    stopCompeting(state, entry)
    startCompeting(entry)
  }
}

/**
 * Only the head of a session competes, and only while the session has room. This check evaluates the session's gates
 * with all other gates open; the other gates are checked when the lane picks.
 */
const OPEN = { inFlight: 0, limit: null }
const OTHER_GATES_OPEN: GateFacts = {
  now: instant(Number.MAX_SAFE_INTEGER),
  session: null,
  agent: OPEN,
  agentTasks: OPEN,
  org: OPEN,
  orgTasks: OPEN,
  budgets: new Map(),
  provider: null,
  catchup: OPEN,
  lane: { name: MAIN_LANE, size: 1, held: 0 },
}

/** One reused object, because this check runs with every change. */
const sessionGateFacts: Mutable<GateFacts> = { ...OTHER_GATES_OPEN }

/** Whether the gates of its session are open, and no run in the backlog goes before it there. */
export function mayCompete(entry: QueueEntry): boolean {
  const { session } = entry
  if (session !== null && !isAheadOfTail(session, entry)) return false
  sessionGateFacts.session = session?.load ?? null
  return closedGate(entry, sessionGateFacts) === null
}

/** Whether the budgets have room for the run, ignoring all other gates. */
export const hasBudget = (entry: QueueEntry, state: QueueState): boolean =>
  closedGate(entry, { ...OTHER_GATES_OPEN, session: entry.session?.load ?? null, budgets: state.budgets }) === null

/** Whether no run of the session in the backlog goes before its first one in memory. */
export const isAheadOfTail = ({ tail }: Session, { seq }: Pick<QueueEntry, 'seq'>): boolean =>
  tail === null || (seq !== null && seq <= tail.from)
