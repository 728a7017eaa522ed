import type { AgentId, BudgetId, LaneName, OrgId, ProviderName, RunId, SessionKey } from '../ids.ts'
import type { Instant } from '../instant.ts'
import {
  getOrCreateAgent,
  canExecute,
  countEntry,
  createQueueState,
  createEntry,
  forgetAgentIfIdle,
  hasReady,
  pendingOf,
  queuedIn,
  queuePosition,
  queuedBefore,
  recordServed,
  servingLane,
  getOrCreateSession,
  getOrCreateAgentInLane,
  deleteUnused,
} from './build.ts'
import {
  type BacklogPlace,
  explainEntry,
  explainOutside,
  type ExplainContext,
  pickNext,
  type PickContext,
} from './fairness.ts'
import type { BudgetLoad, LaneLoad, ProviderLoad, ProviderStatus, SessionLoad, Wait } from './gates.ts'
import { NOT_IN_HEAP, addToHeap } from './heap.ts'
import type {
  LineKey,
  PickingKey,
  QueueEntry,
  Mutable,
  QueueState,
  Session,
  SessionTail,
  Shortage,
  QueuedRun,
} from './queued-run.ts'
import { hasBudget, mayCompete, releaseAgent, startCompeting, stopCompeting, unblockGroup } from './ready-lines.ts'
import { assignProvider, providerOpensAt, reviewProviders, setProviders } from './ready-providers.ts'
import { isTerminal } from '../run/run-machine.ts'
import {
  queuedBeside,
  type QueuedBeside,
  reattachTails,
  reviewShortage,
  setSessionTail,
  setTail,
  shortSessionsOf,
  takeShortage,
  uncapQueues,
} from './tails.ts'

/** Adds a queued run: to the order of its session if it has one. The caller reviews the session's head afterwards. */
function enqueue(state: QueueState, entry: QueueEntry): void {
  const { session } = entry
  // A parked run gets its position with its slot; see `hasPlace`.
  if (entry.parkedBehind !== null) return
  if (session === null) {
    updateCompeting(state, entry)
    return
  }
  const { head } = session
  if (head === null) setHead(session, entry)
  else if (session.waiting.isBefore(entry, head)) {
    stopCompeting(state, head)
    setHead(session, entry)
    addBehindHead(session, head)
  } else addBehindHead(session, entry)
}

/** Removes a queued run; the next of its session becomes the head, which the caller reviews afterwards. */
function dequeue(state: QueueState, entry: QueueEntry): void {
  const { session } = entry
  stopCompeting(state, entry)
  if (session === null || session.head !== entry) return
  const next = session.waiting.items[0] ?? null
  if (next !== null) stopCompeting(state, next)
  setHead(session, next)
}

function setHead(session: Session, entry: QueueEntry | null): void {
  session.head = entry
  session.load.head = entry?.id ?? null
}

function addBehindHead(session: Session, entry: QueueEntry): void {
  addToHeap(session.waiting, entry)
  entry.heap = session.waiting
}

/** Updates whether the head of a session competes after the session has changed. */
function updateHeadCompeting(state: QueueState, session: Session | null): void {
  if (session === null) return
  if (session.head !== null) updateCompeting(state, session.head)
  reviewShortage(state, session)
}

/** Updates whether a head, or a run without a session, competes. */
function updateCompeting(state: QueueState, entry: QueueEntry): void {
  const may = mayCompete(entry)
  if (may && entry.heap === null) startCompeting(entry)
  if (!may && entry.heap !== null) stopCompeting(state, entry)
}

function limitSession(
  state: QueueState,
  session: Session,
  limits: Pick<SessionLoad, 'maxConcurrent' | 'context'>,
): void {
  const load: Mutable<SessionLoad> = session.load
  load.maxConcurrent = limits.maxConcurrent
  load.context = limits.context
  updateHeadCompeting(state, session)
}

/** The limits of an org; null: none. */
export interface OrgLimits {
  readonly maxConcurrent: number | null
  readonly tasksInflight: number | null
  readonly tasksPerAgentInflight: number | null
}

/** The limits of an agent; null: none. */
export interface AgentLimits {
  readonly maxConcurrent: number | null
  /** The provider it calls, if that has quotas. */
  readonly provider?: ProviderName | null
}

/**
 * All pending runs of one org, indexed so that picking the next run of a lane costs the same with ten runs as with a
 * million: it is notified of every change and checks only what the change affects. In every lane the agent with the
 * fewest runs in flight goes first, then the one least recently served, then lower priority, age and id; in a session
 * only the head competes. A test compares it with a picker that checks everything for every run.
 */
export interface ReadyQueue {
  readonly orgId: OrgId
  /** Adds or updates a run, also with the same object as before; a terminal state removes it. */
  readonly put: (run: QueuedRun) => void
  readonly remove: (id: RunId) => void
  readonly setSession: (key: SessionKey, limits: Pick<SessionLoad, 'maxConcurrent' | 'context'>) => void
  /** Resets the session to one run at a time. */
  readonly forgetSession: (key: SessionKey) => void
  readonly setAgent: (id: AgentId, limits: AgentLimits) => void
  readonly setLimits: (limits: OrgLimits) => void
  /**
   * Sets the remaining amounts of budgets, already reduced by the reserves of runs in flight. Later reserves are
   * deducted here; what a run returns when it ends is known only with the next call.
   */
  readonly setBudgets: (budgets: ReadonlyMap<BudgetId, BudgetLoad>) => void
  /** Sets the providers. The caller keeps the load objects up to date; they are read with every pick. */
  readonly setProviders: (loads: ReadonlyMap<ProviderName, ProviderLoad>) => void
  /** Returns runs to the competition whose provider has opened. */
  readonly reviewProviders: (now: Instant) => void
  /** Sets what this node can execute; other runs are not offered. Checks every run if any answer has changed. */
  readonly setExecutable: (can: (executorKey: string) => boolean) => void
  /** Sets the lanes of this node; runs of unknown lanes go to `main`. Checks every run if they have changed. */
  readonly setLanes: (names: ReadonlySet<LaneName>) => void
  /** The run that may start now in this lane. It stays in the queue until it is put back as running. */
  readonly next: (at: PickContext) => QueuedRun | null
  /** Whether any run competes in the lane; a limit of the org, the node or a budget may still refuse it. */
  readonly hasReady: (lane: LaneName) => boolean
  /** When `next` may return something new without any change: a not-before comes, or a provider opens. */
  readonly wakesAt: () => Instant | null
  readonly get: (id: RunId) => QueuedRun | null
  readonly size: () => number
  /** The lane that serves the run. */
  readonly laneOf: (id: RunId) => LaneName | null
  readonly queuedIn: (lane: LaneName) => number
  /** All queued runs. */
  readonly queued: () => number
  readonly inFlightIn: (lane: LaneName) => number
  readonly inFlight: () => number
  readonly tasksInFlight: () => number
  readonly inFlightOf: (id: AgentId) => number
  /** Queued runs of the agent. */
  readonly queuedOf: (id: AgentId) => number
  /** All pending runs of the agent. */
  readonly pendingOf: (id: AgentId) => number
  /** How many agents have pending runs, limits or a provider. */
  readonly agents: () => number
  /** The provider with its runs; null when it is unknown. */
  readonly provider: (name: ProviderName) => ProviderStatus | null
  /** Null when the session is unknown. */
  readonly session: (key: SessionKey) => SessionLoad | null
  /** Sets the key before which no competing run of the line in the backlog sorts; null: there is none. */
  readonly setBacklog: (line: LineKey, bound: PickingKey | null) => void
  /** Sets how many runs of the session are in the backlog, and their first position. */
  readonly setBehind: (key: SessionKey, tail: SessionTail) => void
  /** What must be loaded before the last `next` can be answered, told once; null: its answer is final. */
  readonly shortage: () => Shortage | null
  /** Sessions whose next run must be loaded. */
  readonly shortSessions: () => Shortage | null
  /** How many runs are queued in memory in the same session, and for the same agent in the same lane. */
  readonly queuedBeside: (id: RunId) => QueuedBeside
  /** Why the run has not started; null when it is not waiting. */
  readonly explain: (id: RunId, at: ExplainContext) => Wait | null
  /** The same for a run in the backlog. */
  readonly explainOutside: (run: QueuedRun, at: OutsideContext) => Wait
  /** 1 + the number of queued runs of the same agent that go first; null when it is not queued. */
  readonly positionOf: (id: RunId) => number | null
  /** How many queued runs of the agent in memory go before this key. */
  readonly queuedBefore: (id: AgentId, key: PickingKey) => number
}

/** The facts that explain why a run in the backlog waits; its lane is found by the queue. */
export type OutsideContext = Omit<ExplainContext, 'lane'> &
  BacklogPlace & { readonly laneAt: (name: LaneName) => LaneLoad }

/** Creates an empty ready queue for one org. */
export function createReadyQueue(orgId: OrgId, maxBlocked = Infinity): ReadyQueue {
  const state = createQueueState(maxBlocked)
  const entryAt = (id: RunId): QueueEntry | undefined => state.runs.get(id)
  return {
    orgId,
    put: (run) => putQueuedRun(state, run),
    remove: (id) => replaceEntry(state, id, null),
    setSession: (key, limits) => {
      const session = getOrCreateSession(state, key)
      session.hasLimits = true
      limitSession(state, session, limits)
    },
    forgetSession: (key) => forgetSession(state, key),
    setAgent: (id, limits) => setAgent(state, id, limits),
    setLimits: (limits) => setLimits(state, limits),
    setBudgets: (budgets) => setBudgets(state, budgets),
    setProviders: (loads) => setProviders(state, loads),
    reviewProviders: (now) => reviewProviders(state, now),
    setExecutable: (can) => setExecutable(state, can),
    setLanes: (names) => setLanes(state, names),
    next: (at) => pickNext(state, at),
    hasReady: (lane) => hasReady(state, lane),
    wakesAt: () => earlierOf(state.notYetDue.items[0]?.notBefore ?? null, providerOpensAt(state)),
    get: (id) => entryAt(id)?.run ?? null,
    size: () => state.runs.size,
    laneOf: (id) => entryAt(id)?.agentInLane.lane.name ?? null,
    queuedIn: (lane) => state.lanes.get(lane)?.queued ?? 0,
    queued: () => queuedIn(state),
    inFlightIn: (lane) => state.lanes.get(lane)?.inFlight ?? 0,
    inFlight: () => state.load.inFlight,
    tasksInFlight: () => state.tasks.inFlight,
    inFlightOf: (id) => state.agents.get(id)?.load.inFlight ?? 0,
    queuedOf: (id) => state.agents.get(id)?.queued.size ?? 0,
    pendingOf: (id) => pendingOf(state, id),
    agents: () => state.agents.size,
    provider: (name) => state.providers.get(name) ?? null,
    session: (key) => state.sessions.get(key)?.load ?? null,
    setBacklog: (line, bound) => setTail(state, line, bound),
    setBehind: (key, tail) => {
      setSessionTail(state, key, tail)
      updateHeadCompeting(state, state.sessions.get(key) ?? null)
    },
    shortage: () => takeShortage(state),
    shortSessions: () => shortSessionsOf(state),
    queuedBeside: (id) => queuedBeside(state, id),
    explain: (id, at) => {
      const entry = entryAt(id)
      return entry === undefined || entry.inFlight ? null : explainEntry(state, entry, at)
    },
    explainOutside: (run, at) => explainOutside(state, run, { ...at, lane: at.laneAt(servingLane(state, run)) }),
    queuedBefore: (id, key) => queuedBefore(state, id, key),
    positionOf: (id) => {
      const entry = entryAt(id)
      return entry?.isQueued === true ? queuePosition(entry) : null
    },
  }
}

function putQueuedRun(state: QueueState, run: QueuedRun): void {
  const known = state.runs.get(run.id)
  // Picked runs are put back unchanged except for their state; that is the most frequent change.
  if (known?.run === run && known.isQueued && run.state === 'running' && known.reserves === run.reserves)
    startEntry(state, known, run.sessionKey !== null && run.inGeneration)
  else replaceEntry(state, run.id, isTerminal(run.state) ? null : createEntry(state, run))
}

function forgetSession(state: QueueState, key: SessionKey): void {
  const session = state.sessions.get(key)
  if (session === undefined) return
  session.hasLimits = false
  session.tail = null
  limitSession(state, session, { maxConcurrent: 1, context: null })
  if (session.runs === 0) state.sessions.delete(key)
}

const earlierOf = (a: Instant | null, b: Instant | null): Instant | null =>
  a === null || (b !== null && b < a) ? b : a

function setAgent(state: QueueState, id: AgentId, { maxConcurrent, provider = null }: AgentLimits): void {
  const agent = getOrCreateAgent(state, id)
  agent.load.limit = maxConcurrent
  assignProvider(state, agent, provider)
  releaseAgent(agent)
  forgetAgentIfIdle(state, agent)
}

function setLimits(state: QueueState, limits: OrgLimits): void {
  state.load.limit = limits.maxConcurrent
  state.tasks.limit = limits.tasksInflight
  if (state.tasksPerAgent === limits.tasksPerAgentInflight) return
  state.tasksPerAgent = limits.tasksPerAgentInflight
  for (const agent of state.agents.values()) {
    agent.tasks.limit = limits.tasksPerAgentInflight
    releaseAgent(agent)
  }
}

function setBudgets(state: QueueState, budgets: ReadonlyMap<BudgetId, BudgetLoad>): void {
  uncapQueues(state)
  state.budgets.clear()
  for (const [id, load] of budgets) state.budgets.set(id, load)
  for (const group of state.outOfBudget) {
    const first = group.runs.items[0]
    if (first !== undefined && hasBudget(first, state)) unblockGroup(state, group)
  }
}

function setExecutable(state: QueueState, can: (executorKey: string) => boolean): void {
  state.isExecutable = can
  const changed = [...state.executable].filter(([key, could]) => can(key) !== could)
  // The cache contains the key of every run, so equal answers leave nothing to update.
  if (changed.length === 0) return
  state.executable.clear()
  for (const entry of state.runs.values()) {
    const executable = canExecute(state, entry.executorKey)
    if (executable === entry.executable) continue
    entry.executable = executable
    if (entry.isQueued && (entry.session === null || entry.session.head === entry)) updateCompeting(state, entry)
  }
  reattachTails(state)
}

function setLanes(state: QueueState, names: ReadonlySet<LaneName>): void {
  const known = state.laneNames
  if (known.size === names.size && [...names].every((name) => known.has(name))) return
  state.laneNames = new Map([...names].map((name) => [name, null]))
  for (const entry of [...state.runs.values()]) moveToLane(state, entry)
  reattachTails(state)
}

/** Replaces the entry of a run and all its counts; null removes it. */
function replaceEntry(state: QueueState, id: RunId, entry: QueueEntry | null): void {
  const before = state.runs.get(id)
  const agent = before?.agentInLane.agent
  const [inFlight, tasks] = [agent?.load.inFlight ?? 0, agent?.tasks.inFlight ?? 0]
  if (before !== undefined) removeEntry(state, before)
  if (entry !== null) {
    addEntry(state, entry)
    if (entry.inFlight && before?.inFlight !== true) recordServed(state, entry)
  }
  if (agent !== undefined && (agent.load.inFlight < inFlight || agent.tasks.inFlight < tasks)) releaseAgent(agent)
  if (before !== undefined) updateHeadCompeting(state, before.session)
  if (entry !== null && entry.session !== before?.session) updateHeadCompeting(state, entry.session)
  if (before !== undefined) deleteUnused(state, before)
}

/** Updates a queued run that goes into flight without any other change, in place. */
function startEntry(state: QueueState, entry: QueueEntry, isActive: boolean): void {
  dequeue(state, entry)
  countEntry(state, entry, -1)
  entry.isQueued = false
  entry.inFlight = true
  entry.isActive = isActive
  entry.retrying = false
  countEntry(state, entry, 1)
  recordServed(state, entry)
  updateHeadCompeting(state, entry.session)
}

function removeEntry(state: QueueState, entry: QueueEntry): void {
  state.runs.delete(entry.id)
  if (entry.isQueued) dequeue(state, entry)
  countEntry(state, entry, -1)
}

function addEntry(state: QueueState, entry: QueueEntry): void {
  state.runs.set(entry.id, entry)
  const { session } = entry
  if (session !== null && (entry.isActive || (entry.isQueued && entry.parkedBehind === null)))
    session.isTailOnly = false
  countEntry(state, entry, 1)
  if (entry.isQueued) enqueue(state, entry)
}

/** Moves a run to the lane that now serves it, if it differs. */
function moveToLane(state: QueueState, entry: QueueEntry): void {
  const name = servingLane(state, entry)
  if (name === entry.agentInLane.lane.name) return
  const agentInLane = getOrCreateAgentInLane(state, getOrCreateAgent(state, entry.agentId), name)
  replaceEntry(state, entry.id, { ...entry, agentInLane, heap: null, group: null, heapIndex: NOT_IN_HEAP })
}
