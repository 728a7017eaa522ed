import { formatInstant, later, MINUTE_MS, SECOND_MS, type Instant } from './instant.ts'
import { because, type Why } from './reasons.ts'

/** Alerts about a schedule. */
export const SCHEDULE_ALERT_KINDS = ['failures_in_a_row', 'occurrence_missed', 'late'] as const
export type ScheduleAlertKind = (typeof SCHEDULE_ALERT_KINDS)[number]

/** Alerts about a budget. */
export const BUDGET_ALERT_KINDS = ['budget_low', 'budget_used_up', 'budget_no_room'] as const
export type BudgetAlertKind = (typeof BUDGET_ALERT_KINDS)[number]

/** All kinds of alerts. */
export const ALERT_KINDS = [
  ...SCHEDULE_ALERT_KINDS,
  ...BUDGET_ALERT_KINDS,
  'engine_stalled',
  'delivery_disabled',
  'heartbeat_failing',
  'runs_unserved',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** The kinds of resources that alerts are about. */
export const ALERT_SUBJECTS = ['schedule', 'budget', 'node', 'target', 'agent'] as const
export type AlertSubject = (typeof ALERT_SUBJECTS)[number]

/** The ids of the open alerts of a schedule, by kind. */
export type OpenAlerts = { readonly [Kind in ScheduleAlertKind]?: string }

/** What to do with an alert: raise it, clear it, or leave it unchanged. */
export type AlertDecision =
  | { readonly kind: 'raise'; readonly why: Why }
  | { readonly kind: 'clear'; readonly why: Why }
  | { readonly kind: 'none' }

/** Decides about the alert for consecutive failures: raised once per streak by a failure, cleared by a success. */
export function decideFailureAlert(facts: {
  readonly streakBefore: number
  readonly streakAfter: number
  readonly alertAfter: number
  /** Whether the alert of this streak is already raised. */
  readonly raised: boolean
}): AlertDecision {
  const { streakBefore, streakAfter, alertAfter, raised } = facts
  const evidence = { streak: streakAfter, alert_after: alertAfter }
  const rule = 'alerts.failures_in_a_row'
  if (raised)
    return streakAfter === 0 ? { kind: 'clear', why: because('failure_streak_over', rule, evidence) } : { kind: 'none' }
  // Not `===`: if the limit is lowered during a streak, the next failure raises the alert.
  const hasJustFailed = streakAfter > streakBefore
  return hasJustFailed && streakAfter >= alertAfter
    ? { kind: 'raise', why: because('failure_streak', rule, evidence) }
    : { kind: 'none' }
}

/** The minimum stall period: a scan can take a second, however often the engine scans. */
const MIN_STALL_PERIOD_MS = 1_000

/** The period in which stalls are counted. */
export const stallPeriodMs = (pollMs: number): number => Math.max(pollMs, MIN_STALL_PERIOD_MS)

/** Decides about the alert for an engine that does not scan. The caller passes the latest scan that it knows. */
export function decideStall(facts: {
  /** The latest scan, or the start of the engine before the first scan. */
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

/** Whether a run started later than its schedule allows. Without a limit, no run is late. */
export const isLate = (nominal: Instant, startedAt: Instant, maxLatenessSeconds: number | null): boolean =>
  maxLatenessSeconds !== null && startedAt - nominal > maxLatenessSeconds * SECOND_MS

/**
 * Decides about the alert for late runs: raised when a run starts or still waits after the limit, cleared when a run
 * starts on time. A run that still waits within the limit changes nothing.
 */
export function decideLateAlert(facts: {
  readonly nominal: Instant
  /** When it started, or the current time while it waits. */
  readonly at: Instant
  readonly hasStarted: boolean
  readonly maxLatenessSeconds: number | null
  readonly raised: boolean
}): AlertDecision {
  const { nominal, at, hasStarted, maxLatenessSeconds, raised } = facts
  const late = isLate(nominal, at, maxLatenessSeconds)
  const evidence = {
    ...{ nominal: formatInstant(nominal), late_seconds: Math.max(0, Math.round((at - nominal) / SECOND_MS)) },
    // Without a limit the run is not late, and the value is not used.
    max_lateness_seconds: maxLatenessSeconds ?? 0,
  }
  const rule = 'max_lateness_seconds'
  if (late) return raised ? { kind: 'none' } : { kind: 'raise', why: because('run_late', rule, evidence) }
  return raised && hasStarted ? { kind: 'clear', why: because('run_in_time', rule, evidence) } : { kind: 'none' }
}

/**
 * Decides about the alert for missed occurrences that are not caught up: raised once, and cleared by the next check of
 * the schedule that misses no occurrence and creates a run on time.
 */
export function decideMissedAlert(facts: {
  /** The number of occurrences that this check skipped because they were missed. */
  readonly missed: number
  /** The first missed occurrence; null if none was missed. */
  readonly first: Instant | null
  /** Whether this check created a run on time. */
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

/** The number of consecutive failed heartbeats (or heartbeats without a route) that raises an alert. */
const MAX_FAILING_HEARTBEATS = 3

/** Decides about the alert for an agent whose heartbeats fail: cleared by the first one that works. */
export function decideHeartbeatAlert(facts: {
  /** The number of consecutive heartbeats that failed or had no route, including this one. */
  readonly streak: number
  readonly agent: string
  /** Why the latest one failed. */
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

/** How long runs may wait for a node or worker that can execute them before an alert is raised. */
export const MAX_UNSERVED_MS = 5 * MINUTE_MS

/** Decides about the alert for runs of an agent that no connected node or worker can execute. */
export function decideUnservedAlert(facts: {
  readonly agent: string
  /** The number of waiting runs that nothing can execute. */
  readonly waiting: number
  /** Since when the first of them waits; null: none does. */
  readonly since: Instant | null
  readonly now: Instant
  readonly raised: boolean
}): AlertDecision {
  const { agent, waiting, since, now, raised } = facts
  const rule = 'alerts.runs_unserved'
  if (since === null) return raised ? { kind: 'clear', why: because('runs_served', rule, { agent }) } : { kind: 'none' }
  if (raised || now - since < MAX_UNSERVED_MS) return { kind: 'none' }
  const evidence = { agent, waiting, since: formatInstant(since) }
  return { kind: 'raise', why: because('runs_unserved', rule, evidence) }
}
