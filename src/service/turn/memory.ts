import type { AgentId, LaneName, OrgId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import { createLineUp, type LineUp } from '../../core/picking/line-up.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import { sessionOfRun } from '../../core/session/run-session.ts'
import type { ContextUse } from '../../domain/session/session.ts'
import { type RunRow, wakeAt } from '../../store/run-row.ts'
import { orgLock, type OrgVersion } from '../../engine/transaction/history-store.ts'
import { noteSpender } from '../desk/budgets.ts'
import { clearingOf } from '../desk/cleared.ts'
import { type Chance, type Desk, emptyDesk, putRun, rulesOf, takeRun } from '../desk/desk.ts'
import type { EngineSettings } from '../../features/config/settings.ts'
import { createHeldRuns, type HeldRuns } from './held-runs.ts'
import { keepPayload, type KeptPayloads, noPayloads, releasePayload } from './payloads.ts'
import { createTimers, type Timers } from '../../engine/org-state/timers.ts'

/** What a node can do and how it judges, for every org alike. */
export interface NodeFacts {
  readonly chance: Chance
  readonly settings: () => EngineSettings
  readonly canExecute: (executorKey: string) => boolean
  readonly laneNames: () => ReadonlySet<LaneName>
  /** Asked how full conversations are, as long as there is somebody to ask; null: there never is. */
  readonly estimate: (() => ((key: SessionKey) => ContextUse | null) | null) | null
  /** Catch-up runs that the node works on, against `catchup_max_active`. Left out: none. */
  readonly catchups?: () => number
}

/**
 * What a node remembers of an org: everything pending, who is next, what comes by itself, who holds what. `version` and
 * `newest` name the last turn it knows of. Under the org's lock, with that turn still the newest, it is the truth;
 * otherwise it is brought up to date first. After a failure in the middle of a turn it is thrown away.
 */
export interface Memory {
  /** What every turn of the org takes first. */
  readonly lock: readonly [number, number]
  readonly desk: Desk
  readonly lineUp: LineUp
  readonly timers: Timers
  /** Occurrences that are made up for one after the other, until their release. */
  readonly held: HeldRuns
  /** In-flight runs by the node that holds them. */
  readonly byNode: Map<string, Set<RunRow>>
  /** What recalled runs need and is not on the desk yet. */
  readonly missing: { readonly agents: Set<AgentId>; readonly schedules: Set<ScheduleId> }
  /** Schedules on the desk that may have nothing pending any more. */
  readonly idleSchedules: Set<ScheduleId>
  /** What pending runs were given to do, as far as it is in memory. */
  readonly payloads: KeptPayloads
  version: number
  /** When the newest turn was taken and by which node: a number alone does not name a turn after a failover. */
  newest: Pick<OrgVersion, 'at' | 'writer'>
  /** Decisions may be in it that were not kept, or half of what others did: after a failure it must not be used again. */
  isUnsettled: boolean
  orgLimit: number | null
}

export function emptyMemory(orgId: OrgId, node: NodeFacts): Memory {
  const lineUp = createLineUp(orgId)
  const desk = emptyDesk(orgId, node.chance, node.settings())
  const memory: Memory = {
    lock: orgLock(orgId),
    desk,
    lineUp,
    timers: createTimers(),
    held: createHeldRuns(desk),
    byNode: new Map(),
    missing: { agents: new Set(), schedules: new Set() },
    idleSchedules: new Set(),
    payloads: noPayloads(),
    version: 0,
    newest: { at: null, writer: null },
    isUnsettled: false,
    orgLimit: null,
  }
  applyNodeFacts(memory, node)
  return memory
}

/** Takes in what has changed about the node: its lanes, what it executes, its settings. */
export function applyNodeFacts(memory: Memory, node: NodeFacts): void {
  const settings = node.settings()
  memory.desk.settings = settings
  memory.lineUp.setLanes(node.laneNames())
  memory.lineUp.setExecutable(node.canExecute)
  applyLimits(memory)
  for (const key of memory.desk.sessions.keys()) noteSession(memory, key, node)
}

/** Takes in the org's own limit. Unlike the node's facts it changes nothing about sessions, so none is looked at. */
export function setOrgLimit(memory: Memory, limit: number | null): void {
  if (memory.orgLimit === limit) return
  memory.orgLimit = limit
  applyLimits(memory)
}

function applyLimits({ lineUp, orgLimit, desk }: Memory): void {
  const { maxInflight, maxPerAgentInflight } = desk.settings.tasks
  lineUp.setLimits({
    maxConcurrent: orgLimit,
    tasksInflight: maxInflight,
    tasksPerAgentInflight: maxPerAgentInflight,
  })
}

/** A run that was loaded, or loaded again after somebody else changed it. */
export function recallRun(memory: Memory, run: RunRow): void {
  const { desk, missing } = memory
  const known = desk.runs.get(run.id)
  // The line-up replaces it by itself: taken out and put in again, a run in flight would count as newly served.
  if (known !== undefined) {
    takeRun(desk, known)
    noteHolder(memory, known, null)
  }
  const own = run.sessionKey === null ? sessionOfRun(run) : null
  if (own !== null && desk.sessions.has(own)) run.sessionKey = own
  putRun(desk, run)
  if (!desk.agents.has(run.agentId)) missing.agents.add(run.agentId)
  if (run.scheduleId !== null && !desk.schedules.has(run.scheduleId)) missing.schedules.add(run.scheduleId)
  const session = run.sessionKey === null ? undefined : desk.sessions.get(run.sessionKey)
  // What is cancelled in pieces keeps its place until it is: the node that was told to cancel it has it there, too.
  const isCleared = clearingOf(desk.clearings, run) !== undefined
  run.inGeneration = session === undefined || session.generation === run.generation || isCleared
  if (desk.budgets !== null) noteSpender(desk.budgets, run, null)
  keepPayload(memory, run)
  noteRun(memory, run)
}

/** A run that is pending no more. */
export function forgetRun(memory: Memory, run: RunRow): void {
  takeRun(memory.desk, run)
  memory.lineUp.remove(run.id)
  memory.timers.set(run.id, null)
  memory.held.forget(run)
  releasePayload(memory.payloads, run.id)
  noteHolder(memory, run, null)
  if (run.scheduleId !== null) memory.idleSchedules.add(run.scheduleId)
}

/** Brings everything that is derived from a run in line with what has become of it. */
export function noteRun(memory: Memory, run: RunRow): void {
  if (isTerminal(run.state)) {
    forgetRun(memory, run)
    return
  }
  memory.lineUp.put(run)
  // What is held is not woken by its time alone.
  memory.timers.set(run.id, isHeld(run) ? null : wakeAt(run))
  memory.held.note(run)
  noteHolder(memory, run, run.nodeId)
}

function noteHolder(memory: Memory, run: RunRow, holder: string | null): void {
  const before = run.heldBy
  if (before === holder) return
  run.heldBy = holder
  if (before !== null) {
    const held = memory.byNode.get(before)
    held?.delete(run)
    if (held?.size === 0) memory.byNode.delete(before)
  }
  if (holder === null) return
  const held = memory.byNode.get(holder)
  if (held === undefined) memory.byNode.set(holder, new Set([run]))
  else held.add(run)
}

/** Brings the line-up in line with the session's rules and how full its context is. */
export function noteSession(memory: Memory, key: SessionKey, node: NodeFacts): void {
  const session = memory.desk.sessions.get(key)
  if (session === undefined) return
  const { maxConcurrent } = rulesOf(memory.desk, session)
  memory.lineUp.setSession(key, { maxConcurrent, context: node.estimate?.()?.(key) ?? session.context })
}

/** More idle sessions and idle agents than this are not kept: they come back when they are needed. */
const MAX_IDLE = 10_000

/** Lets go of what nothing pending needs any more. */
export function tidyMemory({ desk, lineUp, idleSchedules }: Memory): void {
  for (const id of idleSchedules) if (!desk.bySchedule.has(id)) desk.schedules.delete(id)
  idleSchedules.clear()
  evictIdle({
    entries: desk.sessions,
    limit: desk.bySession.size + MAX_IDLE,
    isNeeded: (key) => desk.bySession.has(key),
    forget: (key) => lineUp.forgetSession(key),
  })
  // Tasks may name any agent, so most of these are never named again.
  evictIdle({
    entries: desk.agents,
    limit: lineUp.agents() + MAX_IDLE,
    isNeeded: (id) => lineUp.pendingOf(id) > 0,
    forget: (id) => lineUp.setAgent(id, { maxConcurrent: null }),
  })
}

/** No more entries are looked at in one turn, so that letting go never takes long. */
const MAX_LOOKS = 1_000

/** A map from which idle entries leave once there are more than `limit` entries. */
interface Evictable<Key, Value> {
  readonly entries: Map<Key, Value>
  readonly limit: number
  readonly isNeeded: (key: Key) => boolean
  readonly forget: (key: Key) => void
}

/**
 * Lets go of the entries that have been idle longest. What is needed goes to the end and is looked at again later. Once
 * there are too many, a thousand go together: every walk from the front of a map passes what was deleted there before.
 */
function evictIdle<Key, Value>({ entries, limit, isNeeded, forget }: Evictable<Key, Value>): void {
  if (entries.size <= limit) return
  let looks = 0
  for (const [key, value] of entries) {
    looks += 1
    entries.delete(key)
    if (isNeeded(key)) entries.set(key, value)
    else forget(key)
    if (looks === MAX_LOOKS) return
  }
}
