import type { AgentId, RunId, SessionKey } from '../../domain/ids.ts'
import { type Instant } from '../../domain/instant.ts'
import type { LineKey, Shortage } from '../../domain/queue/queued-run.ts'
import { isRunFirst, queueKindOf } from '../../domain/queue/ready-lines.ts'
import type { Trigger } from '../../domain/run/run.ts'
import type { Command } from '../commands-port.ts'
import { cancelCleared } from '../commands/cancel.ts'
import { clearingName } from '../commands/cancel-waiting-store.ts'
import { StateTooOld } from '../transaction/history-store.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { SessionRow } from '../../features/sessions/store.ts'
import type { BacklogLine, BacklogRun } from './backlog-store.ts'
import {
  addLoadedRun,
  type BacklogRequest,
  type LoadedOrg,
  reindexRun,
  removeRun,
  showBehind,
  type MemoryWindow,
} from './memory.ts'
import { type Backlog, behindIn, type LineInBacklog, type OrgState, rulesOf } from './org-state.ts'

/**
 * Long queues: of each line and session only the beginning is in memory. The rest is in the backlog, with counts and
 * bounds here that tell when it must be read. ADR 0049 has the rules.
 */

/** How much of an org is in memory by default. */
export const DEFAULT_WINDOW: MemoryWindow = { line: 256, session: 64, org: 50_000, free: 50_000 }

/** Up to here an org without a backlog keeps everything in memory: a run that goes through the backlog is written twice. */
const freeOf = ({ line, session, org, free }: MemoryWindow): number => free ?? Math.min(line, session, org)

/** Every line may have this many in memory, however many lines there are. */
const MIN_LINE_WINDOW = 4

/** A line has at most this many windows in memory, because newcomers with a better priority enter it. */
const MAX_WINDOWS = 3

/** Runs of sessions that are read at a time. */
const MAX_SESSION_RUNS = 1_024

/** Rows read at a time because their deadline has passed. */
const MAX_DUE = 1_000

const lineName = ({ agentId, lane, executorKey, kind }: LineKey): string =>
  [agentId, lane, executorKey, kind].join('\n')

const lineOf = (run: RunRow): LineKey => ({
  agentId: run.agentId,
  lane: run.lane,
  executorKey: run.executorKey,
  kind: queueKindOf(run),
})

/** A step that asks for rows of the backlog on its way. */
export type Loads<Result> = Generator<BacklogRequest, Result, readonly BacklogRun[]>

/** Performs a step of an org whose backlog can be read at once. */
export function loadAtOnce<Result>({ readBacklog, state }: LoadedOrg, step: Loads<Result>): Result {
  let next = step.next()
  while (next.done !== true) {
    if (readBacklog === undefined) throw new Error(`the backlog of ${state.orgId} cannot be read here`)
    next = step.next(readBacklog(next.value))
  }
  return next.value
}

/** Replaces what is known of the backlog's lines: of all, or of some agents. */
export function setBacklogLines(
  { state, readyQueue }: LoadedOrg,
  lines: readonly BacklogLine[],
  agents: ReadonlySet<AgentId> | null,
): void {
  const { backlog } = state
  const { wakesAt } = backlog
  for (const [name, line] of backlog.lines)
    if (agents === null || agents.has(line.agentId)) {
      countIn(backlog, line, -line.count)
      backlog.lines.delete(name)
      readyQueue.setBacklog(line, null)
    }
  for (const { agentId, lane: name, executorKey, kind, count, waiting, bound } of lines) {
    const line = { agentId, lane: name, executorKey, kind, count: 0, waiting, bound }
    backlog.lines.set(lineName(line), line)
    countIn(backlog, line, count)
    readyQueue.setBacklog(line, bound)
  }
  if (backlog.count > 0) backlog.wakesAt = wakesAt
}

function countIn(backlog: Backlog, line: LineInBacklog, by: number): void {
  line.count += by
  backlog.count += by
  if (backlog.count === 0) backlog.wakesAt = null
  if (line.kind !== 'task') return
  backlog.tasks += by
  const tasks = (backlog.tasksOf.get(line.agentId) ?? 0) + by
  if (tasks === 0) backlog.tasksOf.delete(line.agentId)
  else backlog.tasksOf.set(line.agentId, tasks)
}

/** A run in the backlog may have this deadline. */
export function noteDeadline(backlog: Backlog, at: Instant | null): void {
  if (at === null || backlog.count === 0) return
  if (backlog.wakesAt === null || at < backlog.wakesAt) backlog.wakesAt = at
}

/** How many queued runs of a line are in memory at most before further ones go to the backlog. */
function lineWindow({ readyQueue, state }: LoadedOrg, { line, org }: MemoryWindow): number {
  const share = Math.floor(org / Math.max(1, readyQueue.agents() + state.backlog.lines.size))
  return Math.min(line, Math.max(MIN_LINE_WINDOW, share))
}

/** Triggers of runs that nothing but picking, cancelling and their deadline refers to. */
const TRIGGERS: ReadonlySet<Trigger> = new Set(['message', 'task', 'webhook', 'retry'])

const mayLeave = (run: RunRow): boolean =>
  run.state === 'queued' &&
  TRIGGERS.has(run.trigger) &&
  run.attempt === run.firstAttempt &&
  run.scheduleId === null &&
  run.seq !== null &&
  !run.interrupts

/** Moves new runs that are beyond the window into the backlog, at the end of a transaction. */
export function moveToBacklog(org: LoadedOrg, window: MemoryWindow): void {
  const { state, readyQueue } = org
  const { created } = state.changes
  if (created.size === 0) return
  if (state.backlog.count === 0 && readyQueue.queued() <= freeOf(window)) return
  const newcomers = [...created].filter(mayLeave)
  const room = roomFor(org, newcomers)
  const max = lineWindow(org, window)
  for (const run of newcomers) {
    const where = tierOf(org, { run, room, window: { ...window, line: max } })
    if (where === 'memory') room.keep(run)
    else addToBacklog(org, run, where === 'behind')
  }
}

/** How many runs stay in memory beside newcomers that were not decided about yet. */
interface Room {
  readonly inLine: (run: RunRow) => number
  readonly inSession: (key: SessionKey) => number
  readonly keep: (run: RunRow) => void
}

function roomFor({ readyQueue }: LoadedOrg, newcomers: readonly RunRow[]): Room {
  const lines = new Map<string, number>()
  const sessions = new Map<SessionKey, number>()
  const inLane = (run: RunRow): string => `${run.agentId}\n${readyQueue.laneOf(run.id) ?? ''}`
  const add = <Key>(counts: Map<Key, number>, key: Key, by: number): void =>
    void counts.set(key, (counts.get(key) ?? 0) + by)
  for (const run of newcomers) {
    const beside = readyQueue.queuedBeside(run.id)
    const name = inLane(run)
    if (!lines.has(name)) lines.set(name, beside.ofAgentInLane)
    add(lines, name, -1)
    if (run.sessionKey === null) continue
    if (!sessions.has(run.sessionKey)) sessions.set(run.sessionKey, beside.inSession)
    add(sessions, run.sessionKey, -1)
  }
  return {
    inLine: (run) => lines.get(inLane(run)) ?? 0,
    inSession: (key) => sessions.get(key) ?? 0,
    keep: (run) => {
      add(lines, inLane(run), 1)
      if (run.sessionKey !== null) add(sessions, run.sessionKey, 1)
    },
  }
}

/** Where a newcomer waits: in memory, or in the backlog, competing there or behind others of its session. */
function tierOf(
  { state, readyQueue }: LoadedOrg,
  { run, room, window }: { readonly run: RunRow; readonly room: Room; readonly window: MemoryWindow },
): 'memory' | 'competing' | 'behind' {
  const hasRoom = room.inLine(run) < MAX_WINDOWS * window.line
  const session = run.sessionKey === null ? undefined : state.sessions.get(run.sessionKey)
  if (session !== undefined) {
    // All that a clearing finds in the backlog is to be cancelled.
    if (isBeingCleared(state, session)) return 'memory'
    if (session.behind > 0) return 'behind'
    const inSession = room.inSession(session.key)
    if (inSession > 0 || (readyQueue.session(session.key)?.active ?? 0) > 0)
      return hasRoom && inSession < window.session && !isHalfFull(readyQueue, window) ? 'memory' : 'behind'
  }
  const bound = state.backlog.lines.get(lineName(lineOf(run)))?.bound ?? null
  if (bound === null) return room.inLine(run) < window.line ? 'memory' : 'competing'
  return hasRoom && isRunFirst(run, bound) ? 'memory' : 'competing'
}

/** Then runs behind others of their session leave the rest of the memory to those that compete. */
const isHalfFull = (readyQueue: LoadedOrg['readyQueue'], { org }: MemoryWindow): boolean =>
  readyQueue.queued() > org / 2

const isBeingCleared = ({ clearings }: OrgState, { key }: SessionRow): boolean =>
  clearings.size > 0 && clearings.has(clearingName({ subject: 'session', key }))

function addToBacklog(org: LoadedOrg, run: RunRow, behind: boolean): void {
  const { state, readyQueue } = org
  const { backlog, changes } = state
  removeRun(org, run)
  changes.backlogged.set(run, behind)
  const name = lineName(lineOf(run))
  const line = backlog.lines.get(name) ?? {
    ...lineOf(run),
    count: 0,
    waiting: 0,
    bound: null,
  }
  backlog.lines.set(name, line)
  countIn(backlog, line, 1)
  changes.lines.add(line)
  noteDeadline(backlog, run.deadline)
  const session = run.sessionKey === null ? undefined : state.sessions.get(run.sessionKey)
  if (session !== undefined) {
    const seq = run.seq ?? 0
    session.behindFrom = session.behind === 0 ? seq : Math.min(session.behindFrom, seq)
    session.behind += 1
    changes.sessions.add(session)
    showBehind(org, session)
  }
  if (behind) return
  line.waiting += 1
  if (line.bound === null || isRunFirst(run, line.bound)) {
    line.bound = { id: run.id, priority: run.priority, createdAt: run.createdAt }
    readyQueue.setBacklog(line, line.bound)
  }
}

/** Puts rows that were taken from the backlog into memory. */
function enterRows(org: LoadedOrg, rows: readonly BacklogRun[]): void {
  const { state, readyQueue } = org
  const { backlog, changes } = state
  for (const { run, behind } of rows) {
    const name = lineName(lineOf(run))
    const line = backlog.lines.get(name)
    if (line === undefined) throw new StateTooOld(state.orgId)
    countIn(backlog, line, -1)
    if (!behind) line.waiting -= 1
    if (line.waiting === 0 && line.bound !== null) {
      line.bound = null
      readyQueue.setBacklog(line, null)
    }
    if (line.count === 0) backlog.lines.delete(name)
    changes.lines.add(line)
    changes.promoted.add(run)
    const session = run.sessionKey === null ? undefined : state.sessions.get(run.sessionKey)
    addLoadedRun(org, run)
    if (session === undefined) continue
    session.behind -= 1
    changes.sessions.add(session)
    showBehind(org, session)
    const clearing = state.clearings.get(clearingName({ subject: 'session', key: session.key }))
    if (clearing === undefined) continue
    cancelCleared(state, run, clearing)
    reindexRun(org, run)
  }
}

/** Loads what must be in memory before the next run can be picked. */
export function* loadShortage(org: LoadedOrg, window: MemoryWindow, { lines, sessions }: Shortage): Loads<void> {
  if (lines.length > 0) yield* loadLines(org, lines, lineWindow(org, window))
  if (sessions.length === 0) return
  const each = isHalfFull(org.readyQueue, window) ? 1 : Math.ceil(MAX_SESSION_RUNS / sessions.length)
  yield* loadSessionRuns(org, sessions, { each, window })
}

function* loadLines(org: LoadedOrg, keys: readonly LineKey[], max: number): Loads<void> {
  const { state, readyQueue } = org
  const known = keys.flatMap((key) => state.backlog.lines.get(lineName(key)) ?? [])
  if (known.length < keys.length) throw new StateTooOld(state.orgId)
  const rows = yield { kind: 'lines', lines: known.map((line) => ({ ...line, max })) }
  const last = new Map<string, RunRow>()
  for (const { run } of rows) last.set(lineName(lineOf(run)), run)
  enterRows(org, rows)
  for (const line of known) {
    const run = last.get(lineName(line))
    if (line.waiting === 0) continue
    // There are more, so as many as were asked for must have come.
    if (run === undefined) throw new StateTooOld(state.orgId)
    line.bound = { id: run.id, priority: run.priority, createdAt: run.createdAt }
    readyQueue.setBacklog(line, line.bound)
  }
}

function* loadSessionRuns(
  org: LoadedOrg,
  keys: readonly SessionKey[],
  { each, window }: { readonly each: number; readonly window?: MemoryWindow },
): Loads<void> {
  const { state } = org
  const max = Math.min(window?.session ?? each, each)
  const sessions = keys.flatMap((key) => state.sessions.get(key) ?? [])
  if (sessions.length < keys.length) throw new StateTooOld(state.orgId)
  const rows = yield {
    kind: 'sessions',
    sessions: sessions.map(({ key, behindFrom }) => ({ key, from: behindFrom, max })),
  }
  enterRows(org, rows)
  const last = new Map<SessionKey, RunRow>()
  for (const { run } of rows) if (run.sessionKey !== null) last.set(run.sessionKey, run)
  for (const session of sessions) {
    const run = last.get(session.key)
    if (session.behind === 0) continue
    if (run === undefined) throw new StateTooOld(state.orgId)
    session.behindFrom = run.seq ?? session.behindFrom
    showBehind(org, session)
  }
}

/** Loads the next runs of sessions whose last one in memory has ended. */
export function* loadShortSessions(org: LoadedOrg, window: MemoryWindow): Loads<void> {
  for (let short = org.readyQueue.shortSessions(); short !== null; short = org.readyQueue.shortSessions())
    yield* loadShortage(org, window, short)
}

/** Loads runs whose deadline has passed, at most `max`. They end when time advances. */
export function* loadDue(org: LoadedOrg, max: number): Loads<void> {
  const { backlog, now } = org.state
  if (backlog.wakesAt === null || backlog.wakesAt > now || max <= 0) return
  enterRows(org, yield { kind: 'due', now, from: backlog.wakesAt, max: Math.min(max, MAX_DUE) })
}

/** Loads and cancels what clearings find in the backlog, at most `max` runs. Returns how many. */
export function* loadCleared(org: LoadedOrg, max: number): Loads<number> {
  const { clearings, sessions } = org.state
  let cancelled = 0
  for (const { subject, key } of [...clearings.values()]) {
    const session = subject === 'session' ? sessions.get(key as SessionKey) : undefined
    if (session === undefined || session.behind === 0 || cancelled >= max) continue
    const before = session.behind
    const each = Math.min(MAX_SESSION_RUNS, max - cancelled)
    yield* loadSessionRuns(org, [session.key], { each })
    cancelled += before - session.behind
  }
  return cancelled
}

/** Loads these runs, as far as they are in the backlog. */
function* loadByIds(org: LoadedOrg, ids: readonly RunId[]): Loads<void> {
  const absent = ids.filter((id) => !org.state.runs.has(id))
  if (absent.length > 0) enterRows(org, yield { kind: 'ids', ids: absent })
}

/** Loads what commands need: runs they name, and the oldest of sessions in which one may be dropped for each. */
export function* loadForCommands(org: LoadedOrg, commands: readonly Pick<Command<unknown>, 'needs'>[]): Loads<void> {
  if (org.state.backlog.count === 0) return
  const ids: RunId[] = []
  const counts = new Map<SessionKey, number>()
  for (const { needs = {} } of commands) {
    for (const id of needs.runs ?? []) ids.push(id)
    for (const key of needs.sessions ?? []) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  if (ids.length > 0) yield* loadByIds(org, ids)
  for (const [key, count] of counts)
    if (mayDrop(org.state, key, count)) yield* loadSessionRuns(org, [key], { each: count })
}

/** Whether the session may drop runs of the backlog when as many enter it. */
function mayDrop(state: OrgState, key: SessionKey, entering: number): boolean {
  const session = state.sessions.get(key)
  if (session === undefined || behindIn(state, session) === 0) return false
  const { cap, drop } = rulesOf(state, session)
  return drop === 'old' && (state.bySession.get(key)?.size ?? 0) + session.behind + entering > cap
}
