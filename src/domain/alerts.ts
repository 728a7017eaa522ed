import { formatInstant, later, SECOND_MS, type Instant } from './instant.ts'
import { because, type Why } from './reasons.ts'

/** Alerts about a schedule. */
export const SCHEDULE_ALERT_KINDS = ['failures_in_a_row', 'occurrence_missed', 'late'] as const
export type ScheduleAlertKind = (typeof SCHEDULE_ALERT_KINDS)[number]

/** Alerts about a budget. */
export const BUDGET_ALERT_KINDS = ['budget_low', 'budget_used_up', 'budget_no_room'] as const
export type BudgetAlertKind = (typeof BUDGET_ALERT_KINDS)[number]

/** Everything that alerts are about. */
export const ALERT_KINDS = [
  ...SCHEDULE_ALERT_KINDS,
  ...BUDGET_ALERT_KINDS,
  'engine_stalled',
  'delivery_disabled',
  'heartbeat_failing',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** What an alert is about, by what it is. */
export const ALERT_SUBJECTS = ['schedule', 'budget', 'node', 'target', 'agent'] as const
export type AlertSubject = (typeof ALERT_SUBJECTS)[number]

/** The open alerts of a schedule, with their ids. */
export type OpenAlerts = { readonly [Kind in ScheduleAlertKind]?: string }

/** What becomes of an alert: raised once, cleared by itself, otherwise left as it is. */
export type AlertDecision =
  | { readonly kind: 'raise'; readonly why: Why }
  | { readonly kind: 'clear'; readonly why: Why }
  | { readonly kind: 'none' }

/** Decides about the alert for failures in a row: raised once per streak, by a failure, and cleared by a success. */
export function decideFailureAlert(facts: {
  readonly streakBefore: number
  readonly streakAfter: number
  readonly alertAfter: number
  /** Whether this streak has raised its alert. */
  readonly raised: boolean
}): AlertDecision {
  const { streakBefore, streakAfter, alertAfter, raised } = facts
  const evidence = { streak: streakAfter, alert_after: alertAfter }
  const rule = 'alerts.failures_in_a_row'
  if (raised)
    return streakAfter === 0 ? { kind: 'clear', why: because('failure_streak_over', rule, evidence) } : { kind: 'none' }
  // Not `===`: a limit lowered in the middle of a streak speaks at the next failure instead of never.
  const hasJustFailed = streakAfter > streakBefore
  return hasJustFailed && streakAfter >= alertAfter
    ? { kind: 'raise', why: because('failure_streak', rule, evidence) }
    : { kind: 'none' }
}

/** A look that takes a second is no stall, however often the engine looks. */
const SHORTEST_PERIOD_MS = 1_000

/** The period that stalls are counted in. */
export const stallPeriodMs = (pollMs: number): number => Math.max(pollMs, SHORTEST_PERIOD_MS)

/** Decides about the alert for an engine that does not scan; whoever watches calls it with the newest scan it knows. */
export function decideStall(facts: {
  /** The newest scan, or the start of the engine while there was none. */
  readonly lastScanAt: Instant
  readonly now: Instant
  readonly periodMs: number
  readonly stallPeriods: number
  readonly raised: boolean
}): AlertDecision {
  const { lastScanAt, now, periodMs, stallPeriods, raised } = facts
  const isStalled = now >= later(lastScanAt, periodMs * stallPeriods)
  const evidence = { last_scan_at: formatInstant(lastScanAt), period_ms: periodMs, stall_periods: stallPeriods }
  if (isStalled === raised) return { kind: 'none' }
  const rule = 'alerts.stall_periods'
  return isStalled
    ? { kind: 'raise', why: because('engine_stalled', rule, evidence) }
    : { kind: 'clear', why: because('engine_scans', rule, evidence) }
}

/** Whether a run began later than its schedule allows; without a limit nothing is late. */
export const isLate = (nominal: Instant, startedAt: Instant, maxLatenessSeconds: number | null): boolean =>
  maxLatenessSeconds !== null && startedAt - nominal > maxLatenessSeconds * SECOND_MS

/**
 * Decides about the alert for runs that are late: raised when one starts, or still waits, beyond the limit, and cleared
 * when one starts in time. A run that still waits in time says nothing.
 */
export function decideLateAlert(facts: {
  readonly nominal: Instant
  /** When it started, or the present while it waits. */
  readonly at: Instant
  readonly hasStarted: boolean
  readonly maxLatenessSeconds: number | null
  readonly raised: boolean
}): AlertDecision {
  const { nominal, at, hasStarted, maxLatenessSeconds, raised } = facts
  const late = isLate(nominal, at, maxLatenessSeconds)
  const evidence = {
    ...{ nominal: formatInstant(nominal), late_seconds: Math.max(0, Math.round((at - nominal) / SECOND_MS)) },
    // Nothing is late without a limit, and what is not late needs none.
    max_lateness_seconds: maxLatenessSeconds ?? 0,
  }
  const rule = 'max_lateness_seconds'
  if (late) return raised ? { kind: 'none' } : { kind: 'raise', why: because('run_late', rule, evidence) }
  return raised && hasStarted ? { kind: 'clear', why: because('run_in_time', rule, evidence) } : { kind: 'none' }
}

/**
 * Decides about the alert for occurrences that were missed and that nothing makes up for: raised once, and cleared by the
 * next look at the schedule that misses nothing and makes a run in time.
 */
export function decideMissedAlert(facts: {
  /** Occurrences of this look that were skipped because their moment had passed. */
  readonly missed: number
  /** Null: none was missed. */
  readonly first: Instant | null
  /** Whether this look made a run in time. */
  readonly inTime: boolean
  readonly raised: boolean
}): AlertDecision {
  const { missed, first, inTime, raised } = facts
  const rule = 'misfire_policy'
  if (missed > 0 && first !== null) {
    const evidence = { missed, first: formatInstant(first) }
    return raised ? { kind: 'none' } : { kind: 'raise', why: because('occurrence_missed', rule, evidence) }
  }
  return raised && inTime ? { kind: 'clear', why: because('occurrence_in_time', rule) } : { kind: 'none' }
}

/** Heartbeats in a row that fail or have no route before there is an alert. */
const MAX_FAILING_HEARTBEATS = 3

/** Decides about the alert for an agent whose heartbeats come to nothing: cleared by the first that works. */
export function decideHeartbeatAlert(facts: {
  /** Heartbeats in a row that failed or had no route, this one included. */
  readonly streak: number
  readonly agent: string
  /** Why the newest of them did. */
  readonly problem: string
  readonly raised: boolean
}): AlertDecision {
  const { streak, agent, problem, raised } = facts
  const rule = 'alerts.heartbeat_failing'
  if (raised)
    return streak === 0 ? { kind: 'clear', why: because('heartbeat_works', rule, { agent }) } : { kind: 'none' }
  return streak >= MAX_FAILING_HEARTBEATS
    ? { kind: 'raise', why: because('heartbeat_failing', rule, { agent, streak, problem }) }
    : { kind: 'none' }
}
