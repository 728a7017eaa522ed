import { countEnded } from '../../core/run/ended-counts.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { countTasks, type FirstStart } from '../../core/run/task-counts.ts'
import { discriminatorOf } from '../../domain/schedule/occurrence-key.ts'
import { saveAlerts } from '../../service/alert-messages.ts'
import { insertAttempts } from '../../store/attempts.ts'
import { addUsage, deleteBudgets, saveBudgetStandings } from '../../features/budgets/store.ts'
import { insertCallbacks } from '../../store/callbacks.ts'
import { deleteClearings, saveClearings } from '../commands/cancel-waiting-store.ts'
import { saveClockStep } from '../../platform/db/clock.ts'
import type { Transaction } from '../../store/database.ts'
import { insertIdempotencies } from './idempotency-store.ts'
import { insertDecisions, insertOccurrences } from '../../features/schedules/occurrences-store.ts'
import { insertDeliveries } from '../../features/deliveries/outbox-store.ts'
import { saveQuotaStates } from '../../features/providers/store.ts'
import type { RunRow } from '../../store/run-row.ts'
import {
  areUsual,
  insertPending,
  insertRuns,
  insertSubmitted,
  savePayloads,
  savePending,
  saveReleases,
  startRuns,
} from '../../store/runs.ts'
import { endRuns } from '../../store/run-endings.ts'
import { deleteSchedules, insertSchedules, saveSchedules } from '../../store/schedules.ts'
import { insertSessions, saveSessions } from '../../store/sessions.ts'
import { insertTurn, type StoredEvent } from './history-store.ts'
import { insertWorkerAttempts } from '../../store/worker-attempts.ts'
import { standingOf } from '../../service/desk/budget-book.ts'
import type { Changes, Desk } from '../../service/desk/desk.ts'

/** Whether the turn has changed anything. */
export const isUnchanged = (changes: Changes): boolean =>
  changes.made.size === 0 &&
  changes.changed.size === 0 &&
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

/** Writes how known runs have ended, while the rest of the turn is decided. */
export function saveEndings(tx: Transaction, { orgId, changes }: Desk): void {
  const ended = changes.made.size === 0 ? changes.ended : changes.ended.filter((run) => !changes.made.has(run))
  changes.ended = []
  if (ended.length > 0) endRuns(tx, { orgId, arePending: true }, ended)
}

/** Who writes a turn, and how many runs had changed when the first was picked: those after them have only started. */
export interface Writing {
  readonly nodeId: string
  readonly changedBefore: number
}

/** Writes everything else a turn has changed, and the turn itself. Answers with the events as they were written. */
export function saveTurn(tx: Transaction, desk: Desk, by: Writing): readonly StoredEvent[] {
  const { orgId, changes } = desk
  const events = storedEvents(desk)
  const turn = { no: desk.turnNo, at: desk.now, nodeId: by.nodeId, events }
  if (onlyAdmits(changes)) {
    saveModel(tx, desk)
    insertSubmitted(tx, orgId, { runs: [...changes.made], turn })
  } else {
    saveRuns(tx, desk, by.changedBefore)
    saveModel(tx, desk)
    const runs = runsOf(changes)
    insertTurn(tx, orgId, { ...turn, ended: countEnded(runs), tasks: countTasks(runs, firstStarts(desk)) })
  }
  if (changes.bindings.size > 0) insertIdempotencies(tx, [...changes.bindings.values()])
  return events
}

/** Of tasks that are tried again, the first start: it is counted now, because their next one takes its place. */
function firstStarts({ changes, runs }: Desk): readonly FirstStart[] {
  if (changes.attempts.length === 0) return []
  return changes.attempts.flatMap(({ runId, number, startedAt }) => {
    const task = runs.get(runId)
    return task?.trigger === 'task' && number === task.firstAttempt ? [{ task, startedAt }] : []
  })
}

/** Every run that the turn has made or changed, once: one that was made and has ended is in both lists. */
function runsOf({ made, changed }: Changes): readonly RunRow[] {
  const runs = [...made]
  for (const run of changed) if (!made.has(run)) runs.push(run)
  return runs
}

/** Nothing happened to runs but that new ones of the usual kind were let in, and perhaps started. */
function onlyAdmits(changes: Changes): boolean {
  if (changes.made.size === 0 || changes.merged.size > 0 || changes.attempts.length > 0) return false
  for (const run of changes.changed) if (!changes.made.has(run)) return false
  const made = [...changes.made]
  return made.every((run) => !isTerminal(run.state)) && areUsual(made)
}

function saveRuns(tx: Transaction, desk: Desk, changedBefore: number): void {
  const { orgId, changes } = desk
  const made = [...changes.made]
  const begun: RunRow[] = []
  const ended: RunRow[] = []
  const kept: RunRow[] = []
  for (const run of made) (isTerminal(run.state) ? ended : begun).push(run)
  const begin: RunRow[] = []
  let place = 0
  for (const run of changes.changed) {
    place += 1
    if (isTerminal(run.state) || changes.made.has(run)) continue
    // What a run sets aside when it starts is written with the rest of it; what a worker takes has not started yet.
    const onlyStarts = place > changedBefore && run.reserves.length === 0 && run.state === 'running'
    if (onlyStarts) begin.push(run)
    else kept.push(run)
  }
  const merged = [...changes.merged].filter((run) => !changes.made.has(run))
  if (made.length > 0) insertRuns(tx, orgId, made)
  if (begun.length > 0) insertPending(tx, orgId, begun)
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

function saveModel(tx: Transaction, desk: Desk): void {
  const { orgId, changes } = desk
  const schedules = [...changes.schedules].filter((row) => !changes.deletedSchedules.has(row.id))
  const sessions = [...changes.sessions].filter((row) => !changes.newSessions.has(row))
  if (changes.newSessions.size > 0) insertSessions(tx, [...changes.newSessions])
  if (sessions.length > 0) saveSessions(tx, sessions)
  if (changes.newSchedules.size > 0) insertSchedules(tx, [...changes.newSchedules])
  if (schedules.length > 0) saveSchedules(tx, schedules)
  if (changes.deletedSchedules.size > 0) deleteSchedules(tx, { orgId, ids: [...changes.deletedSchedules] })
  if (changes.occurrences.length > 0)
    insertOccurrences(
      tx,
      changes.occurrences.map(({ key, runId }) => {
        const { scheduleId, nominal, kind } = key
        return { orgId, scheduleId, nominal, kind, discriminator: discriminatorOf(key), runId }
      }),
    )
  if (changes.spendings.size > 0) addUsage(tx, orgId, [...changes.spendings.values()])
  if (changes.budgets.size > 0) saveBudgetStandings(tx, orgId, [...changes.budgets].map(standingOf))
  if (changes.goneBudgets.size > 0) deleteBudgets(tx, { orgId, ids: [...changes.goneBudgets] })
  if (changes.providers.size > 0) saveQuotaStates(tx, orgId, [...changes.providers])
  if (changes.deliveries.length > 0) insertDeliveries(tx, orgId, { deliveries: changes.deliveries, now: desk.now })
  if (changes.alerts.length > 0) saveAlerts(tx, orgId, { changes: changes.alerts, now: desk.now })
  if (changes.callbacks.length > 0) insertCallbacks(tx, changes.callbacks)
  if (changes.cleared.length > 0) deleteClearings(tx, orgId, changes.cleared)
  if (changes.clearings.size > 0) saveClearings(tx, orgId, [...changes.clearings])
  for (const step of changes.clockSteps) saveClockStep(tx, orgId, step)
  if (changes.assignments.length > 0) insertWorkerAttempts(tx, changes.assignments)
  if (changes.ranges.length > 0)
    insertDecisions(
      tx,
      changes.ranges.map((range) => ({ orgId, ...range, decidedAt: desk.now })),
    )
}

/** Everything that changed is named once, so that other nodes know what to read again. */
function storedEvents({ changes, turnNo, orgId }: Desk): readonly StoredEvent[] {
  const events = changes.events.map(({ kind, subject, data }): StoredEvent => [kind, subject, data])
  for (const run of changes.changed) if (run.toldIn !== turnNo) events.push(['run.touched', run.id, {}])
  const named = new Set<string>()
  for (const { kind, subject } of changes.events)
    if (!kind.startsWith('run.')) named.add(`${subjectOf(kind)} ${subject}`)
  const touch = (kind: string, subject: string): void => {
    const name = `${subjectOf(kind)} ${subject}`
    if (named.has(name)) return
    named.add(name)
    events.push([kind, subject, {}])
  }
  for (const session of changes.newSessions) touch('session.changed', session.key)
  for (const session of changes.sessions) touch('session.changed', session.key)
  for (const schedule of changes.schedules) touch('schedule.touched', schedule.id)
  // What is to be cancelled or moved in pieces is read again with the limits of the org.
  if (changes.clearings.size + changes.cleared.length + changes.clockSteps.length > 0)
    events.push(['org.touched', orgId, {}])
  for (const id of changes.deletedSchedules) events.push(['schedule.changed', id, { deleted: true }])
  return events
}

/** Readers go by what an event is about, so an agent and a session of the same name are two subjects. */
const subjectOf = (kind: string): string => kind.slice(0, kind.indexOf('.'))
