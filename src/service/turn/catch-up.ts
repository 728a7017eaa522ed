import type { AgentId, BudgetId, OrgId, ProviderName, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import type { Connection, Database, Transaction } from '../../store/database.ts'
import { loadLives, loadPendingByIds } from '../../engine/org-state/pending-store.ts'
import type { RunRow } from '../../store/run-row.ts'
import {
  inSnapshot,
  loadTurnsAfter,
  loadVersion,
  type OrgVersion,
  type StoredEvent,
  type TurnRow,
} from '../../engine/transaction/history-store.ts'
import { recallBudgets } from './budgets.ts'
import { forgetRun, type Memory, type NodeFacts, recallRun } from './memory.ts'
import { recallQuotas } from './quotas.ts'
import {
  completeDesk,
  missingSessions,
  noteVersion,
  recallAgents,
  recallDailyRuns,
  recallOrg,
  recallPieces,
  recallSchedules,
  recallSessions,
} from './recall.ts'

/** Further behind than this, reading everything again is cheaper than catching up. */
const MAX_TURNS = 5_000

/** More turns than these are caught up with before the org's lock is taken: nobody else moves while it is held. */
const MAX_TURNS_UNDER_LOCK = 64

/** The memory cannot be brought up to date; it has to be loaded again. */
export class MemoryTooOld extends Error {
  constructor(orgId: OrgId) {
    super(`the history of ${orgId} does not reach back to what is remembered of it`)
    this.name = 'MemoryTooOld'
  }
}

/** The memory is so far behind that it is brought nearer before the lock is taken. Nothing has been decided. */
export class MemoryBehind extends Error {
  constructor(orgId: OrgId) {
    super(`what is remembered of ${orgId} is far behind its history`)
    this.name = 'MemoryBehind'
  }
}

/**
 * Brings the memory up to the newest turn, under the lock. Answers with the turns it had not heard of; null when they do
 * not follow on what is remembered, and everything must be loaded again.
 */
export async function catchUp(
  tx: Transaction,
  memory: Memory,
  at: { readonly newest: OrgVersion; readonly node: NodeFacts },
): Promise<readonly TurnRow[] | null> {
  if (memory.version + MAX_TURNS_UNDER_LOCK < at.newest.version) throw new MemoryBehind(memory.desk.orgId)
  return follow(tx, memory, at)
}

/** The same without the lock, in one snapshot, for a memory that is far behind. What changes meanwhile is in a later turn. */
export const comeNearer = (
  database: Pick<Database, 'transaction'>,
  memory: Memory,
  node: NodeFacts,
): Promise<readonly TurnRow[] | null> =>
  inSnapshot(database, async (tx) => follow(tx, memory, { newest: await loadVersion(tx, memory.desk.orgId), node }))

const isSame = (a: Pick<OrgVersion, 'at' | 'writer'>, b: Pick<OrgVersion, 'at' | 'writer'>): boolean =>
  a.at === b.at && a.writer === b.writer

/** Whether the memory ends with this turn. Between turns that is a hint; under the lock it makes the memory the truth. */
export const isAt = (memory: Pick<Memory, 'version' | 'newest'>, newest: OrgVersion): boolean =>
  memory.version === newest.version && isSame(memory.newest, newest)

/** The turns after the one that is remembered, if that is still on record and none of them is missing. */
async function turnsSince(
  connection: Connection,
  memory: Memory,
  newest: OrgVersion,
): Promise<readonly TurnRow[] | null> {
  const behind = newest.version - memory.version
  if (behind === 0) return isAt(memory, newest) ? [] : null
  if (behind < 0 || behind > MAX_TURNS) return null
  const { orgId } = memory.desk
  const asked = { orgId, after: memory.version - 1, limit: behind + 1 }
  const isWhole = (turns: readonly TurnRow[]): boolean =>
    turns.filter(({ no }) => no > memory.version).length === behind
  let turns = await loadTurnsAfter(connection, { ...asked, since: memory.newest.at })
  // After a clock was set back they were written with earlier times.
  if (!isWhole(turns)) turns = await loadTurnsAfter(connection, asked)
  if (!isWhole(turns)) return null
  const unheard = turns.filter(({ no }) => no > memory.version)
  const [known] = turns
  if (memory.version === 0) return unheard
  return known?.no === memory.version && isSame(memory.newest, { at: known.at, writer: known.nodeId }) ? unheard : null
}

async function follow(
  tx: Connection,
  memory: Memory,
  at: { readonly newest: OrgVersion; readonly node: NodeFacts },
): Promise<readonly TurnRow[] | null> {
  const turns = await turnsSince(tx, memory, at.newest)
  if (turns === null || turns.length === 0) return turns
  memory.isUnsettled = true
  const touched = subjectsOf(turns)
  // First, because what is being cancelled in pieces decides how runs are taken in.
  if (touched.org) {
    await recallPieces(tx, memory)
    await recallOrg(tx, memory)
  }
  await recallSessions(tx, memory, { node: at.node, keys: [...touched.sessions] })
  await recallRuns(tx, memory, { touched, node: at.node })
  await recallSchedules(
    tx,
    memory,
    [...touched.schedules].filter((id) => memory.desk.schedules.has(id)),
  )
  await recallAgents(
    tx,
    memory,
    [...touched.agents].filter((id) => memory.desk.agents.has(id)),
  )
  await completeDesk(tx, memory)
  if (memory.desk.budgets !== null || touched.budgets.size > 0) await recallBudgets(tx, memory, touched.runs)
  if (memory.desk.quotas !== null || touched.providers.size > 0) await recallQuotas(tx, memory, touched.runs)
  const { daily } = memory.desk
  if (!touched.org && daily !== null) await recallDailyRuns(tx, memory, { perDay: daily.limit, zone: daily.zone })
  noteVersion(memory, at.newest)
  memory.isUnsettled = false
  return turns
}

/**
 * Of runs that are known only what changes while they are pending is read again, and of those that have ended nothing. A
 * release changes more of a run, so held ones are read whole.
 */
async function recallRuns(
  connection: Connection,
  memory: Memory,
  { touched, node }: { readonly touched: Touched; readonly node: NodeFacts },
): Promise<void> {
  const { orgId, runs: onDesk } = memory.desk
  const left = new Map<RunId, RunRow>()
  const unknown: RunId[] = []
  for (const id of touched.runs) {
    const known = onDesk.get(id)
    if (touched.ended.has(id)) {
      if (known !== undefined) forgetRun(memory, known)
    } else if (known === undefined || touched.merged.has(id) || isHeld(known)) unknown.push(id)
    else left.set(id, known)
  }
  const [read, lives] = await Promise.all([
    unknown.length === 0 ? [] : loadPendingByIds(connection, { orgId, ids: unknown }),
    left.size === 0 ? [] : loadLives(connection, { orgId, runs: left }),
  ])
  const runs = [...read, ...lives]
  const pending = new Set(runs.map((run) => run.id))
  for (const id of [...unknown, ...left.keys()]) {
    const known = pending.has(id) ? undefined : onDesk.get(id)
    if (known !== undefined) forgetRun(memory, known)
  }
  await recallSessions(connection, memory, { node, keys: missingSessions(memory, runs) })
  for (const run of runs) recallRun(memory, run)
}

/** What turns of others have changed. */
interface Touched {
  readonly runs: Set<RunId>
  /** Those of the runs that have ended: there is nothing left to read. */
  readonly ended: Set<RunId>
  /** Those of the runs that may have been given something else to do. */
  readonly merged: Set<RunId>
  readonly sessions: Set<SessionKey>
  readonly schedules: Set<ScheduleId>
  readonly agents: Set<AgentId>
  readonly budgets: Set<BudgetId>
  readonly providers: Set<ProviderName>
  org: boolean
}

const ABOUT_RUNS = /^(?:run|message)\.|^outbound$/

/** What the events of turns are about. */
function subjectsOf(turns: readonly TurnRow[]): Touched {
  const touched: Touched = {
    ...{ runs: new Set(), ended: new Set(), merged: new Set(), sessions: new Set(), schedules: new Set() },
    ...{ agents: new Set(), budgets: new Set(), providers: new Set(), org: false },
  }
  for (const { events } of turns)
    for (const [kind, subject, data] of events) {
      if (kind.startsWith('session.')) touched.sessions.add(subject as SessionKey)
      else if (kind.startsWith('schedule.')) touched.schedules.add(subject as ScheduleId)
      else if (kind.startsWith('agent.')) touched.agents.add(subject as AgentId)
      else if (kind.startsWith('budget.')) touched.budgets.add(subject as BudgetId)
      else if (kind.startsWith('provider.')) touched.providers.add(subject as ProviderName)
      else if (kind.startsWith('org.')) touched.org = true
      // What a run says on its way changes nothing about it, and keys, members and lanes are in nobody's memory.
      else if (kind !== 'run.output' && ABOUT_RUNS.test(kind)) touchRun(touched, subject as RunId, { kind, data })
    }
  return touched
}

function touchRun(
  { runs, ended, merged }: Touched,
  id: RunId,
  { kind, data }: { readonly kind: string; readonly data: StoredEvent[2] },
): void {
  runs.add(id)
  if (kind === 'run.changed' && isTerminal(data['status'] as RunState)) ended.add(id)
  if (kind.startsWith('message.')) merged.add(id)
}
