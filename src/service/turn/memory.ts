import type { AgentId, LaneName, OrgId, ScheduleId, SessionKey } from '../../core/ids.ts'
import { createLineUp, type LineUp } from '../../core/picking/line-up.ts'
import { isTerminal } from '../../core/run/run-machine.ts'
import type { ContextUse } from '../../core/session/throttle.ts'
import { wakeAt, type RunRow } from '../../store/run-row.ts'
import { orgLock, type OrgVersion } from '../../store/turns.ts'
import { noteSpender } from '../desk/budgets.ts'
import { emptyDesk, putRun, rulesOf, takeRun, type Chance, type Desk, type DeskSettings } from '../desk/desk.ts'
import type { ClockStep } from './clock-step.ts'
import { createTimers, type Timers } from './timers.ts'

/** What a node can do and how it judges, for every org alike. */
export interface NodeFacts {
  readonly chance: Chance
  readonly settings: () => DeskSettings
  readonly canExecute: (executorKey: string) => boolean
  readonly laneNames: () => ReadonlySet<LaneName>
  readonly estimate: ((key: SessionKey) => ContextUse | null) | null
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
  /** In-flight runs by the node that holds them. */
  readonly byNode: Map<string, Set<RunRow>>
  /** What recalled runs need and is not on the desk yet. */
  readonly missing: { readonly agents: Set<AgentId>; readonly schedules: Set<ScheduleId> }
  /** Schedules on the desk that may have nothing pending any more. */
  readonly idleSchedules: Set<ScheduleId>
  version: number
  /** When the newest turn was taken and by which node: a number alone does not name a turn after a failover. */
  newest: Pick<OrgVersion, 'at' | 'writer'>
  /** Decisions may be in it that were not kept, or half of what others did: after a failure it must not be used again. */
  isUnsettled: boolean
  /** The server's clock was set back and not all waits have been moved yet; null nearly always. */
  clockStep: ClockStep | null
  orgLimit: number | null
}

export function emptyMemory(orgId: OrgId, node: NodeFacts): Memory {
  const lineUp = createLineUp(orgId)
  const memory: Memory = {
    lock: orgLock(orgId),
    desk: emptyDesk(orgId, node.chance, node.settings()),
    lineUp,
    timers: createTimers(),
    byNode: new Map(),
    missing: { agents: new Set(), schedules: new Set() },
    idleSchedules: new Set(),
    version: 0,
    newest: { at: null, writer: null },
    isUnsettled: false,
    clockStep: null,
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
  memory.lineUp.setLimits({
    maxConcurrent: memory.orgLimit,
    tasksInflight: settings.tasks.maxInflight,
    tasksPerAgentInflight: settings.tasks.maxPerAgentInflight,
  })
  for (const key of memory.desk.sessions.keys()) noteSession(memory, key, node)
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
  putRun(desk, run)
  if (!desk.agents.has(run.agentId)) missing.agents.add(run.agentId)
  if (run.scheduleId !== null && !desk.schedules.has(run.scheduleId)) missing.schedules.add(run.scheduleId)
  const session = run.sessionKey === null ? undefined : desk.sessions.get(run.sessionKey)
  run.inGeneration = session === undefined || session.generation === run.generation
  if (desk.budgets !== null) noteSpender(desk.budgets, run, null)
  noteRun(memory, run)
}

/** A run that is pending no more. */
export function forgetRun(memory: Memory, run: RunRow): void {
  takeRun(memory.desk, run)
  memory.lineUp.remove(run.id)
  memory.timers.set(run.id, null)
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
  memory.timers.set(run.id, wakeAt(run))
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
  memory.lineUp.setSession(key, { maxConcurrent, context: node.estimate?.(key) ?? session.context })
}

/** More idle sessions than this are not kept: they come back when they are needed. */
const IDLE_SESSIONS = 10_000

/** Lets go of what nothing pending needs any more. */
export function tidyMemory(memory: Memory): void {
  const { desk, lineUp, idleSchedules } = memory
  for (const id of idleSchedules) if (!desk.bySchedule.has(id)) desk.schedules.delete(id)
  idleSchedules.clear()
  if (desk.sessions.size <= desk.bySession.size + IDLE_SESSIONS) return
  for (const key of desk.sessions.keys()) {
    if (desk.bySession.has(key)) continue
    desk.sessions.delete(key)
    lineUp.forgetSession(key)
  }
}
