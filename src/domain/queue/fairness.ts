import type { RunId } from '../ids.ts'
import type { Instant } from '../instant.ts'
import { addAll } from '../long-lists.ts'
import { closedGate, explainWait, type LaneLoad, type Load, type GateFacts, type Wait } from './gates.ts'
import {
  firstEntryOf,
  isRunFirst,
  holdQueue,
  isServedFirst,
  postponeEntry,
  blockGroup,
  releaseDueRuns,
} from './ready-lines.ts'
import { createEntry, deleteUnused, queuePosition } from './build.ts'
import {
  type QueueEntry,
  type QueueKind,
  QUEUE_KINDS,
  type Lane,
  type AgentQueue,
  type Mutable,
  type QueueState,
  type QueuedRun,
} from './queued-run.ts'
import { holdForProvider } from './ready-providers.ts'
import { closedGateOfLine, isBlockedByBudgets, isShort, shortageOf, shortSessionsOf } from './tails.ts'

/** The state of a node when it picks a run. */
export interface PickContext {
  readonly now: Instant
  readonly lane: LaneLoad
  /** Catch-up runs on this node. */
  readonly catchup: Load
}

/** The facts outside the ready queue that explain why a run waits. */
export interface ExplainContext extends PickContext {
  /** Whether a live node or worker can execute it. */
  readonly executable: boolean
  /** The slots of the run's schedule; read only for a run that waits for one. */
  readonly scheduleSlots?: number
}

/** The run that may start now in the lane. Runs that are refused on the way leave the lane until something changes. */
export function pickNext(state: QueueState, at: PickContext): QueuedRun | null {
  releaseDueRuns(state, at.now)
  state.shortage = shortSessionsOf(state)
  const lane = state.lanes.get(at.lane.name)
  if (lane === undefined || state.shortage !== null) return null
  const facts = gateFactsAt(state, at)
  const closed: QueueKind[] = []
  for (let queue = firstQueue(lane, closed); queue !== undefined; queue = firstQueue(lane, closed)) {
    if (isShort(queue)) {
      if (lacksRuns(state, { queue, facts, closed })) {
        state.shortage = shortageOf(queue, lane, at.lane.size - at.lane.held)
        return null
      }
      continue
    }
    const entry = firstEntryOf(queue)
    if (entry === undefined) return null
    setEntryFacts(facts, entry)
    const blocked = closedGate(entry, facts)
    if (blocked === null) return entry.run
    if (blocked === 'lane' || blocked === 'org') return null
    if (blocked === 'agent') holdQueue(queue)
    else if (blocked === 'provider') holdForProvider(queue)
    else removeRefused(state, { entry, queue, facts, closed })
  }
  return null
}

interface ShortQueue {
  readonly queue: AgentQueue
  readonly facts: Mutable<GateFacts>
  readonly closed: QueueKind[]
}

/**
 * Whether runs of the line must be loaded before it can be asked. If none of them may start, the line leaves the lane
 * as if its first run had been refused.
 */
function lacksRuns(state: QueueState, { queue, facts, closed }: ShortQueue): boolean {
  const { agent } = queue.agentInLane
  facts.session = null
  facts.agent = agent.load
  facts.agentTasks = agent.tasks
  facts.provider = agent.provider
  const blocked = closedGateOfLine(queue, facts)
  if (blocked === null) return !isBlockedByBudgets(state, queue)
  if (blocked === 'lane' || blocked === 'org') addAll(closed, QUEUE_KINDS)
  else if (blocked === 'agent') holdQueue(queue)
  else if (blocked === 'provider') holdForProvider(queue)
  else if (queue.kind === 'task' && isFull(facts.agentTasks)) holdQueue(queue)
  else closed.push(queue.kind)
  return false
}

/** Why the run has not started, according to the gates. */
export function explainEntry(state: QueueState, entry: QueueEntry, at: ExplainContext): Wait {
  const facts = gateFactsAt(state, at)
  setEntryFacts(facts, entry)
  const parkedBehind = entry.parkedBehind === null ? null : (at.scheduleSlots ?? entry.parkedBehind)
  return explainWait({ ...entry, executable: at.executable, parkedBehind }, facts, queuePosition(entry))
}

/** Where a run in the backlog is. */
export interface BacklogPlace {
  /** Its position in the queue of its agent; a text if it is too far back to be counted. */
  readonly position: number | string
  /** The first run of its session, unless that is this run; null: its session, if it has one, has none before it. */
  readonly ahead: RunId | null
}

/** The same for a run in the backlog. */
export function explainOutside(state: QueueState, run: QueuedRun, at: ExplainContext & BacklogPlace): Wait {
  const entry = createEntry(state, run)
  const facts = gateFactsAt(state, at)
  setEntryFacts(facts, entry)
  const { session } = facts
  if (session !== null) facts.session = { ...session, head: session.head ?? at.ahead }
  const wait = explainWait({ ...entry, executable: at.executable }, facts, at.position)
  deleteUnused(state, entry)
  return wait
}

const gateFactsAt = (state: QueueState, at: PickContext): Mutable<GateFacts> => ({
  now: at.now,
  session: null,
  agent: state.load,
  agentTasks: state.tasks,
  org: state.load,
  orgTasks: state.tasks,
  budgets: state.budgets,
  provider: null,
  catchup: at.catchup,
  lane: at.lane,
})

function setEntryFacts(facts: Mutable<GateFacts>, entry: QueueEntry): void {
  const { agent } = entry.agentInLane
  facts.session = entry.session?.load ?? null
  facts.agent = agent.load
  facts.agentTasks = agent.tasks
  facts.provider = agent.provider
}

function firstQueue(lane: Lane, closed: readonly QueueKind[]): AgentQueue | undefined {
  let first: AgentQueue | undefined
  for (const kind of QUEUE_KINDS) {
    const queue = lane.queues[kind].items[0]
    if (queue === undefined || closed.includes(kind)) continue
    if (first === undefined || isQueueAhead(queue, first)) first = queue
  }
  return first
}

function isQueueAhead(a: AgentQueue, b: AgentQueue): boolean {
  if (a.agentInLane !== b.agentInLane) return isServedFirst(a.agentInLane, b.agentInLane)
  // Its first run is not known yet.
  if (isShort(a) || isShort(b)) return isShort(a)
  const [first, second] = [firstEntryOf(a), firstEntryOf(b)]
  return first !== undefined && second !== undefined && isRunFirst(first, second)
}

const isFull = (load: Load): boolean => load.limit !== null && load.inFlight >= load.limit

interface RefusedEntry {
  readonly entry: QueueEntry
  readonly queue: AgentQueue
  readonly facts: GateFacts
  readonly closed: QueueKind[]
}

/**
 * Removes a refused run from the lane, together with all runs that the same closed gate blocks: all of its kind in
 * the lane, those of its agent, those with the same reserves, or only itself.
 */
function removeRefused(state: QueueState, refused: RefusedEntry): void {
  const { entry, queue, facts, closed } = refused
  const { kind } = queue
  if (entry.notBefore !== null && entry.notBefore > facts.now) postponeEntry(state, entry)
  else if (kind === 'task' && isFull(facts.agentTasks)) holdQueue(queue)
  else if (kind === 'task' && isFull(facts.orgTasks)) closed.push(kind)
  else if (kind === 'catchup' && isFull(facts.catchup)) closed.push(kind)
  else if (entry.group !== null) blockGroup(state, entry.group)
}
