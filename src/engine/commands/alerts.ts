import {
  decideUnservedAlert,
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
import { agentId, type AgentId, type OrgId } from '../../domain/ids.ts'
import { instant, type Instant } from '../../domain/instant.ts'
import { type AlertChange, type AlertRow, loadOpenAlerts } from '../../features/alerts/store.ts'
import type { Command } from '../commands-port.ts'
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

/** Whether something connected can execute an agent with this executor. */
export type IsServed = (agent: AgentId, executorKey: string) => boolean

/** The queued runs that nothing can execute, by agent: their number, and since when the first of them waits. */
export function unservedRuns(
  { runs, agents }: Pick<OrgState, 'runs' | 'agents'>,
  isServed: IsServed,
): ReadonlyMap<AgentId, { readonly waiting: number; readonly since: Instant }> {
  const unserved = new Set<AgentId>()
  for (const { id, executorKey } of agents.values()) if (!isServed(id, executorKey)) unserved.add(id)
  const found = new Map<AgentId, { waiting: number; since: Instant }>()
  if (unserved.size === 0) return found
  for (const run of runs.values()) {
    if (run.state !== 'queued' || !unserved.has(run.agentId)) continue
    const since = instant(Math.max(run.createdAt, run.notBefore ?? 0, run.startedAt ?? 0))
    const known = found.get(run.agentId)
    if (known === undefined) found.set(run.agentId, { waiting: 1, since })
    else {
      known.waiting += 1
      if (since < known.since) known.since = since
    }
  }
  return found
}

/** Raises and clears the alerts about runs that nothing can execute. */
export const unservedCommand = (orgId: OrgId, isServed: IsServed): Command<void> => ({
  orgId,
  prepare: (tx) => loadOpenAlerts(tx, { orgId, kind: 'runs_unserved' }),
  apply: (state, prepared) => {
    const open = new Map((prepared as readonly AlertRow[]).map(({ subjectId, id }) => [agentId(subjectId), id]))
    const unserved = unservedRuns(state, isServed)
    for (const agent of new Set([...unserved.keys(), ...open.keys()])) {
      const { waiting, since } = unserved.get(agent) ?? { waiting: 0, since: null }
      const known = open.get(agent)
      const facts = { agent, waiting, since, now: state.now, raised: known !== undefined }
      const decision = decideUnservedAlert(facts)
      if (decision.kind === 'none') continue
      const id = known ?? `alr_${state.transactionNo}_unserved_${agent}`
      const subject = { kind: 'runs_unserved', subjectKind: 'agent', subjectId: agent, about: agent } as const
      if (decision.kind === 'raise') raiseAlert(state, { id, ...subject, why: decision.why })
      else endAlert(state, { id, ...subject, why: decision.why })
    }
  },
})
