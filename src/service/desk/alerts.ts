import {
  decideFailureAlert,
  decideLateAlert,
  decideMissedAlert,
  type AlertDecision,
  type OpenAlerts,
  type ScheduleAlertKind,
} from '../../domain/alerts.ts'
import { isBackfilled } from '../../core/backfill/backfill.ts'
import { because, type Why } from '../../domain/reasons.ts'
import type { OccurrencePlan } from '../../domain/schedule/occurrences.ts'
import type { AlertChange } from '../../features/alerts/store.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { Desk } from './desk.ts'

type Told = Omit<AlertChange, 'change'>

/** Raises an alert: it is put on record, told to whoever watches, and sent to the targets of alerts, with the turn. */
export const raiseAlert = (desk: Desk, alert: Told): void => {
  note(desk, { ...alert, change: 'raised' })
}

/** Ends an alert, in the same ways. */
export const endAlert = (desk: Desk, alert: Told): void => {
  note(desk, { ...alert, change: 'cleared' })
}

function note(desk: Desk, change: AlertChange): void {
  desk.changes.alerts.push(change)
  tellAlert(desk, change)
}

/** Tells whoever watches of an alert that is on record. */
export function tellAlert(desk: Desk, change: Omit<AlertChange, 'why' | 'about'>): void {
  const { id, kind, subjectKind, subjectId } = change
  const data = { kind, subject_kind: subjectKind, subject_id: subjectId }
  desk.changes.events.push({ kind: change.change === 'raised' ? 'alert.raised' : 'alert.cleared', subject: id, data })
}

/** A run of the schedule has ended, and its streak is about to be this long. */
export function judgeFailures(desk: Desk, row: ScheduleRow, streakAfter: number): void {
  const alertAfter = row.rules.alertAfter ?? desk.settings.alerts.failuresInARow
  const raised = isOpen(row, 'failures_in_a_row')
  follow(desk, row, {
    kind: 'failures_in_a_row',
    decision: decideFailureAlert({ streakBefore: row.failureStreak, streakAfter, alertAfter, raised }),
  })
}

/** Whether a plan passes over occurrences because their moment was missed. */
export const isMisfire = ({ decisions, skippedRange }: OccurrencePlan): boolean =>
  skippedRange !== null || decisions.some(isMissed)

const isMissed = (decision: OccurrencePlan['decisions'][number]): boolean =>
  decision.kind === 'skip' && decision.why.reason === 'misfire'

/** The due occurrences of a schedule have been decided. */
export function judgeMissed(desk: Desk, row: ScheduleRow, { decisions, skippedRange }: OccurrencePlan): void {
  const missed = decisions.filter(isMissed)
  const decision = decideMissedAlert({
    missed: missed.length + (skippedRange?.count ?? 0),
    first: skippedRange?.first ?? missed[0]?.nominal ?? null,
    inTime: decisions.some((one) => one.kind !== 'skip' && one.trigger === 'schedule'),
    raised: isOpen(row, 'occurrence_missed'),
  })
  follow(desk, row, { kind: 'occurrence_missed', decision })
}

/** A run has started. Only its first attempt says whether it is late. */
export function judgeStart(desk: Desk, run: RunRow): void {
  const row = run.scheduleId === null ? undefined : desk.schedules.get(run.scheduleId)
  if (row === undefined || run.attempt !== run.firstAttempt || isBackfilled(run)) return
  if ((row.rules.maxLatenessSeconds ?? null) === null && row.alerts === null) return
  judgeLateness(desk, row, { run, hasStarted: true })
}

/** A run of the schedule has started or still waits. */
export function judgeLateness(
  desk: Desk,
  row: ScheduleRow,
  { run, hasStarted }: { readonly run: RunRow; readonly hasStarted: boolean },
): void {
  if (run.nominal === null) return
  const maxLatenessSeconds = row.rules.maxLatenessSeconds ?? null
  const raised = isOpen(row, 'late')
  const decision = decideLateAlert({ nominal: run.nominal, at: desk.now, hasStarted, maxLatenessSeconds, raised })
  follow(desk, row, { kind: 'late', decision })
}

const isOpen = ({ alerts }: ScheduleRow, kind: ScheduleAlertKind): boolean => alerts?.[kind] !== undefined

interface Following {
  readonly kind: ScheduleAlertKind
  readonly decision: AlertDecision
}

function follow(desk: Desk, row: ScheduleRow, { kind, decision }: Following): void {
  if (decision.kind === 'none') return
  const about = { kind, subjectKind: 'schedule', subjectId: row.id, about: row.name, why: decision.why } as const
  desk.changes.schedules.add(row)
  if (decision.kind === 'raise') {
    const id = alertIdOf(desk, row)
    row.alerts = { ...row.alerts, [kind]: id }
    raiseAlert(desk, { id, ...about })
    return
  }
  const id = row.alerts?.[kind]
  row.alerts = without(row.alerts, kind)
  if (id !== undefined) endAlert(desk, { id, ...about })
}

function without(alerts: OpenAlerts | null, kind: ScheduleAlertKind): OpenAlerts | null {
  const left = Object.entries(alerts ?? {}).filter(([name]) => name !== kind)
  return left.length === 0 ? null : Object.fromEntries(left)
}

/** No two turns of an org have the same number; in one, several may be raised, also of the same schedule. */
const alertIdOf = ({ turnNo, changes }: Desk, { id }: ScheduleRow): string =>
  `alr_${id.replace(/^sch_/, '')}_${turnNo}_${changes.alerts.length}`

/** A schedule goes, and with it what there was to look at. */
export function forgetAlerts(desk: Desk, row: ScheduleRow): void {
  if (row.alerts === null) return
  const why: Why = because('schedule_gone', 'schedule.delete', { schedule: row.name })
  for (const [kind, id] of Object.entries(row.alerts))
    endAlert(desk, {
      ...{ id, kind: kind as ScheduleAlertKind, subjectKind: 'schedule', subjectId: row.id, about: row.name, why },
    })
  row.alerts = null
}
