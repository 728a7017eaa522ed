import { isWorkerKey } from '../executor/worker-agent.ts'
import { type AgentId, laneName, type LaneName, type SessionKey } from '../../domain/ids.ts'
import { DEFAULT_LANES, resolveLane } from '../../domain/queue/lanes.ts'
import { isActive, isInFlight, isRetrying } from '../../domain/run/run.ts'
import { inSessionOrder } from '../../domain/session/session.ts'
import { WideMap } from '../../domain/queue/large-map.ts'
import { NOWHERE, seatHeap } from './heap.ts'
import { moveLines } from './line-up-lines.ts'
import type { Agent, AgentInLane, Entry, Lane, Line, Places, Session, Standee } from './line-up-places.ts'
import { goesFirst, isServedFirst } from './picking-order.ts'
import { addRanked, rankedList, rankOf, removeRanked } from './ranked-list.ts'

/** At most so many agents without work are remembered per lane; who was served before all of them counts as unserved. */
const REMEMBERED = 10_000

const isEarlier = (a: Entry, b: Entry): boolean => (a.notBefore ?? 0) < (b.notBefore ?? 0)
const isAhead = (a: Entry, b: Entry): boolean => inSessionOrder(a, b) < 0

const isLineFirst = (a: Line, b: Line): boolean => isServedFirst(a.share, b.share)

/** A line-up that has been told nothing. */
export const emptyPlaces = (): Places => ({
  runs: new WideMap(),
  lanes: new Map(),
  agents: new Map(),
  sessions: new Map(),
  load: { inFlight: 0, limit: null },
  tasks: { inFlight: 0, limit: null },
  budgets: new Map(),
  short: new Set(),
  providers: new Map(),
  early: seatHeap(isEarlier),
  executable: new Map(),
  can: () => true,
  laneNames: new Map(Object.keys(DEFAULT_LANES).map((name) => [laneName(name), null])),
  tasksPerAgent: null,
  served: 0,
})

/** Where a run stands: in the lane that serves the name on this node, or with others that wait for the same workers. */
export function servingLane(places: Places, run: Pick<Standee, 'lane' | 'executorKey'>): LaneName {
  if (isWorkerKey(run.executorKey)) return laneName(run.executorKey)
  return places.laneNames.has(run.lane) ? run.lane : resolveLane(run.lane, places.laneNames)
}

/** Whether this node can execute it; asked once per key until the answers change. */
export function canExecute(places: Places, key: string): boolean {
  const known = places.executable.get(key)
  if (known !== undefined) return known
  const can = places.can(key)
  places.executable.set(key, can)
  return can
}

/** The agent's standing, made on demand. */
export function agentOf(places: Places, id: AgentId): Agent {
  const known = places.agents.get(id)
  if (known !== undefined) return known
  const agent: Agent = {
    id,
    load: { inFlight: 0, limit: null },
    tasks: { inFlight: 0, limit: places.tasksPerAgent },
    shares: new Map(),
    queued: rankedList<Entry>(goesFirst),
    held: new Set(),
    provider: null,
  }
  places.agents.set(id, agent)
  return agent
}

/** The session's standing, made on demand: without settings one run at a time. */
export function sessionOf(places: Places, key: SessionKey): Session {
  const known = places.sessions.get(key)
  if (known !== undefined) return known
  const load = { active: 0, stopping: 0, maxConcurrent: 1, context: null, head: null }
  const session: Session = { key, load, head: null, behind: seatHeap(isAhead), runs: 0, isSet: false }
  places.sessions.set(key, session)
  return session
}

function laneOf(places: Places, name: LaneName): Lane {
  const known = places.lanes.get(name)
  if (known !== undefined) return known
  const lines = { ordinary: seatHeap(isLineFirst), task: seatHeap(isLineFirst), catchup: seatHeap(isLineFirst) }
  const lane: Lane = { name, lines, left: new Map(), inFlight: 0, queued: 0 }
  places.lanes.set(name, lane)
  return lane
}

/** The agent's standing in a lane, made on demand. */
export function shareOf(places: Places, agent: Agent, name: LaneName): AgentInLane {
  const known = agent.shares.get(name)
  if (known !== undefined) return known
  const lane = laneOf(places, name)
  const servedAt = lane.left.get(agent.id) ?? -1
  lane.left.delete(agent.id)
  const share: AgentInLane = { id: agent.id, agent, lane, lines: new Map(), inFlight: 0, servedAt, runs: 0 }
  agent.shares.set(name, share)
  return share
}

/** What is to be remembered of a run as it is now. */
export function entryOf(places: Places, run: Standee): Entry {
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
    executable: canExecute(places, run.executorKey),
    reserves: run.reserves,
    run,
    share: shareOf(places, agentOf(places, run.agentId), servingLane(places, run)),
    session: run.sessionKey === null ? null : sessionOf(places, run.sessionKey),
    executorKey: run.executorKey,
    isQueued: run.state === 'queued',
    inFlight: isInFlight(run.state),
    isActive: counts && isActive(run),
    isStopping: counts && run.state === 'stopping',
    heap: null,
    bundle: null,
    seat: NOWHERE,
  }
}

/** Drops what holds nothing any more. */
export function tidy(places: Places, entry: Pick<Entry, 'share' | 'session'>): void {
  const { share, session } = entry
  if (share.runs === 0) forgetShare(share)
  forgetAgentIfIdle(places, share.agent)
  if (session !== null && session.runs === 0 && !session.isSet) places.sessions.delete(session.key)
}

/** Drops an agent that has neither runs nor a limit nor a provider. */
export function forgetAgentIfIdle(places: Places, agent: Agent): void {
  if (agent.shares.size === 0 && agent.load.limit === null && agent.provider === null) places.agents.delete(agent.id)
}

function forgetShare(share: AgentInLane): void {
  const { agent, lane } = share
  for (const line of share.lines.values()) {
    agent.held.delete(line)
    agent.provider?.held.delete(line)
  }
  agent.shares.delete(lane.name)
  if (share.servedAt < 0) return
  lane.left.set(agent.id, share.servedAt)
  if (lane.left.size > REMEMBERED) forgetOldest(lane.left)
}

/**
 * Those who left longest ago were, near enough, served longest ago: forgetting them changes the order least. Many go at
 * once, because every walk from the front of a map passes what was deleted there before.
 */
function forgetOldest(left: Lane['left']): void {
  let kept = left.size
  for (const id of left.keys()) {
    left.delete(id)
    kept -= 1
    if (kept <= 0.9 * REMEMBERED) return
  }
}

/** Counts a run for all it is, or with -1 takes back what it was counted for. */
export function count(places: Places, entry: Entry, by: 1 | -1): void {
  const { share, session } = entry
  share.runs += by
  if (session !== null) {
    session.runs += by
    if (entry.isActive) session.load.active += by
    if (entry.isStopping) session.load.stopping += by
  }
  if (entry.isQueued) countQueued(entry, by)
  if (!entry.inFlight) return
  share.agent.load.inFlight += by
  if (share.agent.provider !== null) share.agent.provider.inFlight += by
  places.load.inFlight += by
  if (entry.trigger === 'task') {
    share.agent.tasks.inFlight += by
    places.tasks.inFlight += by
  }
  share.lane.inFlight += by
  share.inFlight += by
  moveLines(share)
}

function countQueued(entry: Entry, by: 1 | -1): void {
  const { agent, lane } = entry.share
  lane.queued += by
  if (by === 1) addRanked(agent.queued, entry)
  else removeRanked(agent.queued, entry)
}

/** A run goes into flight: its agent was served, and what it sets aside is no longer there for others. */
export function serve(places: Places, entry: Entry): void {
  places.served += 1
  entry.share.servedAt = places.served
  moveLines(entry.share)
  for (const { budgetId, amount } of entry.reserves) {
    const budget = places.budgets.get(budgetId)
    if (budget !== undefined) places.budgets.set(budgetId, { ...budget, remaining: budget.remaining - amount })
  }
}

/** The place of a run among the queued runs of its agent, counted from 1. */
export const placeOf = (entry: Entry): number => rankOf(entry.share.agent.queued, entry) + 1
