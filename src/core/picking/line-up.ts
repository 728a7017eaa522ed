import type { AgentId, BudgetId, LaneName, OrgId, ProviderName, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { BudgetLoad, SessionLoad, Wait } from '../../domain/queue/gates.ts'
import { NOWHERE } from './heap.ts'
import { competeAgain, release } from './line-up-lines.ts'
import {
  agentOf,
  canExecute,
  count,
  emptyPlaces,
  entryOf,
  forgetAgentIfIdle,
  placeOf,
  serve,
  servingLane,
  sessionOf,
  shareOf,
  tidy,
} from './line-up-making.ts'
import { explainEntry, type ExplainMoment, nextIn, type PickingMoment } from './line-up-next.ts'
import { type Entry, KINDS, type Places, type Standee } from './line-up-places.ts'
import { assignProvider, providerOpensAt, reviewProviders, setProviders } from './line-up-providers.ts'
import { dequeue, enqueue, hasBudget, limitSession, review, reviewHead } from './line-up-sessions.ts'
import type { ProviderLoad, ProviderStanding } from './provider-gate.ts'

/** The limits of an org. Null: none. */
export interface OrgLimits {
  readonly maxConcurrent: number | null
  readonly tasksInflight: number | null
  readonly tasksPerAgentInflight: number | null
}

/** The limits of an agent. Null: none. */
export interface AgentLimits {
  readonly maxConcurrent: number | null
  /** What it calls, if that has quotas. */
  readonly provider?: ProviderName | null
}

/**
 * All pending runs of one org, kept so that "which run next in this lane?" costs no more with a million of them than
 * with ten: it is told of every change and looks only at what the change concerns. In every lane the agent with the
 * fewest in flight goes first, each tie to the one unserved longest, then lower priority, then age, then id; inside a
 * session only its head competes. A test compares it with a picker that looks at everything for every run.
 */
export interface LineUp {
  readonly orgId: OrgId
  /** A new run, or what has changed about one; the object may be the one handed in before. A terminal state removes it. */
  readonly put: (run: Standee) => void
  readonly remove: (id: RunId) => void
  readonly setSession: (key: SessionKey, limits: Pick<SessionLoad, 'maxConcurrent' | 'context'>) => void
  /** Back to one run at a time. */
  readonly forgetSession: (key: SessionKey) => void
  readonly setAgent: (id: AgentId, limits: AgentLimits) => void
  readonly setLimits: (limits: OrgLimits) => void
  /**
   * What budgets have left, whatever is in flight now already taken off; what goes into flight later is taken off here.
   * What a run gives back when it ends is known only with the next call.
   */
  readonly setBudgets: (budgets: ReadonlyMap<BudgetId, BudgetLoad>) => void
  /** Which providers there are. Their loads are kept right by the caller and looked at whenever a run is picked. */
  readonly setProviders: (loads: ReadonlyMap<ProviderName, ProviderLoad>) => void
  /** Lets work compete again whose provider has opened, by itself or by the end of a run. */
  readonly reviewProviders: (now: Instant) => void
  /** What this node can execute; the rest is not offered. Looks at every run if any answer has changed. */
  readonly setExecutable: (can: (executorKey: string) => boolean) => void
  /** The lanes of this node; work for any other goes to `main`. Looks at every run if they have changed. */
  readonly setLanes: (names: ReadonlySet<LaneName>) => void
  /** The run that may start now in this lane. It stays where it is until it is put back as running. */
  readonly next: (at: PickingMoment) => Standee | null
  /** Whether anything competes in the lane. It may, and yet be refused by a limit of the org, the node or a budget. */
  readonly hasReady: (lane: LaneName) => boolean
  /** When `next` is worth asking again although nothing was put: a not-before has come, or a provider opens. */
  readonly wakesAt: () => Instant | null
  readonly get: (id: RunId) => Standee | null
  readonly size: () => number
  /** The lane that serves the run. */
  readonly laneOf: (id: RunId) => LaneName | null
  readonly queuedIn: (lane: LaneName) => number
  /** Queued runs, wherever they stand. */
  readonly queued: () => number
  readonly inFlightIn: (lane: LaneName) => number
  readonly inFlight: () => number
  readonly tasksInFlight: () => number
  readonly inFlightOf: (id: AgentId) => number
  /** Queued runs of the agent. */
  readonly queuedOf: (id: AgentId) => number
  /** Pending runs of the agent, whatever they wait for. */
  readonly pendingOf: (id: AgentId) => number
  /** How many agents have pending runs, limits or a provider. */
  readonly agents: () => number
  /** The provider with its work; null when nothing is known of it. */
  readonly provider: (name: ProviderName) => ProviderStanding | null
  /** Null when nothing is known of it. */
  readonly session: (key: SessionKey) => SessionLoad | null
  /** Why the run has not started. Null when it is not waiting to. */
  readonly explain: (id: RunId, at: ExplainMoment) => Wait | null
  /** 1 + the queued runs of the same agent that go first. Null when it is not queued. */
  readonly positionOf: (id: RunId) => number | null
}

/** A line-up of one org that knows no run yet. */
export function createLineUp(orgId: OrgId): LineUp {
  const places = emptyPlaces()
  const entryAt = (id: RunId): Entry | undefined => places.runs.get(id)
  return {
    orgId,
    put: (run) => putIn(places, run),
    remove: (id) => change(places, id, null),
    setSession: (key, limits) => {
      const session = sessionOf(places, key)
      session.isSet = true
      limitSession(places, session, limits)
    },
    forgetSession: (key) => forgetSession(places, key),
    setAgent: (id, limits) => setAgent(places, id, limits),
    setLimits: (limits) => setLimits(places, limits),
    setBudgets: (budgets) => setBudgets(places, budgets),
    setProviders: (loads) => setProviders(places, loads),
    reviewProviders: (now) => reviewProviders(places, now),
    setExecutable: (can) => setExecutable(places, can),
    setLanes: (names) => setLanes(places, names),
    next: (at) => nextIn(places, at),
    hasReady: (lane) => hasReady(places, lane),
    wakesAt: () => earliest(places.early.items[0]?.notBefore ?? null, providerOpensAt(places)),
    get: (id) => entryAt(id)?.run ?? null,
    size: () => places.runs.size,
    laneOf: (id) => entryAt(id)?.share.lane.name ?? null,
    queuedIn: (lane) => places.lanes.get(lane)?.queued ?? 0,
    queued: () => queuedIn(places),
    inFlightIn: (lane) => places.lanes.get(lane)?.inFlight ?? 0,
    inFlight: () => places.load.inFlight,
    tasksInFlight: () => places.tasks.inFlight,
    inFlightOf: (id) => places.agents.get(id)?.load.inFlight ?? 0,
    queuedOf: (id) => places.agents.get(id)?.queued.size ?? 0,
    pendingOf: (id) => pendingOf(places, id),
    agents: () => places.agents.size,
    provider: (name) => places.providers.get(name) ?? null,
    session: (key) => places.sessions.get(key)?.load ?? null,
    explain: (id, at) => {
      const entry = entryAt(id)
      return entry === undefined || entry.inFlight ? null : explainEntry(places, entry, at)
    },
    positionOf: (id) => {
      const entry = entryAt(id)
      return entry?.isQueued === true ? placeOf(entry) : null
    },
  }
}

function putIn(places: Places, run: Standee): void {
  const known = places.runs.get(run.id)
  // What is picked is put back as it was, but running: that is most of what ever changes.
  if (known?.run === run && known.isQueued && run.state === 'running' && known.reserves === run.reserves)
    begin(places, known, run.sessionKey !== null && run.inGeneration)
  else change(places, run.id, isTerminal(run.state) ? null : entryOf(places, run))
}

function forgetSession(places: Places, key: SessionKey): void {
  const session = places.sessions.get(key)
  if (session === undefined) return
  session.isSet = false
  limitSession(places, session, { maxConcurrent: 1, context: null })
  if (session.runs === 0) places.sessions.delete(key)
}

const earliest = (a: Instant | null, b: Instant | null): Instant | null => (a === null || (b !== null && b < a) ? b : a)

function setAgent(places: Places, id: AgentId, { maxConcurrent, provider = null }: AgentLimits): void {
  const agent = agentOf(places, id)
  agent.load.limit = maxConcurrent
  assignProvider(places, agent, provider)
  release(agent)
  forgetAgentIfIdle(places, agent)
}

function setLimits(places: Places, limits: OrgLimits): void {
  places.load.limit = limits.maxConcurrent
  places.tasks.limit = limits.tasksInflight
  if (places.tasksPerAgent === limits.tasksPerAgentInflight) return
  places.tasksPerAgent = limits.tasksPerAgentInflight
  for (const agent of places.agents.values()) {
    agent.tasks.limit = limits.tasksPerAgentInflight
    release(agent)
  }
}

function setBudgets(places: Places, budgets: ReadonlyMap<BudgetId, BudgetLoad>): void {
  places.budgets.clear()
  for (const [id, load] of budgets) places.budgets.set(id, load)
  for (const bundle of places.short) {
    const first = bundle.runs.items[0]
    if (first !== undefined && hasBudget(first, places)) competeAgain(places, bundle)
  }
}

function setExecutable(places: Places, can: (executorKey: string) => boolean): void {
  places.can = can
  const changed = [...places.executable].filter(([key, could]) => can(key) !== could)
  // Every key of a run is among those that were asked about, so equal answers leave nothing to look at.
  if (changed.length === 0) return
  places.executable.clear()
  for (const entry of places.runs.values()) {
    const executable = canExecute(places, entry.executorKey)
    if (executable === entry.executable) continue
    entry.executable = executable
    if (entry.isQueued && (entry.session === null || entry.session.head === entry)) review(places, entry)
  }
}

function setLanes(places: Places, names: ReadonlySet<LaneName>): void {
  const known = places.laneNames
  if (known.size === names.size && [...names].every((name) => known.has(name))) return
  places.laneNames = new Map([...names].map((name) => [name, null]))
  for (const entry of [...places.runs.values()]) moveToLane(places, entry)
}

function hasReady(places: Places, name: LaneName): boolean {
  const lane = places.lanes.get(name)
  return lane !== undefined && KINDS.some((kind) => lane.lines[kind].items.length > 0)
}

function pendingOf(places: Places, id: AgentId): number {
  let pending = 0
  for (const share of places.agents.get(id)?.shares.values() ?? []) pending += share.runs
  return pending
}

function queuedIn(places: Places): number {
  let queued = 0
  for (const lane of places.lanes.values()) queued += lane.queued
  return queued
}

/** Takes back all that was counted for a run and counts what it is now. Null: it is gone. */
function change(places: Places, id: RunId, entry: Entry | null): void {
  const before = places.runs.get(id)
  const agent = before?.share.agent
  const [inFlight, tasks] = [agent?.load.inFlight ?? 0, agent?.tasks.inFlight ?? 0]
  if (before !== undefined) leave(places, before)
  if (entry !== null) {
    enter(places, entry)
    if (entry.inFlight && before?.inFlight !== true) serve(places, entry)
  }
  if (agent !== undefined && (agent.load.inFlight < inFlight || agent.tasks.inFlight < tasks)) release(agent)
  if (before !== undefined) reviewHead(places, before.session)
  if (entry !== null && entry.session !== before?.session) reviewHead(places, entry.session)
  if (before !== undefined) tidy(places, before)
}

/** A queued run goes into flight, and nothing else about it has changed: it is counted anew where it stands. */
function begin(places: Places, entry: Entry, isActive: boolean): void {
  dequeue(places, entry)
  count(places, entry, -1)
  entry.isQueued = false
  entry.inFlight = true
  entry.isActive = isActive
  entry.retrying = false
  count(places, entry, 1)
  serve(places, entry)
  reviewHead(places, entry.session)
}

function leave(places: Places, entry: Entry): void {
  places.runs.delete(entry.id)
  if (entry.isQueued) dequeue(places, entry)
  count(places, entry, -1)
}

function enter(places: Places, entry: Entry): void {
  places.runs.set(entry.id, entry)
  count(places, entry, 1)
  if (entry.isQueued) enqueue(places, entry)
}

/** Moves a run to the lane that serves it now, if that is another. */
function moveToLane(places: Places, entry: Entry): void {
  const name = servingLane(places, entry)
  if (name === entry.share.lane.name) return
  const share = shareOf(places, agentOf(places, entry.agentId), name)
  change(places, entry.id, { ...entry, share, heap: null, bundle: null, seat: NOWHERE })
}
