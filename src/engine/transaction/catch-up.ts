import type { AgentId, BudgetId, OrgId, ProviderName, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import { instant, type Instant } from '../../domain/instant.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import type { Connection, Database, Transaction } from '../../platform/db/database.ts'
import { noteDeadline, setBacklogLines } from '../org-state/backlog.ts'
import { loadBacklogLines } from '../org-state/backlog-store.ts'
import { loadLiveRuns, loadPendingByIds } from '../org-state/pending-store.ts'
import type { RunRow } from '../../features/runs/store.ts'
import {
  inSnapshot,
  loadTransactionsAfter,
  loadVersion,
  type OrgVersion,
  type StoredEvent,
  type TransactionRow,
} from './history-store.ts'
import { loadBudgetsIntoState, loadQuotasIntoState } from './review-budgets.ts'
import { removeRun, type LoadedOrg, type NodeCapabilities, addLoadedRun } from '../org-state/memory.ts'
import {
  loadMissing,
  missingSessions,
  setVersion,
  loadAgentsIntoState,
  loadDailyRuns,
  loadOrgLimits,
  loadUnfinished,
  loadSchedulesIntoState,
  loadSessionsIntoState,
} from '../org-state/load.ts'

/** Further behind than this, loading everything again is cheaper than catching up. */
const MAX_MISSING = 5_000

/**
 * With more missing transactions than this, catching up starts before the org's lock is taken, so that other nodes do
 * not wait.
 */
const MAX_MISSING_UNDER_LOCK = 64

/** The state is so far behind that it is updated before the lock is taken. Nothing has been decided. */
export class StateBehind extends Error {
  constructor(orgId: OrgId) {
    super(`the loaded state of ${orgId} is far behind its history`)
    this.name = 'StateBehind'
  }
}

/**
 * Updates the state to the newest transaction, under the lock. Returns the transactions that were missing; null when
 * they do not follow the known one, and everything must be loaded again.
 */
export async function catchUp(
  tx: Transaction,
  org: LoadedOrg,
  at: { readonly newest: OrgVersion; readonly node: NodeCapabilities },
): Promise<readonly TransactionRow[] | null> {
  if (org.version + MAX_MISSING_UNDER_LOCK < at.newest.version) throw new StateBehind(org.state.orgId)
  return applyTransactions(tx, org, at)
}

/**
 * The same without the lock, in one snapshot, for a state that is far behind. Changes meanwhile are in later
 * transactions.
 */
export const catchUpWithoutLock = (
  database: Pick<Database, 'transaction'>,
  org: LoadedOrg,
  node: NodeCapabilities,
): Promise<readonly TransactionRow[] | null> =>
  inSnapshot(database, async (tx) =>
    applyTransactions(tx, org, { newest: await loadVersion(tx, org.state.orgId), node }),
  )

const isSameTransaction = (a: Pick<OrgVersion, 'at' | 'writer'>, b: Pick<OrgVersion, 'at' | 'writer'>): boolean =>
  a.at === b.at && a.writer === b.writer

/**
 * Whether the state ends with this transaction. Only under the lock does that prove it current; otherwise it is a hint.
 */
export const isAtVersion = (org: Pick<LoadedOrg, 'version' | 'newest'>, newest: OrgVersion): boolean =>
  org.version === newest.version && isSameTransaction(org.newest, newest)

/** The transactions after the known one; null when that is gone or one of them is missing. */
async function missingTransactions(
  connection: Connection,
  org: LoadedOrg,
  newest: OrgVersion,
): Promise<readonly TransactionRow[] | null> {
  const behind = newest.version - org.version
  if (behind === 0) return isAtVersion(org, newest) ? [] : null
  if (behind < 0 || behind > MAX_MISSING) return null
  const { orgId } = org.state
  const query = { orgId, after: org.version - 1, limit: behind + 1 }
  const isWhole = (transactions: readonly TransactionRow[]): boolean =>
    transactions.filter(({ no }) => no > org.version).length === behind
  let transactions = await loadTransactionsAfter(connection, { ...query, since: org.newest.at })
  // After a clock was set back they were written with earlier times.
  if (!isWhole(transactions)) transactions = await loadTransactionsAfter(connection, query)
  if (!isWhole(transactions)) return null
  const missing = transactions.filter(({ no }) => no > org.version)
  const [known] = transactions
  if (org.version === 0) return missing
  return known?.no === org.version && isSameTransaction(org.newest, { at: known.at, writer: known.nodeId })
    ? missing
    : null
}

async function applyTransactions(
  tx: Connection,
  org: LoadedOrg,
  at: { readonly newest: OrgVersion; readonly node: NodeCapabilities },
): Promise<readonly TransactionRow[] | null> {
  const transactions = await missingTransactions(tx, org, at.newest)
  if (transactions === null || transactions.length === 0) return transactions
  org.isUnsettled = true
  const changed = changedSubjectsOf(transactions)
  // First, because clearings decide how runs are applied.
  if (changed.org) {
    await loadUnfinished(tx, org, at.node)
    await loadOrgLimits(tx, org)
  }
  await loadSessionsIntoState(tx, org, { node: at.node, keys: [...changed.sessions] })
  await loadTouchedRuns(tx, org, { touched: changed, node: at.node })
  await loadSchedulesIntoState(
    tx,
    org,
    [...changed.schedules].filter((id) => org.state.schedules.has(id)),
  )
  await loadAgentsIntoState(
    tx,
    org,
    [...changed.agents].filter((id) => org.state.agents.has(id)),
  )
  await loadMissing(tx, org)
  if (changed.backlog.size > 0) {
    const lines = await loadBacklogLines(tx, { orgId: org.state.orgId, agents: [...changed.backlog] })
    setBacklogLines(org, lines, changed.backlog)
    for (const at of changed.wakes) noteDeadline(org.state.backlog, at)
  }
  if (org.state.budgets !== null || changed.budgets.size > 0) await loadBudgetsIntoState(tx, org, changed.runs)
  if (org.state.quotas !== null || changed.providers.size > 0) await loadQuotasIntoState(tx, org, changed.runs)
  const { daily } = org.state
  if (!changed.org && daily !== null) await loadDailyRuns(tx, org, { perDay: daily.limit, zone: daily.zone })
  setVersion(org, at.newest)
  org.isUnsettled = false
  return transactions
}

/**
 * For known pending runs only their changing columns are read, for ended ones nothing. A release changes more columns,
 * so held runs are read whole.
 */
async function loadTouchedRuns(
  connection: Connection,
  org: LoadedOrg,
  { touched: changed, node }: { readonly touched: ChangedSubjects; readonly node: NodeCapabilities },
): Promise<void> {
  const { orgId, runs: inState } = org.state
  const left = new Map<RunId, RunRow>()
  const unknown: RunId[] = []
  for (const id of changed.runs) {
    const known = inState.get(id)
    if (changed.ended.has(id)) {
      if (known !== undefined) removeRun(org, known)
    } else if (known === undefined || changed.merged.has(id) || isHeld(known)) unknown.push(id)
    else left.set(id, known)
  }
  const [read, lives] = await Promise.all([
    unknown.length === 0 ? [] : loadPendingByIds(connection, { orgId, ids: unknown }),
    left.size === 0 ? [] : loadLiveRuns(connection, { orgId, runs: left }),
  ])
  const runs = [...read, ...lives]
  const pending = new Set(runs.map((run) => run.id))
  for (const id of [...unknown, ...left.keys()]) {
    const known = pending.has(id) ? undefined : inState.get(id)
    if (known !== undefined) removeRun(org, known)
  }
  await loadSessionsIntoState(connection, org, { node, keys: missingSessions(org, runs) })
  for (const run of runs) addLoadedRun(org, run)
}

/** The rows that missed transactions have changed. */
interface ChangedSubjects {
  readonly runs: Set<RunId>
  /** Runs that have ended, which need no read. */
  readonly ended: Set<RunId>
  /** Runs whose payload may have changed. */
  readonly merged: Set<RunId>
  readonly sessions: Set<SessionKey>
  readonly schedules: Set<ScheduleId>
  readonly agents: Set<AgentId>
  readonly budgets: Set<BudgetId>
  readonly providers: Set<ProviderName>
  /** Agents whose lines in the backlog have changed, and the deadlines of runs there. */
  readonly backlog: Set<AgentId>
  readonly wakes: Instant[]
  org: boolean
}

const ABOUT_RUNS = /^(?:run|message)\.|^outbound$/

/** Collects the subjects of the transactions' events. */
function changedSubjectsOf(transactions: readonly TransactionRow[]): ChangedSubjects {
  const changed: ChangedSubjects = {
    ...{ runs: new Set(), ended: new Set(), merged: new Set(), sessions: new Set(), schedules: new Set() },
    ...{ agents: new Set(), budgets: new Set(), providers: new Set(), org: false },
    ...{ backlog: new Set(), wakes: [] },
  }
  for (const { events } of transactions)
    for (const [kind, subject, data] of events) {
      if (kind.startsWith('session.')) changed.sessions.add(subject as SessionKey)
      else if (kind.startsWith('schedule.')) changed.schedules.add(subject as ScheduleId)
      else if (kind.startsWith('agent.')) changed.agents.add(subject as AgentId)
      else if (kind.startsWith('budget.')) changed.budgets.add(subject as BudgetId)
      else if (kind.startsWith('provider.')) changed.providers.add(subject as ProviderName)
      else if (kind.startsWith('org.')) changed.org = true
      else if (kind === 'backlog.touched') addChangedLine(changed, subject as AgentId, data)
      // Progress events change no row, and keys, members and lanes are not part of the org state.
      else if (kind !== 'run.output' && ABOUT_RUNS.test(kind)) addChangedRun(changed, subject as RunId, { kind, data })
    }
  return changed
}

function addChangedLine({ backlog, wakes }: ChangedSubjects, id: AgentId, { wakes_at: at }: StoredEvent[2]): void {
  backlog.add(id)
  if (typeof at === 'number') wakes.push(instant(at))
}

function addChangedRun(
  { runs, ended, merged }: ChangedSubjects,
  id: RunId,
  { kind, data }: { readonly kind: string; readonly data: StoredEvent[2] },
): void {
  runs.add(id)
  if (kind === 'run.changed' && isTerminal(data['status'] as RunState)) ended.add(id)
  if (kind.startsWith('message.')) merged.add(id)
}
