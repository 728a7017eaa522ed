import type { AgentId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import { type Instant, later, latest } from '../../domain/instant.ts'
import { createReadyQueue, type ReadyQueue } from '../../domain/queue/ready-queue.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import { type ContextUse, sessionOfRun } from '../../domain/session/session.ts'
import { updateReserves } from '../commands/budgets.ts'
import { clearingName, clearingOf } from '../commands/cancel-waiting-store.ts'
import {
  type RandomSource,
  behindIn,
  type OrgState,
  emptyOrgState,
  indexRun,
  rulesOf,
  unindexRun,
} from './org-state.ts'
import { keepPayload, type KeptPayloads, noPayloads, releasePayload } from './payloads.ts'
import { createTimers, type Timers } from './timers.ts'
import { orgLock, type OrgVersion } from '../transaction/history-store.ts'
import type { EngineSettings } from '../../features/config/settings.ts'
import { type RunRow, nextChangeAt } from '../../features/runs/store.ts'
import type { SessionRow } from '../../features/sessions/store.ts'
import type { BacklogRun, LinePart, SessionPart } from './backlog-store.ts'

/**
 * The held occurrences, by release time. Each schedule releases one at a time, oldest first, with the configured
 * spacing in between: after a restart all may be overdue, and policies asked about all of them at once would let each
 * replace the one before.
 */
interface HeldRuns {
  /** A run that was loaded or has changed. */
  readonly put: (run: RunRow) => void
  readonly remove: (run: RunRow) => void
  /** When the next one may be released, not considering free catch-up positions. */
  readonly next: () => Instant | null
  /** A run that may be released now; undefined when there is none. */
  readonly takeDue: () => RunRow | undefined
  /**
   * Whether the last check found no free `catchup_max_active` position: then the next release waits for a run to end.
   */
  isBlocked: boolean
}

/** Timers are keyed by run ids; here they hold schedule ids. */
const asTimerKey = (id: ScheduleId): RunId => id as string as RunId

/** A run created in the future was created before the clock was set back: it waits for the same duration from now. */
const releaseTimeOf = ({ now }: OrgState, { notBefore, createdAt }: RunRow): Instant | null =>
  notBefore === null || createdAt <= now ? notBefore : later(now, notBefore - createdAt)

function createHeldRuns(state: OrgState): HeldRuns {
  const bySchedule = new Map<ScheduleId, Timers>()
  const heads = createTimers()
  const openAt = (id: ScheduleId, at: Instant): Instant => {
    const last = state.schedules.get(id)?.lastReleaseAt ?? null
    // A release in the future was written before the clock was set back.
    if (last === null || last > state.now) return at
    return latest(at, later(last, state.settings.schedules.catchupSpacingMs))
  }
  const arm = (id: ScheduleId): void => {
    const first = bySchedule.get(id)?.next() ?? null
    heads.set(asTimerKey(id), first === null ? null : openAt(id, first))
    if (first === null) bySchedule.delete(id)
  }
  const set = ({ id, scheduleId }: RunRow, at: Instant | null): void => {
    if (scheduleId === null) return
    let runs = bySchedule.get(scheduleId)
    if (runs === undefined) {
      if (at === null) return
      runs = createTimers()
      bySchedule.set(scheduleId, runs)
    }
    runs.set(id, at)
    arm(scheduleId)
  }
  const takeDue = (): RunRow | undefined => {
    for (const timerKey of heads.takeDue(state.now, 1)) {
      const id = timerKey as string as ScheduleId
      const runs = bySchedule.get(id)
      const first = runs?.next() ?? null
      if (runs === undefined || first === null) return takeDue()
      // Another node may have released one since this timer was set.
      if (openAt(id, first) > state.now) {
        arm(id)
        return takeDue()
      }
      const [due] = runs.takeDue(state.now, 1)
      const run = due === undefined ? undefined : state.runs.get(due)
      arm(id)
      return run ?? takeDue()
    }
    return undefined
  }
  return {
    isBlocked: false,
    put: (run) => {
      set(run, isHeld(run) ? releaseTimeOf(state, run) : null)
    },
    remove: (run) => {
      set(run, null)
    },
    next: heads.next,
    takeDue,
  }
}

/** How much of an org is in memory. */
export interface MemoryWindow {
  /** Queued runs of an agent in a lane. */
  readonly line: number
  /** Queued runs of a session. */
  readonly session: number
  /** Queued runs of all lines, if there are many. */
  readonly org: number
  /** An org without a backlog gets one when it has more queued runs than this. Left out: when a line or session is full. */
  readonly free?: number
}

/** Rows of the backlog that are taken out of it. */
export type BacklogRequest =
  | { readonly kind: 'lines'; readonly lines: readonly LinePart[] }
  | { readonly kind: 'sessions'; readonly sessions: readonly SessionPart[] }
  | { readonly kind: 'due'; readonly now: Instant; readonly from: Instant; readonly max: number }
  | { readonly kind: 'ids'; readonly ids: readonly RunId[] }

/** What a node can execute and its settings, the same for every org. */
export interface NodeCapabilities {
  readonly randomSource: RandomSource
  readonly settings: () => EngineSettings
  readonly canExecute: (executorKey: string) => boolean
  readonly laneNames: () => ReadonlySet<LaneName>
  /** Estimates how full sessions are, while a connected client provides it; null: never provided. */
  readonly estimate: (() => ((key: SessionKey) => ContextUse | null) | null) | null
  /** How much of an org is in memory. Null, or left out: new runs are not put into the backlog. */
  readonly window?: () => MemoryWindow | null
  /** Catch-up runs that the node executes or has claimed, counted against `catchup_max_active`. Left out: none. */
  readonly catchups?: () => number
}

/**
 * Everything a node keeps in memory about an org: pending runs, the ready queue, timers and holders. `version` and
 * `newest` name the last transaction it includes. Under the org's lock, with that transaction still the newest, it is
 * valid; otherwise it is updated first. After a failure in the middle of a transaction it is discarded.
 */
export interface LoadedOrg {
  /** The lock that every transaction of the org takes first. */
  readonly lock: readonly [number, number]
  readonly state: OrgState
  readonly readyQueue: ReadyQueue
  readonly timers: Timers
  /** Held occurrences until their release. */
  readonly held: HeldRuns
  /** In-flight runs by the node that holds them. */
  readonly byNode: Map<string, Set<RunRow>>
  /** Rows that loaded runs need and that are not in the org state yet. */
  readonly missing: { readonly agents: Set<AgentId>; readonly schedules: Set<ScheduleId> }
  /** Schedules in the org state that may have no pending runs any more. */
  readonly idleSchedules: Set<ScheduleId>
  /** The payloads of pending runs that are in memory. */
  readonly payloads: KeptPayloads
  version: number
  /** Time and node of the newest transaction: after a failover its number alone does not identify it. */
  newest: Pick<OrgVersion, 'at' | 'writer'>
  /**
   * It may contain uncommitted decisions, or a part of other nodes' changes: after a failure it must not be used again.
   */
  isUnsettled: boolean
  orgLimit: number | null
  /** Takes rows from a backlog that can be read at once; left out: it is in the database. */
  readBacklog?: (request: BacklogRequest) => readonly BacklogRun[]
}

/**
 * When budgets refuse so many runs of a line in memory, no more are loaded: they could be looked through to the last,
 * and most would be refused, too.
 */
const MAX_BLOCKED = 1_024

export function emptyLoadedOrg(orgId: OrgId, node: NodeCapabilities): LoadedOrg {
  const readyQueue = createReadyQueue(orgId, MAX_BLOCKED)
  const state = emptyOrgState(orgId, node.randomSource, node.settings())
  const org: LoadedOrg = {
    lock: orgLock(orgId),
    state,
    readyQueue,
    timers: createTimers(),
    held: createHeldRuns(state),
    byNode: new Map(),
    missing: { agents: new Set(), schedules: new Set() },
    idleSchedules: new Set(),
    payloads: noPayloads(),
    version: 0,
    newest: { at: null, writer: null },
    isUnsettled: false,
    orgLimit: null,
  }
  applyCapabilities(org, node)
  return org
}

/** Applies changed lanes, executors or settings of the node. */
export function applyCapabilities(org: LoadedOrg, node: NodeCapabilities): void {
  const settings = node.settings()
  org.state.settings = settings
  org.readyQueue.setLanes(node.laneNames())
  org.readyQueue.setExecutable(node.canExecute)
  applyLimits(org)
  for (const key of org.state.sessions.keys()) updateSessionLimits(org, key, node)
}

/** Applies the org's own limit. It does not affect sessions, so none is updated. */
export function setOrgLimit(org: LoadedOrg, limit: number | null): void {
  if (org.orgLimit === limit) return
  org.orgLimit = limit
  applyLimits(org)
}

function applyLimits({ readyQueue, orgLimit, state }: LoadedOrg): void {
  const { maxInflight, maxPerAgentInflight } = state.settings.tasks
  readyQueue.setLimits({
    maxConcurrent: orgLimit,
    tasksInflight: maxInflight,
    tasksPerAgentInflight: maxPerAgentInflight,
  })
}

/** Adds a run that was loaded, or loaded again after another node changed it. */
export function addLoadedRun(org: LoadedOrg, run: RunRow): void {
  const { state, missing } = org
  const known = state.runs.get(run.id)
  // The ready queue replaces it by itself: removed and added again, a run in flight would count as newly started.
  if (known !== undefined) {
    unindexRun(state, known)
    setHolder(org, known, null)
  }
  const own = run.sessionKey === null ? sessionOfRun(run) : null
  if (own !== null && state.sessions.has(own)) run.sessionKey = own
  indexRun(state, run)
  if (!state.agents.has(run.agentId)) missing.agents.add(run.agentId)
  if (run.scheduleId !== null && !state.schedules.has(run.scheduleId)) missing.schedules.add(run.scheduleId)
  const session = run.sessionKey === null ? undefined : state.sessions.get(run.sessionKey)
  // A run that is cancelled in pieces keeps its position until then, as on the node that recorded the clearing.
  const isCleared = clearingOf(state.clearings, run) !== undefined
  run.inGeneration = session === undefined || session.generation === run.generation || isCleared
  if (state.budgets !== null) updateReserves(state.budgets, run, null)
  keepPayload(org, run)
  reindexRun(org, run)
}

/** Removes a run that is no longer pending. */
export function removeRun(org: LoadedOrg, run: RunRow): void {
  unindexRun(org.state, run)
  org.readyQueue.remove(run.id)
  org.timers.set(run.id, null)
  org.held.remove(run)
  releasePayload(org.payloads, run.id)
  setHolder(org, run, null)
  if (run.scheduleId !== null) org.idleSchedules.add(run.scheduleId)
}

/** Updates everything derived from a run after it has changed. */
export function reindexRun(org: LoadedOrg, run: RunRow): void {
  if (isTerminal(run.state)) {
    removeRun(org, run)
    return
  }
  org.readyQueue.put(run)
  // A held run is not woken by its time alone.
  org.timers.set(run.id, isHeld(run) ? null : nextChangeAt(run))
  org.held.put(run)
  setHolder(org, run, run.nodeId)
}

function setHolder(org: LoadedOrg, run: RunRow, holder: string | null): void {
  const before = run.heldBy
  if (before === holder) return
  run.heldBy = holder
  if (before !== null) {
    const held = org.byNode.get(before)
    held?.delete(run)
    if (held?.size === 0) org.byNode.delete(before)
  }
  if (holder === null) return
  const held = org.byNode.get(holder)
  if (held === undefined) org.byNode.set(holder, new Set([run]))
  else held.add(run)
}

/** Updates the ready queue with the session's rules and how full its context is. */
export function updateSessionLimits(org: LoadedOrg, key: SessionKey, node: NodeCapabilities): void {
  const session = org.state.sessions.get(key)
  if (session === undefined) return
  const { maxConcurrent } = rulesOf(org.state, session)
  org.readyQueue.setSession(key, { maxConcurrent, context: node.estimate?.()?.(key) ?? session.context })
  showBehind(org, session)
}

/** Updates the ready queue with the part of the session that is in the backlog. */
export function showBehind({ state, readyQueue }: LoadedOrg, session: SessionRow): void {
  readyQueue.setBehind(session.key, { count: behindIn(state, session), from: session.behindFrom })
}

/** Maximum number of idle sessions and of idle agents kept in memory; evicted ones are loaded again on demand. */
const MAX_IDLE = 10_000

/** Evicts what no pending run needs. */
export function evictIdleRows({ state, readyQueue, idleSchedules }: LoadedOrg): void {
  for (const id of idleSchedules) if (!state.bySchedule.has(id)) state.schedules.delete(id)
  idleSchedules.clear()
  evictIdle({
    entries: state.sessions,
    limit: state.bySession.size + MAX_IDLE,
    isNeeded: (key) => state.bySession.has(key) || state.clearings.has(clearingName({ subject: 'session', key })),
    forget: (key) => readyQueue.forgetSession(key),
  })
  // Tasks may name any agent, so most agents are never named again.
  evictIdle({
    entries: state.agents,
    limit: readyQueue.agents() + MAX_IDLE,
    isNeeded: (id) => readyQueue.pendingOf(id) > 0,
    forget: (id) => readyQueue.setAgent(id, { maxConcurrent: null }),
  })
}

/** Maximum number of entries checked per transaction, so that eviction never takes long. */
const MAX_EVICTION_CHECKS = 1_000

/** A map whose idle entries are evicted once it has more than `limit` entries. */
interface Evictable<Key, Value> {
  readonly entries: Map<Key, Value>
  readonly limit: number
  readonly isNeeded: (key: Key) => boolean
  readonly forget: (key: Key) => void
}

/**
 * Evicts the entries that have been idle longest; needed ones move to the end. Eviction goes in batches of a thousand,
 * because every walk from the front of a map passes the deleted entries.
 */
function evictIdle<Key, Value>({ entries, limit, isNeeded, forget }: Evictable<Key, Value>): void {
  if (entries.size <= limit) return
  let looks = 0
  for (const [key, value] of entries) {
    looks += 1
    entries.delete(key)
    if (isNeeded(key)) entries.set(key, value)
    else forget(key)
    if (looks === MAX_EVICTION_CHECKS) return
  }
}
