import { laneName, runId, type RunId, type SessionKey } from '../ids.ts'
import { instant } from '../instant.ts'
import { sessionLimit } from '../session/session.ts'
import {
  canExecute,
  forgetAgentInLaneIfIdle,
  getOrCreateAgent,
  getOrCreateAgentInLane,
  servingLane,
  getOrCreateSession,
} from './build.ts'
import { closedGate, type GateCandidate, type GateFacts } from './gates.ts'
import { agentQueueFor, firstEntryOf, isAheadOfTail, isRunFirst, listQueue, unlistIfEmpty } from './ready-lines.ts'
import type {
  AgentQueue,
  Lane,
  LineKey,
  PickingKey,
  QueueEntry,
  QueueState,
  Session,
  SessionTail,
  Shortage,
  Tail,
} from './queued-run.ts'

/**
 * Most runs of a long queue are in the backlog, in the database only. The queue knows of them what picking needs: for a
 * line the key before which no run of the backlog sorts, for a session the position. A run that is picked sorts before
 * all of them, so it is the run that would be picked if all were in memory; if that is not certain, the queue reports
 * what must be loaded first.
 */

/** The lines whose beginnings are loaded together. */
const MAX_SHORT_LINES = 64

const nameOf = ({ agentId, lane, executorKey, kind }: LineKey): string => [agentId, lane, executorKey, kind].join('\n')

/** Sets the key before which no run of the line in the backlog sorts; null: none of its runs competes there. */
export function setTail(state: QueueState, line: LineKey, bound: PickingKey | null): void {
  const name = nameOf(line)
  const known = state.tails.get(name)
  if (bound === null) {
    if (known === undefined) return
    state.tails.delete(name)
    detachTail(state, known)
    return
  }
  if (known !== undefined) {
    known.bound = bound
    return
  }
  const tail: Tail = { line, bound, queue: null }
  state.tails.set(name, tail)
  attachTail(state, tail)
}

/** A line that this node cannot execute is not asked for runs, so nothing of it is loaded. */
function attachTail(state: QueueState, tail: Tail): void {
  const { line } = tail
  if (!canExecute(state, line.executorKey)) return
  const agentInLane = getOrCreateAgentInLane(state, getOrCreateAgent(state, line.agentId), servingLane(state, line))
  tail.queue = agentQueueFor(agentInLane, line.kind)
  tail.queue.tails.add(tail)
  listQueue(tail.queue)
}

function detachTail(state: QueueState, tail: Tail): void {
  const { queue } = tail
  if (queue === null) return
  tail.queue = null
  queue.tails.delete(tail)
  unlistIfEmpty(queue)
  forgetAgentInLaneIfIdle(state, queue.agentInLane)
}

/** Attaches all lines again after the lanes or executors of this node have changed. */
export function reattachTails(state: QueueState): void {
  for (const tail of state.tails.values()) {
    detachTail(state, tail)
    attachTail(state, tail)
  }
}

/** Whether a run in the backlog may go before the first one in memory. */
export function isShort(queue: AgentQueue): boolean {
  if (queue.tails.size === 0 || queue.isCapped) return false
  const first = firstEntryOf(queue)
  for (const tail of queue.tails) if (isBehindTail(tail, first)) return true
  return false
}

const isBehindTail = ({ bound }: Tail, first: QueueEntry | undefined): boolean =>
  first === undefined || isRunFirst(bound, first)

/** A run of the line to check the gates that are the same for all of its runs. */
const standIn = ({ agentInLane, kind }: AgentQueue): GateCandidate => ({
  ...STAND_IN,
  agentId: agentInLane.id,
  trigger: kind === 'ordinary' ? 'message' : kind,
})

const STAND_IN = {
  id: runId(''),
  orgId: '' as GateCandidate['orgId'],
  sessionKey: null,
  lane: laneName(''),
  priority: 0,
  createdAt: instant(0),
  seq: null,
  notBefore: null,
  retrying: false,
  parkedBehind: null,
  interrupts: false,
  executable: true,
  reserves: [],
}

/** What a gate that is closed for all runs of the line blocks; null: one of them may start. */
export const closedGateOfLine = (queue: AgentQueue, facts: GateFacts): ReturnType<typeof closedGate> =>
  closedGate(standIn(queue), facts)

/** Whether budgets refuse so many runs of the line that no more are loaded; it then offers what is in memory. */
export function isBlockedByBudgets(state: QueueState, queue: AgentQueue): boolean {
  let blocked = 0
  for (const group of queue.byReserves.values()) if (group.isOutOfBudget) blocked += group.runs.items.length
  if (blocked < state.maxBlocked) return false
  queue.isCapped = true
  state.capped.add(queue)
  unlistIfEmpty(queue)
  return true
}

/** Budgets have changed: lines may load runs again. */
export function uncapQueues(state: QueueState): void {
  for (const queue of state.capped) {
    queue.isCapped = false
    listQueue(queue)
  }
  state.capped.clear()
}

/** What to load for a line, and for others of the lane that will probably be asked next. */
export function shortageOf(queue: AgentQueue, lane: Lane, free: number): Shortage {
  const queues = new Set([queue])
  const max = Math.min(MAX_SHORT_LINES, free)
  for (const other of lane.queues[queue.kind].items) {
    if (queues.size >= max) break
    if (isShort(other)) queues.add(other)
  }
  const lines: LineKey[] = []
  for (const short of queues) {
    const first = firstEntryOf(short)
    for (const tail of short.tails) if (isBehindTail(tail, first)) lines.push(tail.line)
  }
  return { lines, sessions: [] }
}

/** Sets how many runs of a session are in the backlog, and their first position. */
export function setSessionTail(state: QueueState, key: SessionKey, tail: SessionTail): void {
  const known = state.sessions.get(key)
  if (known === undefined && tail.count === 0) return
  const session = known ?? getOrCreateSession(state, key)
  // Once a session has runs in memory, the next one is loaded when the last of them ends.
  if (session.tail === null) session.isTailOnly = session.head === null && session.load.active === 0
  session.tail = tail.count === 0 ? null : tail
  if (session.tail === null && session.runs === 0 && !session.hasLimits) state.sessions.delete(key)
}

/** Records whether the next run of a session must be loaded. */
export function reviewShortage(state: QueueState, session: Session): void {
  if (session.tail === null && state.shortSessions.size === 0) return
  if (isSessionShort(session)) state.shortSessions.add(session)
  else state.shortSessions.delete(session)
}

function isSessionShort(session: Session): boolean {
  const { head, load, tail } = session
  if (tail === null || session.isTailOnly || (head !== null && isAheadOfTail(session, head))) return false
  return head?.retrying === true || load.active < sessionLimit(load.maxConcurrent, load.context)
}

/** Why the last pick found nothing although there may be a run; told once. */
export function takeShortage(state: QueueState): Shortage | null {
  const { shortage } = state
  state.shortage = null
  return shortage
}

/** What must be loaded for sessions before anything is picked; null: nothing. */
export const shortSessionsOf = ({ shortSessions }: QueueState): Shortage | null =>
  shortSessions.size === 0 ? null : { lines: [], sessions: [...shortSessions].map(({ key }) => key) }

/** Numbers of runs that are queued in memory. */
export interface QueuedBeside {
  readonly inSession: number
  readonly ofAgentInLane: number
}

/** How many runs are queued in memory beside this one, itself included. */
export function queuedBeside(state: QueueState, id: RunId): QueuedBeside {
  const entry = state.runs.get(id)
  if (entry === undefined) return { inSession: 0, ofAgentInLane: 0 }
  const { session, agentInLane } = entry
  const inSession = session === null || session.head === null ? 0 : 1 + session.waiting.items.length
  return { inSession, ofAgentInLane: agentInLane.queued }
}
