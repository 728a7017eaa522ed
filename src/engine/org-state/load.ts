import { workerKeyOf } from '../../domain/agent.ts'
import type { AgentId, OrgId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import { parseZone, UTC, type Zone } from '../../domain/time/zone.ts'
import { loadAgents, type AgentRow } from '../../features/agents/store.ts'
import { loadPeriodUsages } from '../../features/budgets/store.ts'
import { loadClearings, replaceClearings } from '../commands/cancel-waiting-store.ts'
import { loadClockSteps } from '../../platform/db/clock.ts'
import type { Connection, Database, Transaction } from '../../platform/db/database.ts'
import { loadOrg } from '../../features/access/orgs-store.ts'
import { loadPending } from './pending-store.ts'
import type { RunRow } from '../../features/runs/store.ts'
import { loadSchedules } from '../../features/schedules/store.ts'
import { loadSessions, type SessionRow } from '../../features/sessions/store.ts'
import { inSnapshot, loadVersion, type OrgVersion } from '../transaction/history-store.ts'
import { RUNS_PER_DAY, setDailyRuns } from '../commands/daily-runs.ts'
import type { LoadedAgent, OrgState } from './org-state.ts'
import { joinSession } from '../commands/submit.ts'
import { inlineAgentFor } from '../commands/runs.ts'
import { updateReserves } from '../commands/budgets.ts'
import type { Command } from '../commands-port.ts'
import {
  loadBudgetsIntoState,
  loadQuotasIntoState,
  loadTypicalUsageFor,
  reviewBudgets,
} from '../transaction/review-budgets.ts'
import {
  emptyLoadedOrg,
  reindexRun,
  updateSessionLimits,
  addLoadedRun,
  type BacklogRequest,
  setOrgLimit,
  type LoadedOrg,
  type NodeCapabilities,
} from './memory.ts'
import { loadForCommands, type Loads, setBacklogLines } from './backlog.ts'
import {
  type BacklogRun,
  loadBacklogLines,
  nextWake,
  takeByIds,
  takeDue,
  takeFromLines,
  takeFromSessions,
} from './backlog-store.ts'
import { hasPayloadRoom } from './payloads.ts'

/** Rows read and applied at a time; the event loop runs in between. */
const RUNS_PER_PAGE = 300

/**
 * Loads an org without its lock, in one snapshot: later transactions are applied by `catchUp`. Without the snapshot,
 * rows newer than the version would stay for good if their transaction were lost with a failover.
 */
export const loadOrgState = (
  database: Pick<Database, 'transaction'>,
  node: NodeCapabilities,
  orgId: OrgId,
): Promise<LoadedOrg> => inSnapshot(database, (tx) => readOrgState(tx, node, orgId))

async function readOrgState(connection: Connection, node: NodeCapabilities, orgId: OrgId): Promise<LoadedOrg> {
  const loaded = emptyLoadedOrg(orgId, node)
  setVersion(loaded, await loadVersion(connection, orgId))
  await loadOrgLimits(connection, loaded)
  await loadUnfinished(connection, loaded, node)
  await loadBacklog(connection, loaded)
  await loadBudgetsIntoState(connection, loaded, new Set())
  await loadQuotasIntoState(connection, loaded, new Set())
  for (let after = ''; ;) {
    // A run's payload can state what to reserve, so with budgets every small payload is loaded.
    const payloads = loaded.state.budgets !== null || hasPayloadRoom(loaded.payloads)
    const runs = await loadPending(connection, { orgId, after, limit: RUNS_PER_PAGE, payloads })
    await loadSessionsIntoState(connection, loaded, { node, keys: missingSessions(loaded, runs) })
    for (const run of runs) addLoadedRun(loaded, run)
    if (runs.length < RUNS_PER_PAGE) break
    after = runs.at(-1)?.id ?? ''
  }
  await loadMissing(connection, loaded)
  return loaded
}

/** Loads what of the org is in the backlog. */
async function loadBacklog(connection: Connection, loaded: LoadedOrg): Promise<void> {
  const { orgId, backlog } = loaded.state
  const lines = await loadBacklogLines(connection, { orgId })
  if (lines.length === 0) return
  setBacklogLines(loaded, lines, null)
  backlog.wakesAt = await nextWake(connection, { orgId, from: null })
}

/** Performs a step with rows of the backlog, which arrive with their sessions and agents. */
export async function withBacklog<Result>(
  tx: Transaction,
  { org, node }: { readonly org: LoadedOrg; readonly node: NodeCapabilities },
  step: Loads<Result>,
): Promise<Result> {
  const { state } = org
  let next = step.next()
  while (next.done !== true) {
    const rows = await takeRows(tx, state, next.value)
    const runs = rows.map(({ run }) => run)
    await loadSessionsIntoState(tx, org, { node, keys: missingSessions(org, runs) })
    for (const { agentId } of runs) if (!state.agents.has(agentId)) org.missing.agents.add(agentId)
    await loadMissing(tx, org)
    if (state.budgets !== null) await reviewReserves(tx, org, runs)
    next = step.next(rows)
  }
  return next.value
}

/** Reads what their agents usually spend, so that it is known when they are picked. */
async function reviewReserves(tx: Transaction, org: LoadedOrg, runs: readonly RunRow[]): Promise<void> {
  const { budgets } = org.state
  if (budgets === null) return
  for (const run of runs) updateReserves(budgets, run, null)
  await reviewBudgets(tx, org)
}

async function takeRows(tx: Transaction, state: OrgState, request: BacklogRequest): Promise<readonly BacklogRun[]> {
  const { orgId, backlog } = state
  switch (request.kind) {
    case 'lines':
      return takeFromLines(tx, { orgId, lines: request.lines })
    case 'sessions':
      return takeFromSessions(tx, { orgId, sessions: request.sessions })
    case 'ids':
      return takeByIds(tx, { orgId, ids: request.ids })
    case 'due': {
      const rows = await takeDue(tx, { orgId, ...request })
      const last = rows.at(-1)?.run.deadline ?? null
      backlog.wakesAt = rows.length === request.max ? last : await nextWake(tx, { orgId, from: request.from })
      return rows
    }
  }
}

/** Loads the limits of the org and their usage. */
export async function loadOrgLimits(connection: Connection, loaded: LoadedOrg): Promise<void> {
  const { state } = loaded
  const org = await loadOrg(connection, state.orgId)
  setOrgLimit(loaded, org?.maxConcurrent ?? null)
  state.maxTimeoutSeconds = org?.maxTimeoutSeconds ?? null
  const perDay = org?.runsPerDay ?? null
  await loadDailyRuns(connection, loaded, perDay === null ? null : { perDay, zone: zoneOfOrg(org?.defaultTimezone) })
}

/**
 * Loads the pending clearings and clock steps. Between transactions only: those of the present one are not written yet.
 */
export async function loadUnfinished(connection: Connection, loaded: LoadedOrg, node: NodeCapabilities): Promise<void> {
  const { state } = loaded
  replaceClearings(state.clearings, await loadClearings(connection, state.orgId))
  state.clockSteps = await loadClockSteps(connection, state.orgId)
  // All that is left to cancel may be in the backlog.
  const keys = [...state.clearings.values()].flatMap(({ subject, key }) =>
    subject === 'session' && !state.sessions.has(key as SessionKey) ? [key as SessionKey] : [],
  )
  await loadSessionsIntoState(connection, loaded, { node, keys })
}

/** Loads how many runs of the day other nodes have created; the limit is passed in. */
export async function loadDailyRuns(
  connection: Connection,
  { state }: LoadedOrg,
  limit: Parameters<typeof setDailyRuns>[1],
): Promise<void> {
  const counted = limit === null ? [] : await loadPeriodUsages(connection, { orgId: state.orgId, id: RUNS_PER_DAY })
  setDailyRuns(state, limit, counted)
}

/** The zone was validated when it was set; if the server no longer knows it, the org must still load. */
function zoneOfOrg(name: unknown): Zone {
  const zone = parseZone('default_timezone', name)
  return zone.ok ? zone.value : UTC
}

export function setVersion(loaded: LoadedOrg, { version, at, writer }: OrgVersion): void {
  loaded.version = version
  loaded.newest = { at, writer }
}

/** The sessions of runs that are not in the org state yet. */
export function missingSessions(
  loaded: LoadedOrg,
  runs: Iterable<{ readonly sessionKey: SessionKey | null }>,
): SessionKey[] {
  const missing = new Set<SessionKey>()
  for (const { sessionKey } of runs)
    if (sessionKey !== null && !loaded.state.sessions.has(sessionKey)) missing.add(sessionKey)
  return [...missing]
}

/** Loads sessions, replacing the known ones, because another node may have changed them. */
export async function loadSessionsIntoState(
  connection: Connection,
  loaded: LoadedOrg,
  wanted: { readonly node: NodeCapabilities; readonly keys: readonly SessionKey[] },
): Promise<void> {
  if (wanted.keys.length === 0) return
  const sessions = await loadSessions(connection, { orgId: loaded.state.orgId, keys: wanted.keys })
  putSessions(loaded, wanted.node, sessions)
  if (sessions.length === wanted.keys.length) return
  // A deleted session had no pending runs and leaves the org state.
  const found = new Set(sessions.map(({ key }) => key))
  const { sessions: inState, bySession } = loaded.state
  for (const key of wanted.keys) if (!found.has(key) && !bySession.has(key)) inState.delete(key)
}

function putSessions(loaded: LoadedOrg, node: NodeCapabilities, sessions: readonly SessionRow[]): void {
  for (const session of sessions) {
    loaded.state.sessions.set(session.key, session)
    updateSessionLimits(loaded, session.key, node)
    const run = joinSession(loaded.state, session.key)
    if (run !== undefined) reindexRun(loaded, run)
  }
}

/** Loads schedules; deleted ones leave the org state. */
export async function loadSchedulesIntoState(
  connection: Connection,
  loaded: LoadedOrg,
  ids: readonly ScheduleId[],
): Promise<void> {
  if (ids.length === 0) return
  const { state } = loaded
  for (const id of ids) state.schedules.delete(id)
  for (const row of await loadSchedules(connection, { orgId: state.orgId, ids })) {
    state.schedules.set(row.id, row)
    loaded.idleSchedules.add(row.id)
  }
}

/** Loads agents. */
export async function loadAgentsIntoState(
  connection: Connection,
  loaded: LoadedOrg,
  ids: readonly AgentId[],
): Promise<void> {
  if (ids.length === 0) return
  putAgents(loaded, ids, await loadAgents(connection, { orgId: loaded.state.orgId, ids }))
}

function putAgents({ state, readyQueue }: LoadedOrg, ids: readonly AgentId[], rows: readonly AgentRow[]): void {
  const gone = new Set(ids)
  for (const row of rows) {
    const agent = toLoadedAgent(row)
    gone.delete(row.id)
    state.agents.set(row.id, agent)
    readyQueue.setAgent(row.id, agent)
  }
  // Pending runs keep the agent they were created for; new ones are refused.
  for (const id of gone) if (readyQueue.pendingOf(id) === 0) state.agents.delete(id)
}

/** Sessions and agents that were read ahead, including the requested ones that do not exist. */
export interface ReadAhead {
  readonly sessions: ReadonlySet<SessionKey>
  readonly agents: ReadonlySet<AgentId>
  /** Waits for the rows and puts them into the org state. */
  readonly arrive: () => Promise<void>
}

/**
 * Reads what commands will probably need, in the same round trip as the lock; the rows are applied once the state is up
 * to date.
 */
export function readAhead(
  tx: Transaction,
  loaded: LoadedOrg,
  wanted: {
    readonly node: NodeCapabilities
    readonly sessions: ReadonlySet<SessionKey>
    readonly agents: ReadonlySet<AgentId>
  },
): ReadAhead {
  const { orgId } = loaded.state
  const { node, sessions, agents } = wanted
  const [keys, ids] = [[...sessions], [...agents]]
  const asked = Promise.all([
    keys.length === 0 ? [] : loadSessions(tx, { orgId, keys }),
    ids.length === 0 ? [] : loadAgents(tx, { orgId, ids }),
  ])
  // The error is reported by the statements that follow in the transaction.
  asked.catch(() => undefined)
  const arrive = async (): Promise<void> => {
    if (keys.length + ids.length === 0) return
    const [sessionRows, agentRows] = await asked
    putSessions(loaded, node, sessionRows)
    putAgents(loaded, ids, agentRows)
  }
  return { sessions, agents, arrive }
}

/** Loads the agents and schedules of pending runs that are missing from the org state. */
export async function loadMissing(connection: Connection, loaded: LoadedOrg): Promise<void> {
  const { state, missing } = loaded
  await loadSchedulesIntoState(connection, loaded, [...missing.schedules])
  await loadAgentsIntoState(connection, loaded, [...missing.agents])
  // Only tasks and schedules with an inline executor name agents that do not exist.
  for (const id of missing.agents) if (!state.agents.has(id)) state.agents.set(id, inlineAgentFor(id) ?? taskAgent(id))
  missing.schedules.clear()
  missing.agents.clear()
}

/** Executes the tasks of agents that are not registered. */
export const TASK_EXECUTOR = 'tab-action'

/** An agent as far as transactions need it. */
export const toLoadedAgent = (row: AgentRow): LoadedAgent => ({
  id: row.id,
  executorKey: executorKeyOf(row),
  executorKind: row.executor.kind,
  retryPolicy: row.retryPolicy,
  timeoutSeconds: row.timeoutSeconds,
  maxConcurrent: row.maxConcurrent,
  provider: row.provider,
  ...(row.contextWindow === null ? {} : { contextWindow: row.contextWindow }),
  ...(row.selfService === null ? {} : { selfService: true }),
})

/** The executor a node must have to claim runs of the agent. */
export function executorKeyOf({ id, executor }: Pick<AgentRow, 'id' | 'executor'>): string {
  if (executor.kind === 'worker') return workerKeyOf(id)
  return executor.kind === 'in-process' ? `in-process:${id}` : executor.kind
}

/** An agent that exists only because a task names it. */
export const taskAgent = (id: AgentId): LoadedAgent => ({
  id,
  executorKey: TASK_EXECUTOR,
  executorKind: TASK_EXECUTOR,
  retryPolicy: null,
  timeoutSeconds: null,
  maxConcurrent: null,
  provider: null,
})

interface MissingRows {
  readonly sessions: Set<SessionKey>
  readonly schedules: Set<ScheduleId>
  readonly agents: Set<AgentId>
}

/** The rows that commands need and that are not in the org state. */
export function missingRows(
  { state }: LoadedOrg,
  commands: readonly Command<unknown>[],
  ahead?: ReadAhead,
): MissingRows {
  const absent: MissingRows = { sessions: new Set(), schedules: new Set(), agents: new Set() }
  for (const { needs, prepare } of commands) {
    if (needs === undefined) continue
    // A command with statements of its own may have changed rows that are loaded.
    const again = prepare !== undefined
    for (const key of needs.sessions ?? [])
      if (again || !(state.sessions.has(key) || ahead?.sessions.has(key))) absent.sessions.add(key)
    for (const id of needs.schedules ?? []) if (again || !state.schedules.has(id)) absent.schedules.add(id)
    for (const id of needs.agents ?? [])
      if (again || !(state.agents.has(id) || ahead?.agents.has(id))) absent.agents.add(id)
  }
  return absent
}

/** The commands of a transaction, and what was read ahead for them. */
export interface CommandBatch {
  readonly org: LoadedOrg
  readonly commands: readonly Command<unknown>[]
  readonly ahead: ReadAhead
}

/** Loads the rows that the commands need into the org state. */
export async function loadNeeds(
  tx: Transaction,
  node: NodeCapabilities,
  { org, commands, ahead }: CommandBatch,
): Promise<void> {
  const { state } = org
  const { sessions, schedules, agents } = missingRows(org, commands, ahead)
  await loadSchedulesIntoState(tx, org, [...schedules])
  for (const id of schedules) {
    const row = state.schedules.get(id)
    if (row === undefined) continue
    if (!state.agents.has(row.agentId)) agents.add(row.agentId)
    if (row.sessionKey !== null && !state.sessions.has(row.sessionKey)) sessions.add(row.sessionKey)
  }
  await loadSessionsIntoState(tx, org, { node, keys: [...sessions] })
  await loadAgentsIntoState(tx, org, [...agents])
  await withBacklog(tx, { org, node }, loadForCommands(org, commands))
  if (state.budgets !== null) await loadTypicalUsageFor(tx, org, commands)
}
