import { workerKeyOf } from '../../core/executor/worker-agent.ts'
import type { AgentId, OrgId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import { parseZone, UTC, type Zone } from '../../core/time/zone.ts'
import { loadAgents, type AgentRow } from '../../features/agents/store.ts'
import { loadPeriodUses } from '../../features/budgets/store.ts'
import { loadClearings } from '../../engine/commands/cancel-waiting-store.ts'
import { loadClockSteps } from '../../platform/db/clock.ts'
import type { Connection, Database, Transaction } from '../../store/database.ts'
import { loadOrg } from '../../features/access/orgs-store.ts'
import { loadPending } from '../../engine/org-state/pending-store.ts'
import { loadSchedules } from '../../store/schedules.ts'
import { loadSessions, type SessionRow } from '../../store/sessions.ts'
import { inSnapshot, loadVersion, type OrgVersion } from '../../engine/transaction/history-store.ts'
import { RUNS_PER_DAY, takeDailyRuns } from '../desk/daily-runs.ts'
import { takeClearings } from '../desk/cleared.ts'
import type { AgentOnDesk } from '../desk/desk.ts'
import { joinSession } from '../desk/run-session.ts'
import { inlineAgent } from '../desk/runs.ts'
import { recallBudgets } from './budgets.ts'
import { recallQuotas } from './quotas.ts'
import { emptyMemory, noteRun, noteSession, recallRun, setOrgLimit, type Memory, type NodeFacts } from './memory.ts'
import { hasRoom } from './payloads.ts'

/** Rows that are read and taken in at a time: the event loop goes round in between. */
const PAGE = 300

/**
 * Loads an org without its lock, in one snapshot: what changes meanwhile is in a later turn, and catching up reads it
 * again. Rows newer than the version would stay for good if that later turn were lost with a failover.
 */
export const loadMemory = (database: Pick<Database, 'transaction'>, node: NodeFacts, orgId: OrgId): Promise<Memory> =>
  inSnapshot(database, (tx) => readMemory(tx, node, orgId))

async function readMemory(connection: Connection, node: NodeFacts, orgId: OrgId): Promise<Memory> {
  const memory = emptyMemory(orgId, node)
  noteVersion(memory, await loadVersion(connection, orgId))
  await recallOrg(connection, memory)
  await recallPieces(connection, memory)
  await recallBudgets(connection, memory, new Set())
  await recallQuotas(connection, memory, new Set())
  for (let after = ''; ;) {
    // What a run states in its payload decides what it sets aside, so with budgets every small one is looked at.
    const payloads = memory.desk.budgets !== null || hasRoom(memory.payloads)
    const runs = await loadPending(connection, { orgId, after, limit: PAGE, payloads })
    await recallSessions(connection, memory, { node, keys: missingSessions(memory, runs) })
    for (const run of runs) recallRun(memory, run)
    if (runs.length < PAGE) break
    after = runs.at(-1)?.id ?? ''
  }
  await completeDesk(connection, memory)
  return memory
}

/** Loads the limits of the org, and what it has used of them. */
export async function recallOrg(connection: Connection, memory: Memory): Promise<void> {
  const { desk } = memory
  const org = await loadOrg(connection, desk.orgId)
  setOrgLimit(memory, org?.maxConcurrent ?? null)
  desk.maxTimeoutSeconds = org?.maxTimeoutSeconds ?? null
  const perDay = org?.runsPerDay ?? null
  await recallDailyRuns(connection, memory, perDay === null ? null : { perDay, zone: zoneNamed(org?.defaultTimezone) })
}

/** Loads what is being cancelled or moved in pieces. Between turns: what the present one has begun is not on record yet. */
export async function recallPieces(connection: Connection, { desk }: Memory): Promise<void> {
  takeClearings(desk.clearings, await loadClearings(connection, desk.orgId))
  desk.clockSteps = await loadClockSteps(connection, desk.orgId)
}

/** Loads how many runs of the day others have created; the limit is the one that is known. */
export async function recallDailyRuns(
  connection: Connection,
  { desk }: Memory,
  limit: Parameters<typeof takeDailyRuns>[1],
): Promise<void> {
  const counted = limit === null ? [] : await loadPeriodUses(connection, { orgId: desk.orgId, id: RUNS_PER_DAY })
  takeDailyRuns(desk, limit, counted)
}

/** The zone was checked when it was set; one that the server has forgotten must not stop the org. */
function zoneNamed(name: unknown): Zone {
  const zone = parseZone('default_timezone', name)
  return zone.ok ? zone.value : UTC
}

export function noteVersion(memory: Memory, { version, at, writer }: OrgVersion): void {
  memory.version = version
  memory.newest = { at, writer }
}

/** The sessions of runs that are not on the desk yet. */
export function missingSessions(
  memory: Memory,
  runs: Iterable<{ readonly sessionKey: SessionKey | null }>,
): SessionKey[] {
  const missing = new Set<SessionKey>()
  for (const { sessionKey } of runs)
    if (sessionKey !== null && !memory.desk.sessions.has(sessionKey)) missing.add(sessionKey)
  return [...missing]
}

/** Loads sessions, also those that are on the desk: somebody may have changed them. */
export async function recallSessions(
  connection: Connection,
  memory: Memory,
  wanted: { readonly node: NodeFacts; readonly keys: readonly SessionKey[] },
): Promise<void> {
  if (wanted.keys.length === 0) return
  const sessions = await loadSessions(connection, { orgId: memory.desk.orgId, keys: wanted.keys })
  putSessions(memory, wanted.node, sessions)
  if (sessions.length === wanted.keys.length) return
  // One that is gone had nothing pending: it leaves the desk.
  const found = new Set(sessions.map(({ key }) => key))
  const { sessions: onDesk, bySession } = memory.desk
  for (const key of wanted.keys) if (!found.has(key) && !bySession.has(key)) onDesk.delete(key)
}

function putSessions(memory: Memory, node: NodeFacts, sessions: readonly SessionRow[]): void {
  for (const session of sessions) {
    memory.desk.sessions.set(session.key, session)
    noteSession(memory, session.key, node)
    const run = joinSession(memory.desk, session.key)
    if (run !== undefined) noteRun(memory, run)
  }
}

/** Loads schedules; one that is gone leaves the desk. */
export async function recallSchedules(
  connection: Connection,
  memory: Memory,
  ids: readonly ScheduleId[],
): Promise<void> {
  if (ids.length === 0) return
  const { desk } = memory
  for (const id of ids) desk.schedules.delete(id)
  for (const row of await loadSchedules(connection, { orgId: desk.orgId, ids })) {
    desk.schedules.set(row.id, row)
    memory.idleSchedules.add(row.id)
  }
}

/** Loads agents. */
export async function recallAgents(connection: Connection, memory: Memory, ids: readonly AgentId[]): Promise<void> {
  if (ids.length === 0) return
  putAgents(memory, ids, await loadAgents(connection, { orgId: memory.desk.orgId, ids }))
}

function putAgents({ desk, lineUp }: Memory, ids: readonly AgentId[], rows: readonly AgentRow[]): void {
  const gone = new Set(ids)
  for (const row of rows) {
    const agent = onDesk(row)
    gone.delete(row.id)
    desk.agents.set(row.id, agent)
    lineUp.setAgent(row.id, agent)
  }
  // What is pending keeps the agent it was made for; nothing new is accepted for it.
  for (const id of gone) if (lineUp.pendingOf(id) === 0) desk.agents.delete(id)
}

/** Sessions and agents that were read ahead, and those among the wanted that do not exist. */
export interface ReadAhead {
  readonly sessions: ReadonlySet<SessionKey>
  readonly agents: ReadonlySet<AgentId>
  /** Waits for them and puts them on the desk. */
  readonly arrive: () => Promise<void>
}

/** Asks for what is probably needed, in the same trip as the lock; it is put on the desk when the memory is up to date. */
export function readAhead(
  tx: Transaction,
  memory: Memory,
  wanted: {
    readonly node: NodeFacts
    readonly sessions: ReadonlySet<SessionKey>
    readonly agents: ReadonlySet<AgentId>
  },
): ReadAhead {
  const { orgId } = memory.desk
  const { node, sessions, agents } = wanted
  const [keys, ids] = [[...sessions], [...agents]]
  const asked = Promise.all([
    keys.length === 0 ? [] : loadSessions(tx, { orgId, keys }),
    ids.length === 0 ? [] : loadAgents(tx, { orgId, ids }),
  ])
  // Whoever asks for the rest of the transaction hears what is wrong with it.
  asked.catch(() => undefined)
  const arrive = async (): Promise<void> => {
    if (keys.length + ids.length === 0) return
    const [sessionRows, agentRows] = await asked
    putSessions(memory, node, sessionRows)
    putAgents(memory, ids, agentRows)
  }
  return { sessions, agents, arrive }
}

/** Every pending run has its agent and, if that still exists, its schedule on the desk. */
export async function completeDesk(connection: Connection, memory: Memory): Promise<void> {
  const { desk, missing } = memory
  await recallSchedules(connection, memory, [...missing.schedules])
  await recallAgents(connection, memory, [...missing.agents])
  // Only tasks and schedules with an executor of their own name agents that do not exist.
  for (const id of missing.agents) if (!desk.agents.has(id)) desk.agents.set(id, inlineAgent(id) ?? taskAgent(id))
  missing.schedules.clear()
  missing.agents.clear()
}

/** What executes the tasks of an agent that nobody has registered. */
export const TASK_EXECUTOR = 'tab-action'

/** An agent as far as a turn has to know it. */
export const onDesk = (row: AgentRow): AgentOnDesk => ({
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

/** What a node must be able to execute to take runs of the agent. */
export function executorKeyOf({ id, executor }: Pick<AgentRow, 'id' | 'executor'>): string {
  if (executor.kind === 'worker') return workerKeyOf(id)
  return executor.kind === 'in-process' ? `in-process:${id}` : executor.kind
}

/** An agent that exists only because a task names it. */
export const taskAgent = (id: AgentId): AgentOnDesk => ({
  id,
  executorKey: TASK_EXECUTOR,
  executorKind: TASK_EXECUTOR,
  retryPolicy: null,
  timeoutSeconds: null,
  maxConcurrent: null,
  provider: null,
})
