import {
  decideFailureAlert,
  decideLateAlert,
  decideMissedAlert,
  type AlertDecision,
  type OpenAlerts,
  type ScheduleAlertKind,
} from '../../domain/alerts.ts'
import { isBackfilled } from '../../domain/schedule/backfill.ts'
import { because, type Why } from '../../domain/reasons.ts'
import type { OccurrencePlan } from '../../domain/schedule/occurrences.ts'
import type { AlertChange } from '../../features/alerts/store.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { ScheduleRow } from '../../features/schedules/store.ts'
import type { OrgState } from '../org-state/org-state.ts'

type AlertFields = Omit<AlertChange, 'change'>

/** Raises an alert: it is recorded, published and sent to the alert targets with the transaction. */
export const raiseAlert = (state: OrgState, alert: AlertFields): void => {
  recordAlert(state, { ...alert, change: 'raised' })
}

/** Ends an alert, in the same ways. */
export const endAlert = (state: OrgState, alert: AlertFields): void => {
  recordAlert(state, { ...alert, change: 'cleared' })
}

function recordAlert(state: OrgState, change: AlertChange): void {
  state.changes.alerts.push(change)
  publishAlert(state, change)
}

/** Publishes the event of a recorded alert. */
export function publishAlert(state: OrgState, change: Omit<AlertChange, 'why' | 'about'>): void {
  const { id, kind, subjectKind, subjectId } = change
  const data = { kind, subject_kind: subjectKind, subject_id: subjectId }
  state.changes.events.push({ kind: change.change === 'raised' ? 'alert.raised' : 'alert.cleared', subject: id, data })
}

/** Evaluates the failure alert when a run of the schedule has ended; `streakAfter` is the streak including it. */
export function checkFailures(state: OrgState, row: ScheduleRow, streakAfter: number): void {
  const alertAfter = row.rules.alertAfter ?? state.settings.alerts.failuresInARow
  const raised = isAlertOpen(row, 'failures_in_a_row')
  applyScheduleAlert(state, row, {
    kind: 'failures_in_a_row',
    decision: decideFailureAlert({ streakBefore: row.failureStreak, streakAfter, alertAfter, raised }),
  })
}

/** Whether a plan skips occurrences because they were missed. */
export const isMisfire = ({ decisions, skippedRange }: OccurrencePlan): boolean =>
  skippedRange !== null || decisions.some(isMissed)

const isMissed = (decision: OccurrencePlan['decisions'][number]): boolean =>
  decision.kind === 'skip' && decision.why.reason === 'misfire'

/** Evaluates the alert about missed occurrences once due ones have been decided. */
export function checkMissed(state: OrgState, row: ScheduleRow, { decisions, skippedRange }: OccurrencePlan): void {
  const missed = decisions.filter(isMissed)
  const decision = decideMissedAlert({
    missed: missed.length + (skippedRange?.count ?? 0),
    first: skippedRange?.first ?? missed[0]?.nominal ?? null,
    inTime: decisions.some((one) => one.kind !== 'skip' && one.trigger === 'schedule'),
    raised: isAlertOpen(row, 'occurrence_missed'),
  })
  applyScheduleAlert(state, row, { kind: 'occurrence_missed', decision })
}

/** Evaluates the lateness alert when a run starts. Only its first attempt counts. */
export function checkStart(state: OrgState, run: RunRow): void {
  const row = run.scheduleId === null ? undefined : state.schedules.get(run.scheduleId)
  if (row === undefined || run.attempt !== run.firstAttempt || isBackfilled(run)) return
  if ((row.rules.maxLatenessSeconds ?? null) === null && row.alerts === null) return
  checkLateness(state, row, { run, hasStarted: true })
}

/** Evaluates the lateness alert for a run that has started or still waits. */
export function checkLateness(
  state: OrgState,
  row: ScheduleRow,
  { run, hasStarted }: { readonly run: RunRow; readonly hasStarted: boolean },
): void {
  if (run.nominal === null) return
  const maxLatenessSeconds = row.rules.maxLatenessSeconds ?? null
  const raised = isAlertOpen(row, 'late')
  const decision = decideLateAlert({ nominal: run.nominal, at: state.now, hasStarted, maxLatenessSeconds, raised })
  applyScheduleAlert(state, row, { kind: 'late', decision })
}

const isAlertOpen = ({ alerts }: ScheduleRow, kind: ScheduleAlertKind): boolean => alerts?.[kind] !== undefined

interface ScheduleAlertDecision {
  readonly kind: ScheduleAlertKind
  readonly decision: AlertDecision
}

function applyScheduleAlert(state: OrgState, row: ScheduleRow, { kind, decision }: ScheduleAlertDecision): void {
  if (decision.kind === 'none') return
  const about = { kind, subjectKind: 'schedule', subjectId: row.id, about: row.name, why: decision.why } as const
  state.changes.schedules.add(row)
  if (decision.kind === 'raise') {
    const id = scheduleAlertId(state, row)
    row.alerts = { ...row.alerts, [kind]: id }
    raiseAlert(state, { id, ...about })
    return
  }
  const id = row.alerts?.[kind]
  row.alerts = withoutKind(row.alerts, kind)
  if (id !== undefined) endAlert(state, { id, ...about })
}

function withoutKind(alerts: OpenAlerts | null, kind: ScheduleAlertKind): OpenAlerts | null {
  const left = Object.entries(alerts ?? {}).filter(([name]) => name !== kind)
  return left.length === 0 ? null : Object.fromEntries(left)
}

/**
 * Transaction numbers are unique within an org; one transaction may raise several alerts, also of the same schedule.
 */
const scheduleAlertId = ({ transactionNo: turnNo, changes }: OrgState, { id }: ScheduleRow): string =>
  `alr_${id.replace(/^sch_/, '')}_${turnNo}_${changes.alerts.length}`

/** Ends the alerts of a deleted schedule. */
export function endScheduleAlerts(state: OrgState, row: ScheduleRow): void {
  if (row.alerts === null) return
  const why: Why = because('schedule_gone', 'schedule.delete', { schedule: row.name })
  for (const [kind, id] of Object.entries(row.alerts))
    endAlert(state, {
      ...{ id, kind: kind as ScheduleAlertKind, subjectKind: 'schedule', subjectId: row.id, about: row.name, why },
    })
  row.alerts = null
}
