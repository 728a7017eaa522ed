import { isBackfilled } from '../../core/backfill/backfill.ts'
import type { AgentId, AttemptId, BudgetId, OrgId } from '../../domain/ids.ts'
import type { ProviderName, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import { instant, type Instant } from '../../domain/instant.ts'
import type { BeatOutcome } from '../../domain/heartbeat/heartbeat-ending.ts'
import type { ProbeAnswer } from '../../core/probe/verdict.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import type { SessionRules } from '../../core/session/session-rules.ts'
import type { Zone } from '../../core/time/zone.ts'
import { WideMap } from '../../domain/queue/large-map.ts'
import type { AlertChange } from '../../features/alerts/store.ts'
import type { Spending } from '../../features/budgets/store.ts'
import type { CallbackRow } from '../../store/callbacks.ts'
import type { Clearing, ClearingSubject } from '../../engine/commands/cancel-waiting-store.ts'
import type { ClockStep } from '../../platform/db/clock.ts'
import type { NewDelivery } from '../../features/deliveries/outbox-store.ts'
import type { IdempotencyRow } from '../../engine/transaction/idempotency-store.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { SessionRow } from '../../store/sessions.ts'
import type { WorkerAttemptRow } from '../../store/worker-attempts.ts'
import type { AuditEntry } from '../../features/audit/entry.ts'
import type { EngineSettings } from '../../features/config/settings.ts'
import type { BookedBudget, BudgetBook } from './budget-book.ts'
import { clearingOf, type Clearings } from './cleared.ts'
import type { DecidedOccurrence, DeskEvent, EndedAttempt, RangeDecision } from './desk-event.ts'
import type { ProviderOnDesk, QuotaBook } from './quota-book.ts'

/**
 * What is pending in one org, in memory, under the org's lock: loaded once, changed by decisions, written back turn by
 * turn. It holds between turns too: a node whose memory ends at the org's newest turn has nothing to load.
 *
 * Promises of whoever fills it: every pending run of the org is on it, with its session and, if that still exists, its
 * schedule; what else a decision looks at is put on it before the decision is asked.
 */
export interface Desk {
  readonly orgId: OrgId
  readonly chance: Chance
  readonly runs: WideMap<RunId, RunRow>
  readonly bySession: Map<SessionKey, Set<RunRow>>
  readonly bySchedule: Map<ScheduleId, Set<RunRow>>
  readonly sessions: Map<SessionKey, SessionRow>
  readonly schedules: Map<ScheduleId, ScheduleRow>
  readonly agents: Map<AgentId, AgentOnDesk>
  /** Queued tasks, by agent. */
  readonly queuedTasks: Map<AgentId, Set<RunId>>
  readonly allQueuedTasks: Set<RunId>
  /** Null while the org has no budget: then nobody looks further. */
  budgets: BudgetBook | null
  /** Null while the org has no provider: then nobody looks further. */
  quotas: QuotaBook | null
  /** Whoever picks does not know yet which providers there are. */
  quotasChanged: boolean
  /** Null while the org may make as many runs a day as it likes. */
  daily: CountedDay | null
  /** What waiting runs set aside is not what whoever picks was told. */
  reservesChanged: boolean
  /** The longest time limit of an attempt; null: the org has none. */
  maxTimeoutSeconds: number | null
  settings: EngineSettings
  /** The moment of the present turn, by the database's clock. */
  now: Instant
  /** The number the present turn will have in the org's history; places in sessions follow from it. */
  turnNo: number
  /** Places given in the present turn. */
  placesGiven: number
  /** Most runs that one command, one lost node or the passing of time changes in one turn; the rest follows in later ones. */
  maxChanges: number
  /** Sessions and schedules whose older waiting runs are being cancelled in pieces, by name. Nearly always empty. */
  readonly clearings: Clearings
  /** The server's clock was set back and not all waits have been moved yet, oldest step first. Nearly always empty. */
  clockSteps: readonly ClockStep[]
  changes: Changes
}

/** The runs of the org's present day, counted while it has a limit. */
export interface CountedDay {
  readonly limit: number
  readonly zone: Zone
  start: Instant
  end: Instant
  made: number
}

export interface AgentOnDesk {
  readonly id: AgentId
  /** Who can execute it: a node claims only what it can execute. */
  readonly executorKey: string
  readonly executorKind: string
  readonly retryPolicy: RetryPolicy | null
  readonly timeoutSeconds: number | null
  readonly maxConcurrent: number | null
  /** What it calls, if that has quotas. */
  readonly provider: ProviderName | null
  /** How many tokens a conversation with it can hold; left out: not known. */
  readonly contextWindow?: number
  /** Whether its attempts are given keys; left out: they are not. */
  readonly selfService?: true
}

/** What has to be written back. */
export interface Changes {
  readonly made: Set<RunRow>
  readonly changed: Set<RunRow>
  /** Runs that have ended and whose ending has not been sent to the server yet. Nothing happens to them any more. */
  ended: RunRow[]
  /** Held runs about which the policies have decided. Empty in nearly every turn. */
  readonly released: Set<RunRow>
  /** Changed runs whose payload changed too. */
  readonly merged: Set<RunRow>
  readonly newSessions: Set<SessionRow>
  readonly sessions: Set<SessionRow>
  readonly newSchedules: Set<ScheduleRow>
  readonly schedules: Set<ScheduleRow>
  readonly deletedSchedules: Set<ScheduleId>
  /** The ledger: which occurrences have been decided. */
  readonly occurrences: DecidedOccurrence[]
  /** Misfire ranges: decisions that made no run. */
  readonly ranges: RangeDecision[]
  /** Attempts that another one follows. */
  readonly attempts: EndedAttempt[]
  /** What budgets have used, by budget and period. */
  readonly spendings: Map<string, Spending>
  /** Budgets that stand still or go on, or whose alerts have changed. Empty in nearly every turn. */
  readonly budgets: Set<BookedBudget>
  /** Budgets that go with what they were for. Empty in nearly every turn. */
  readonly goneBudgets: Set<BudgetId>
  /** Providers of whose quotas something was used. Empty in nearly every turn. */
  readonly providers: Set<ProviderOnDesk>
  /** Results that are to be carried somewhere. Empty in nearly every turn. */
  readonly deliveries: NewDelivery[]
  /** Alerts that were raised or cleared. Empty in nearly every turn. */
  readonly alerts: AlertChange[]
  /** Tokens with which results may be reported. Empty in nearly every turn. */
  readonly callbacks: CallbackRow[]
  /** Attempts that were handed to workers. Empty in nearly every turn. */
  readonly assignments: WorkerAttemptRow[]
  /** Runs of heartbeats that have ended; their answers are judged before the turn is written. Nearly always empty. */
  readonly endedBeats: RunRow[]
  /** When agents want to be asked again, in their words. */
  readonly nextChecks: Map<RunId, unknown>
  /** What became of heartbeats, and what probes answered, for who counts. */
  readonly beatOutcomes: BeatOutcome[]
  readonly probeAnswers: ProbeAnswer[]
  /** What a run with a delivery said, uncut, until it ends in this turn. */
  readonly said: Map<RunId, unknown>
  /** What happened, in order, for everybody who watches. */
  readonly events: DeskEvent[]
  /** What somebody did, for the audit log. Empty in nearly every turn. */
  readonly audits: AuditEntry[]
  /** Clearings that began in this turn, and those that have nothing left to cancel. Empty in nearly every turn. */
  readonly clearings: Set<Clearing>
  readonly cleared: ClearingSubject[]
  /** What is left of steps of the clock. Empty in nearly every turn. */
  readonly clockSteps: ClockStep[]
  /** What was done for the key of a request, by the name of the key. */
  readonly bindings: Map<string, IdempotencyRow>
}

/** Ids and random numbers come from outside, so that a test can repeat them. */
export interface Chance {
  /** In [0, 1). Which run it is for lets whoever repeats it give each run its own. */
  readonly random: (run: RunRow) => number
  readonly newRunId: (kind: 'run' | 'task', now: Instant) => RunId
  readonly newAttemptId: (now: Instant) => AttemptId
  /** The trace of a run that nobody outside has asked for. Left out, or null: nobody listens. */
  readonly newTrace?: ((trigger: string) => string | null) | undefined
}

/** A desk with nothing on it. */
export function emptyDesk(orgId: OrgId, chance: Chance, settings: EngineSettings): Desk {
  return {
    orgId,
    chance,
    settings,
    runs: new WideMap(),
    bySession: new Map(),
    bySchedule: new Map(),
    sessions: new Map(),
    schedules: new Map(),
    agents: new Map(),
    queuedTasks: new Map(),
    allQueuedTasks: new Set(),
    ...{ budgets: null, quotas: null, quotasChanged: false, daily: null, maxTimeoutSeconds: null },
    ...{ reservesChanged: false, now: instant(0), turnNo: 0, placesGiven: 0, maxChanges: Infinity },
    ...{ clearings: new Map(), clockSteps: [] },
    changes: noChanges(),
  }
}

/** Made for every turn, so in one piece: put together from parts it takes twenty microseconds. */
export const noChanges = (): Changes => ({
  made: new Set(),
  changed: new Set(),
  ended: [],
  released: new Set(),
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
  endedBeats: [],
  nextChecks: new Map(),
  beatOutcomes: [],
  probeAnswers: [],
  said: new Map(),
  events: [],
  audits: [],
  clearings: new Set(),
  cleared: [],
  clockSteps: [],
  bindings: new Map(),
})

/** Puts a pending run where decisions find it. */
export function putRun(desk: Desk, run: RunRow): void {
  desk.runs.set(run.id, run)
  if (run.sessionKey !== null) addTo(desk.bySession, run.sessionKey, run)
  if (run.scheduleId !== null) addTo(desk.bySchedule, run.scheduleId, run)
  countTask(desk, run)
}

/** Takes a run away that has ended, or that somebody else has changed and is loaded again. */
export function takeRun(desk: Desk, run: RunRow): void {
  desk.runs.delete(run.id)
  if (run.sessionKey !== null) removeFrom(desk.bySession, run.sessionKey, run)
  if (run.scheduleId !== null) removeFrom(desk.bySchedule, run.scheduleId, run)
  if (run.trigger === 'task') uncountTask(desk, run)
}

/** Keeps the number of queued tasks right after the run has changed its state. */
export function countTask(desk: Desk, run: RunRow): void {
  if (run.trigger !== 'task') return
  if (run.state !== 'queued' && run.state !== 'waiting') {
    uncountTask(desk, run)
    return
  }
  addTo(desk.queuedTasks, run.agentId, run.id)
  desk.allQueuedTasks.add(run.id)
}

function uncountTask(desk: Desk, run: RunRow): void {
  removeFrom(desk.queuedTasks, run.agentId, run.id)
  desk.allQueuedTasks.delete(run.id)
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

/** How the session treats what is sent to it: its own rules, then the deployment's. */
export const rulesOf = (desk: Desk, session: SessionRow): SessionRules => ({
  ...desk.settings.sessions,
  ...session.own,
})

/** Whether the run is about to be cancelled with many others, and counts no more. */
const isCleared = ({ clearings }: Desk, run: RunRow): boolean => clearingOf(clearings, run) !== undefined

/** Pending runs of the session's present generation: what came before a reset has no more part in it. */
export function pendingInSession(desk: Desk, session: SessionRow): readonly RunRow[] {
  const found: RunRow[] = []
  for (const run of desk.bySession.get(session.key) ?? [])
    if (run.generation === session.generation && run.finishedAt === null && !isCleared(desk, run)) found.push(run)
  return found
}

/** Oldest first, without those that are superseded or held, and without what a backfill runs beside the schedule's work. */
export function pendingOfSchedule(desk: Desk, id: ScheduleId): readonly RunRow[] {
  const found: RunRow[] = []
  for (const run of desk.bySchedule.get(id) ?? [])
    if (!run.superseded && run.finishedAt === null && (run.slot !== null || !isBackfilled(run)))
      if (!isHeld(run) && !isCleared(desk, run)) found.push(run)
  return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}
