import { countEndedRuns, countForTimeline, countTasks, type FirstStart } from '../../domain/run/ended-counts.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { Instant } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'
import { discriminatorOf } from '../../domain/schedule/occurrence-key.ts'
import { saveAlerts } from '../../features/alerts/service.ts'
import { insertAttempts, insertCallbacks } from '../../features/runs/attempts-store.ts'
import { addUsage, deleteBudgets, saveBudgetStates } from '../../features/budgets/store.ts'
import { deleteClearings, saveClearings } from '../commands/cancel-waiting-store.ts'
import { saveClockStep } from '../../platform/db/clock.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { insertIdempotencies } from './idempotency-store.ts'
import { insertDecisions, insertOccurrences } from '../../features/schedules/occurrences-store.ts'
import { insertDeliveries } from '../../features/deliveries/outbox-store.ts'
import { saveQuotaStates } from '../../features/providers/store.ts'
import {
  areUsual,
  insertPending,
  insertRuns,
  insertSubmitted,
  type RunRow,
  savePayloads,
  savePending,
  saveReleases,
  startRuns,
} from '../../features/runs/store.ts'
import { endRuns } from '../../features/runs/record-store.ts'
import { deleteScheduleRows, insertSchedules, saveSchedules } from '../../features/schedules/store.ts'
import { insertSessions, saveSessions } from '../../features/sessions/store.ts'
import { insertTransaction, type StoredEvent } from './history-store.ts'
import { insertWorkerAttempts } from '../../features/workers/store.ts'
import { insertBacklog, saveBacklogLines } from '../org-state/backlog-store.ts'
import { storedBudgetState } from '../org-state/budget-usage.ts'
import type { Changes, OrgState } from '../org-state/org-state.ts'

/** Whether the transaction has changed nothing. */
export const isUnchanged = (changes: Changes): boolean =>
  changes.created.size === 0 &&
  changes.changed.size === 0 &&
  changes.promoted.size === 0 &&
  changes.newSessions.size === 0 &&
  changes.sessions.size === 0 &&
  changes.newSchedules.size === 0 &&
  changes.schedules.size === 0 &&
  changes.deletedSchedules.size === 0 &&
  changes.events.length === 0 &&
  changes.audits.length === 0 &&
  changes.callbacks.length === 0 &&
  changes.clearings.size === 0 &&
  changes.cleared.length === 0 &&
  changes.clockSteps.length === 0 &&
  changes.bindings.size === 0

/** Writes the endings of existing runs while the rest of the transaction is decided. */
export function saveEndings(tx: Transaction, { orgId, changes }: OrgState): void {
  const { created, promoted } = changes
  const ended = created.size === 0 ? changes.ended : changes.ended.filter((run) => !created.has(run))
  changes.ended = []
  const pending = promoted.size === 0 ? ended : ended.filter((run) => !promoted.has(run))
  if (pending.length > 0) endRuns(tx, { orgId, arePending: true }, pending)
  // They have left the backlog and were never written as pending.
  if (pending.length < ended.length)
    endRuns(
      tx,
      { orgId, arePending: false },
      ended.filter((run) => promoted.has(run)),
    )
}

/** New runs per statement, so that each statement is worth its round trip. */
const NEW_RUNS_AT_ONCE = 256

/**
 * Writes the part of new runs that does not change, once there are many, while the rest of the transaction is decided.
 * It takes the server most of the time of a submission.
 */
export function saveNewRuns(tx: Transaction, { orgId, changes }: OrgState): void {
  const { created, inserted } = changes
  if (created.size - inserted.size < NEW_RUNS_AT_ONCE) return
  const runs = notInserted(changes)
  insertRuns(tx, orgId, runs)
  for (const run of runs) inserted.add(run)
}

const notInserted = ({ created, inserted }: Changes): readonly RunRow[] =>
  inserted.size === 0 ? [...created] : [...created].filter((run) => !inserted.has(run))

/** The writing node, and how many runs had changed before the first was picked: later ones have only started. */
export interface TransactionWriter {
  readonly nodeId: string
  readonly changedBefore: number
}

/** Writes all other changes of a transaction, and its history row. Returns the events as they were written. */
export function saveTransaction(tx: Transaction, state: OrgState, by: TransactionWriter): readonly StoredEvent[] {
  const { orgId, changes } = state
  const events = storedEvents(state)
  const historyRow = { no: state.transactionNo, at: state.now, nodeId: by.nodeId, events }
  if (onlyAdmits(changes)) {
    saveModel(tx, state)
    insertSubmitted(tx, orgId, { runs: [...changes.created], turn: historyRow })
  } else {
    saveRuns(tx, state, by.changedBefore)
    saveModel(tx, state)
    const runs = createdOrChangedRuns(changes)
    insertTransaction(tx, orgId, {
      ...historyRow,
      ended: countEndedRuns(runs),
      tasks: countTasks(runs, firstStarts(state)),
      timeline: countForTimeline(runs),
    })
  }
  if (changes.bindings.size > 0) insertIdempotencies(tx, [...changes.bindings.values()])
  return events
}

/** The first start of retried tasks is counted now, because the next start replaces it. */
function firstStarts({ changes, runs }: OrgState): readonly FirstStart[] {
  if (changes.attempts.length === 0) return []
  return changes.attempts.flatMap(({ runId, number, startedAt }) => {
    const task = runs.get(runId)
    return task?.trigger === 'task' && number === task.firstAttempt ? [{ task, startedAt }] : []
  })
}

/** Every created or changed run, once: one that was created and has ended is in both lists. */
function createdOrChangedRuns({ created, changed }: Changes): readonly RunRow[] {
  const runs = [...created]
  for (const run of changed) if (!created.has(run)) runs.push(run)
  return runs
}

/** Whether the only changes of runs are new ones of the usual kind, which may have started. */
function onlyAdmits(changes: Changes): boolean {
  if (changes.created.size === 0 || changes.inserted.size > 0 || changes.merged.size > 0 || changes.attempts.length > 0)
    return false
  if (changes.promoted.size > 0 || changes.backlogged.size > 0) return false
  for (const run of changes.changed) if (!changes.created.has(run)) return false
  const created = [...changes.created]
  return created.every((run) => !isTerminal(run.state)) && areUsual(created)
}

function saveRuns(tx: Transaction, state: OrgState, changedBefore: number): void {
  const { orgId, changes } = state
  const created = [...changes.created]
  const begun: RunRow[] = []
  const ended: RunRow[] = []
  const kept: RunRow[] = []
  for (const run of created)
    if (isTerminal(run.state)) ended.push(run)
    else if (!changes.backlogged.has(run)) begun.push(run)
  for (const run of changes.promoted) if (!isTerminal(run.state)) begun.push(run)
  const begin: RunRow[] = []
  let position = 0
  for (const run of changes.changed) {
    position += 1
    if (isTerminal(run.state) || changes.created.has(run) || changes.promoted.has(run)) continue
    // Reserves are fixed at the start and written with the rest of the run; an assigned run has not started yet.
    const onlyStarts = position > changedBefore && run.reserves.length === 0 && run.state === 'running'
    if (onlyStarts) begin.push(run)
    else kept.push(run)
  }
  const merged = [...changes.merged].filter((run) => !changes.created.has(run) || changes.inserted.has(run))
  const uninserted = notInserted(changes)
  if (uninserted.length > 0) insertRuns(tx, orgId, uninserted)
  if (begun.length > 0) insertPending(tx, orgId, begun)
  if (changes.backlogged.size > 0)
    insertBacklog(
      tx,
      orgId,
      [...changes.backlogged].map(([run, behind]) => ({ run, behind })),
    )
  if (changes.lines.size > 0) saveBacklogLines(tx, orgId, [...changes.lines])
  if (ended.length > 0) endRuns(tx, { orgId, arePending: false }, ended)
  if (kept.length > 0) savePending(tx, orgId, kept)
  if (begin.length > 0) startRuns(tx, orgId, begin)
  if (merged.length > 0) savePayloads(tx, orgId, merged)
  if (changes.released.size > 0) saveReleases(tx, orgId, [...changes.released])
  if (changes.attempts.length > 0)
    insertAttempts(
      tx,
      changes.attempts.map((attempt) => ({ orgId, ...attempt })),
    )
}

function saveModel(tx: Transaction, state: OrgState): void {
  const { orgId, changes } = state
  const schedules = [...changes.schedules].filter((row) => !changes.deletedSchedules.has(row.id))
  const sessions = [...changes.sessions].filter((row) => !changes.newSessions.has(row))
  if (changes.newSessions.size > 0) insertSessions(tx, [...changes.newSessions])
  if (sessions.length > 0) saveSessions(tx, sessions)
  if (changes.newSchedules.size > 0) insertSchedules(tx, [...changes.newSchedules])
  if (schedules.length > 0) saveSchedules(tx, schedules)
  if (changes.deletedSchedules.size > 0) deleteScheduleRows(tx, { orgId, ids: [...changes.deletedSchedules] })
  if (changes.occurrences.length > 0)
    insertOccurrences(
      tx,
      changes.occurrences.map(({ key, runId }) => {
        const { scheduleId, nominal, kind } = key
        return { orgId, scheduleId, nominal, kind, discriminator: discriminatorOf(key), runId }
      }),
    )
  if (changes.spendings.size > 0) addUsage(tx, orgId, [...changes.spendings.values()])
  if (changes.budgets.size > 0) saveBudgetStates(tx, orgId, [...changes.budgets].map(storedBudgetState))
  if (changes.goneBudgets.size > 0) deleteBudgets(tx, { orgId, ids: [...changes.goneBudgets] })
  if (changes.providers.size > 0) saveQuotaStates(tx, orgId, [...changes.providers])
  if (changes.deliveries.length > 0) insertDeliveries(tx, orgId, { deliveries: changes.deliveries, now: state.now })
  if (changes.alerts.length > 0) saveAlerts(tx, orgId, { changes: changes.alerts, now: state.now })
  if (changes.callbacks.length > 0) insertCallbacks(tx, changes.callbacks)
  if (changes.cleared.length > 0) deleteClearings(tx, orgId, changes.cleared)
  if (changes.clearings.size > 0) saveClearings(tx, orgId, [...changes.clearings])
  for (const step of changes.clockSteps) saveClockStep(tx, orgId, step)
  if (changes.assignments.length > 0) insertWorkerAttempts(tx, changes.assignments)
  if (changes.ranges.length > 0)
    insertDecisions(
      tx,
      changes.ranges.map((range) => ({ orgId, ...range, decidedAt: state.now })),
    )
}

/** Every change needs an event, so that other nodes know what to read again. */
function storedEvents({ changes, transactionNo: turnNo, orgId }: OrgState): readonly StoredEvent[] {
  const events = changes.events.map(({ kind, subject, data }): StoredEvent => [kind, subject, data])
  for (const runs of [changes.changed, changes.promoted])
    for (const run of runs) {
      if (run.lastEventIn === turnNo) continue
      run.lastEventIn = turnNo
      events.push(['run.touched', run.id, {}])
    }
  const named = new Set<string>()
  for (const { kind, subject } of changes.events)
    if (!kind.startsWith('run.')) named.add(`${subjectKindOf(kind)} ${subject}`)
  const touch = (kind: string, subject: string): void => {
    const name = `${subjectKindOf(kind)} ${subject}`
    if (named.has(name)) return
    named.add(name)
    events.push([kind, subject, {}])
  }
  for (const session of changes.newSessions) touch('session.changed', session.key)
  for (const session of changes.sessions) touch('session.changed', session.key)
  for (const schedule of changes.schedules) touch('schedule.touched', schedule.id)
  // Clearings and clock steps are read again together with the limits of the org.
  if (changes.clearings.size + changes.cleared.length + changes.clockSteps.length > 0)
    events.push(['org.touched', orgId, {}])
  if (changes.lines.size > 0) addAll(events, backlogEvents(changes))
  for (const id of changes.deletedSchedules) events.push(['schedule.changed', id, { deleted: true }])
  return events
}

/** Names the agents whose lines have changed, and the earliest deadline of what went into the backlog. */
function backlogEvents({ lines, backlogged }: Changes): readonly StoredEvent[] {
  let wakesAt: Instant | null = null
  for (const { deadline } of backlogged.keys())
    if (deadline !== null && (wakesAt === null || deadline < wakesAt)) wakesAt = deadline
  const agents = new Set([...lines].map(({ agentId }) => agentId))
  return [...agents].map((id): StoredEvent => ['backlog.touched', id, wakesAt === null ? {} : { wakes_at: wakesAt }])
}

/** Readers dispatch on the kind of subject, so an agent and a session of the same name are two subjects. */
const subjectKindOf = (kind: string): string => kind.slice(0, kind.indexOf('.'))
