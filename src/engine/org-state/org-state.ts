import type { RecordedHeartbeatOutcome } from '../../domain/heartbeat/heartbeat-ending.ts'
import type {
  AgentId,
  AttemptId,
  BudgetId,
  OrgId,
  ProviderName,
  RunId,
  ScheduleId,
  SessionKey,
} from '../../domain/ids.ts'
import { type Instant, instant } from '../../domain/instant.ts'
import type { ProbeAnswer } from '../../domain/probe/verdict.ts'
import type { LineKey, PickingKey } from '../../domain/queue/queued-run.ts'
import type { Why } from '../../domain/reasons.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import { isBackfilled } from '../../domain/schedule/backfill.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import type { OccurrenceKey } from '../../domain/schedule/occurrence-key.ts'
import type { SessionRules } from '../../domain/session/session.ts'
import type { Zone } from '../../domain/time/zone.ts'
import {
  clearingName,
  clearingOf,
  type Clearing,
  type Clearings,
  type ClearingSubject,
} from '../commands/cancel-waiting-store.ts'
import type { BudgetWithUsage, OrgBudgets } from './budget-usage.ts'
import type { LoadedProvider, OrgQuotas } from './quota-usage.ts'
import type { IdempotencyRow } from '../transaction/idempotency-store.ts'
import type { AlertChange } from '../../features/alerts/store.ts'
import type { AuditEntry } from '../../features/audit/entry.ts'
import type { UsageEntry } from '../../features/budgets/store.ts'
import type { EngineSettings } from '../../features/config/settings.ts'
import type { NewDelivery } from '../../features/deliveries/outbox-store.ts'
import type { AttemptRow, CallbackRow } from '../../features/runs/attempts-store.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { ScheduleRow } from '../../features/schedules/store.ts'
import type { SessionRow } from '../../features/sessions/store.ts'
import type { WorkerAttemptRow } from '../../features/workers/store.ts'
import type { ClockStep } from '../../platform/db/clock.ts'

/** An event of a transaction. Other nodes read from it what to load again. */
interface OrgEvent {
  readonly kind:
    | 'run.changed'
    | 'run.touched'
    | 'run.output'
    | 'message.merged'
    | 'message.dropped'
    | 'schedule.changed'
    | 'session.changed'
    | 'agent.changed'
    | 'budget.changed'
    | 'provider.changed'
    | 'heartbeat.changed'
    | 'lane.changed'
    | 'config.reloaded'
    | 'org.changed'
    | 'key.changed'
    | 'member.changed'
    | 'target.changed'
    | 'secret.changed'
    | 'delivery.changed'
    | 'alert.raised'
    | 'alert.cleared'
    | 'alert.changed'
    | 'outbound'
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

/** An entry of the ledger. */
interface DecidedOccurrence {
  readonly key: OccurrenceKey
  readonly runId: RunId
}

/** Consecutive missed occurrences. */
export interface RangeDecision {
  readonly scheduleId: ScheduleId
  readonly first: Instant
  readonly last: Instant
  readonly count: number
  readonly why: Why
}

/** An attempt that is followed by another. */
export type EndedAttempt = Omit<AttemptRow, 'orgId'>

/** The part of a line that is in the backlog. */
export interface LineInBacklog extends LineKey {
  count: number
  /** Those that compete: not behind others of their sessions. */
  waiting: number
  /** None of them sorts before it; null: none competes. */
  bound: PickingKey | null
}

/** What of an org is in the backlog. */
export interface Backlog {
  /** By name. A line with nothing in the backlog is not in it. */
  readonly lines: Map<string, LineInBacklog>
  count: number
  tasks: number
  readonly tasksOf: Map<AgentId, number>
  /** No run in the backlog has an earlier deadline; null: none has any. */
  wakesAt: Instant | null
}

/**
 * The pending runs of one org, in memory, valid under the org's lock: loaded once, changed by decisions, written back
 * with each transaction. It is kept between transactions: a node whose state ends at the org's newest transaction has
 * nothing to load.
 *
 * Invariants: every pending run of the org is in it or in the backlog, and those in it come with their session and, if
 * that still exists, their schedule; other rows that a decision reads are loaded before the decision.
 */
export interface OrgState {
  readonly orgId: OrgId
  readonly randomSource: RandomSource
  readonly runs: Map<RunId, RunRow>
  readonly bySession: Map<SessionKey, Set<RunRow>>
  readonly bySchedule: Map<ScheduleId, Set<RunRow>>
  readonly sessions: Map<SessionKey, SessionRow>
  readonly schedules: Map<ScheduleId, ScheduleRow>
  readonly agents: Map<AgentId, LoadedAgent>
  /** Queued tasks, by agent. */
  readonly queuedTasks: Map<AgentId, Set<RunId>>
  readonly allQueuedTasks: Set<RunId>
  /** What of the org is not in memory. */
  readonly backlog: Backlog
  /** Null: the org has no budget, which skips all budget checks. */
  budgets: OrgBudgets | null
  /** Null: the org has no provider, which skips all quota checks. */
  quotas: OrgQuotas | null
  /** The providers have changed since the ready queue was updated. */
  quotasChanged: boolean
  /** Null: the org has no limit of runs per day. */
  daily: CountedDay | null
  /** The reserves of waiting runs have changed since the ready queue was updated. */
  reservesChanged: boolean
  /** The maximum timeout of an attempt; null: the org has none. */
  maxTimeoutSeconds: number | null
  settings: EngineSettings
  /** The time of the present transaction, by the database's clock. */
  now: Instant
  /** The number of the present transaction in the org's history; positions in sessions derive from it. */
  transactionNo: number
  /** Positions assigned in the present transaction. */
  positionsAssigned: number
  /**
   * Maximum number of runs that one command, one lost node or the passing of time changes in one transaction; the rest
   * follows in later ones.
   */
  maxChanges: number
  /** Sessions and schedules whose older waiting runs are being cancelled in pieces, by name. Nearly always empty. */
  readonly clearings: Clearings
  /**
   * Steps by which the server's clock was set back and not all waits are moved yet, oldest first. Nearly always empty.
   */
  clockSteps: readonly ClockStep[]
  changes: Changes
}

/** The runs of the org's present day, counted while it has a limit. */
export interface CountedDay {
  readonly limit: number
  readonly zone: Zone
  start: Instant
  end: Instant
  created: number
}

export interface LoadedAgent {
  readonly id: AgentId
  /** The executor it needs: a node claims only what it can execute. */
  readonly executorKey: string
  readonly executorKind: string
  readonly retryPolicy: RetryPolicy | null
  readonly timeoutSeconds: number | null
  readonly maxConcurrent: number | null
  /** The provider it calls, if that has quotas. */
  readonly provider: ProviderName | null
  /** Tokens its context window holds; left out: not known. */
  readonly contextWindow?: number
  /** Whether its attempts are given API keys; left out: they are not. */
  readonly selfService?: true
}

/** The changes of a transaction, to be written. */
export interface Changes {
  readonly created: Set<RunRow>
  /** New runs whose unchanging part is written already, while others are decided. */
  readonly inserted: Set<RunRow>
  readonly changed: Set<RunRow>
  /** Runs that have ended and whose ending is not written yet. They do not change any more. */
  ended: RunRow[]
  /** Held runs that were released. Empty in nearly every transaction. */
  readonly released: Set<RunRow>
  /** Runs that were taken from the backlog. Empty in nearly every transaction, like the next two. */
  readonly promoted: Set<RunRow>
  /** New runs that are in the backlog, and whether they are behind others of their session. */
  readonly backlogged: Map<RunRow, boolean>
  readonly lines: Set<LineInBacklog>
  /** Changed runs whose payload changed too. */
  readonly merged: Set<RunRow>
  readonly newSessions: Set<SessionRow>
  readonly sessions: Set<SessionRow>
  readonly newSchedules: Set<ScheduleRow>
  readonly schedules: Set<ScheduleRow>
  readonly deletedSchedules: Set<ScheduleId>
  /** The ledger: occurrences that have been decided. */
  readonly occurrences: DecidedOccurrence[]
  /** Misfire ranges: decisions that created no run. */
  readonly ranges: RangeDecision[]
  /** Attempts that are followed by another. */
  readonly attempts: EndedAttempt[]
  /** Usage of budgets, by budget and period. */
  readonly spendings: Map<string, UsageEntry>
  /** Budgets that were paused or resumed, or whose alerts have changed. Empty in nearly every transaction. */
  readonly budgets: Set<BudgetWithUsage>
  /** Budgets deleted with their subject. Empty in nearly every transaction. */
  readonly goneBudgets: Set<BudgetId>
  /** Providers whose quota state has changed. Empty in nearly every transaction. */
  readonly providers: Set<LoadedProvider>
  /** Results to deliver. Empty in nearly every transaction. */
  readonly deliveries: NewDelivery[]
  /** Alerts that were raised or cleared. Empty in nearly every transaction. */
  readonly alerts: AlertChange[]
  /** Tokens with which results may be reported. Empty in nearly every transaction. */
  readonly callbacks: CallbackRow[]
  /** Attempts that were assigned to workers. Empty in nearly every transaction. */
  readonly assignments: WorkerAttemptRow[]
  /**
   * Runs of heartbeats that have ended; their answers are evaluated before the transaction is written. Nearly always
   * empty.
   */
  readonly endedHeartbeats: RunRow[]
  /** When agents want to be asked again, as they wrote it. */
  readonly nextChecks: Map<RunId, unknown>
  /** Outcomes of heartbeats and answers of probes, for the meter. */
  readonly heartbeatOutcomes: RecordedHeartbeatOutcome[]
  readonly probeAnswers: ProbeAnswer[]
  /** The full output of runs with a delivery, until they end in this transaction. */
  readonly fullOutputs: Map<RunId, unknown>
  /** All events in order, for event listeners. */
  readonly events: OrgEvent[]
  /** Entries of the audit log. Empty in nearly every transaction. */
  readonly audits: AuditEntry[]
  /**
   * Clearings that started in this transaction, and those with nothing left to cancel. Empty in nearly every
   * transaction.
   */
  readonly clearings: Set<Clearing>
  readonly cleared: ClearingSubject[]
  /** The rest of clock steps. Empty in nearly every transaction. */
  readonly clockSteps: ClockStep[]
  /** Answers bound to idempotency keys, by the name of the key. */
  readonly bindings: Map<string, IdempotencyRow>
}

/** Ids and random numbers are injected, so that a test can repeat them. */
export interface RandomSource {
  /** In [0, 1). The argument lets a simulation give each run its own number. */
  readonly random: (run: RunRow) => number
  readonly newRunId: (kind: 'run' | 'task', now: Instant) => RunId
  readonly newAttemptId: (now: Instant) => AttemptId
  /** The trace of a run that no client has asked for. Left out, or null: tracing is off. */
  readonly newTrace?: ((trigger: string) => string | null) | undefined
}

/** An empty org state. */
export function emptyOrgState(orgId: OrgId, chance: RandomSource, settings: EngineSettings): OrgState {
  return {
    orgId,
    randomSource: chance,
    settings,
    runs: new Map(),
    ...{ bySession: new Map(), bySchedule: new Map(), sessions: new Map(), schedules: new Map() },
    ...{ agents: new Map(), queuedTasks: new Map(), allQueuedTasks: new Set() },
    backlog: { lines: new Map(), count: 0, tasks: 0, tasksOf: new Map(), wakesAt: null },
    ...{ budgets: null, quotas: null, quotasChanged: false, daily: null, maxTimeoutSeconds: null },
    ...{ reservesChanged: false, now: instant(0), transactionNo: 0, positionsAssigned: 0, maxChanges: Infinity },
    ...{ clearings: new Map(), clockSteps: [] },
    changes: noChanges(),
  }
}

/** Created for every transaction, so in one literal: assembling it from parts takes twenty microseconds. */
export const noChanges = (): Changes => ({
  created: new Set(),
  inserted: new Set(),
  changed: new Set(),
  ended: [],
  released: new Set(),
  promoted: new Set(),
  backlogged: new Map(),
  lines: new Set(),
  merged: new Set(),
  newSessions: new Set(),
  sessions: new Set(),
  newSchedules: new Set(),
  schedules: new Set(),
  deletedSchedules: new Set(),
  occurrences: [],
  ranges: [],
  attempts: [],
  spendings: new Map(),
  budgets: new Set(),
  goneBudgets: new Set(),
  providers: new Set(),
  deliveries: [],
  alerts: [],
  callbacks: [],
  assignments: [],
  endedHeartbeats: [],
  nextChecks: new Map(),
  heartbeatOutcomes: [],
  probeAnswers: [],
  fullOutputs: new Map(),
  events: [],
  audits: [],
  clearings: new Set(),
  cleared: [],
  clockSteps: [],
  bindings: new Map(),
})

/** Adds a pending run to all indexes. */
export function indexRun(state: OrgState, run: RunRow): void {
  state.runs.set(run.id, run)
  if (run.sessionKey !== null) addTo(state.bySession, run.sessionKey, run)
  if (run.scheduleId !== null) addTo(state.bySchedule, run.scheduleId, run)
  countTask(state, run)
}

/** Removes a run that has ended, or that is about to be loaded again. */
export function unindexRun(state: OrgState, run: RunRow): void {
  state.runs.delete(run.id)
  if (run.sessionKey !== null) removeFrom(state.bySession, run.sessionKey, run)
  if (run.scheduleId !== null) removeFrom(state.bySchedule, run.scheduleId, run)
  if (run.trigger === 'task') uncountTask(state, run)
}

/** Updates the count of queued tasks after the run has changed its state. */
export function countTask(state: OrgState, run: RunRow): void {
  if (run.trigger !== 'task') return
  if (run.state === 'queued' || run.state === 'waiting') {
    addTo(state.queuedTasks, run.agentId, run.id)
    state.allQueuedTasks.add(run.id)
  } else uncountTask(state, run)
}

function uncountTask(state: OrgState, run: RunRow): void {
  removeFrom(state.queuedTasks, run.agentId, run.id)
  state.allQueuedTasks.delete(run.id)
}

function addTo<Key, Item>(index: Map<Key, Set<Item>>, key: Key, item: Item): void {
  const known = index.get(key)
  if (known === undefined) index.set(key, new Set([item]))
  else known.add(item)
}

function removeFrom<Key, Item>(index: Map<Key, Set<Item>>, key: Key, item: Item): void {
  const known = index.get(key)
  if (known?.delete(item) === true && known.size === 0) index.delete(key)
}

/** The session's own rules, then the deployment's. */
export const rulesOf = (state: OrgState, session: SessionRow): SessionRules => ({
  ...state.settings.sessions,
  ...session.own,
})

/** Whether a clearing is about to cancel the run, so that it no longer counts. */
const isCleared = ({ clearings }: OrgState, run: RunRow): boolean => clearingOf(clearings, run) !== undefined

/** Pending runs of the session's present generation; those from before a reset do not count. */
export function pendingInSession(state: OrgState, session: SessionRow): readonly RunRow[] {
  const found: RunRow[] = []
  for (const run of state.bySession.get(session.key) ?? [])
    if (run.generation === session.generation && run.finishedAt === null && !isCleared(state, run)) found.push(run)
  return found
}

/** Waiting runs of the session in the backlog that count; those that are being cancelled do not. */
export const behindIn = ({ clearings }: OrgState, { key, behind }: SessionRow): number =>
  clearings.size > 0 && clearings.has(clearingName({ subject: 'session', key })) ? 0 : behind

/** Oldest first, without superseded and held runs, and without backfill runs that need no slot of the schedule. */
export function pendingOfSchedule(state: OrgState, id: ScheduleId): readonly RunRow[] {
  const found: RunRow[] = []
  for (const run of state.bySchedule.get(id) ?? [])
    if (!run.superseded && run.finishedAt === null && (run.slot !== null || !isBackfilled(run)))
      if (!isHeld(run) && !isCleared(state, run)) found.push(run)
  return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}
