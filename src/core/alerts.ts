import { formatInstant, later, SECOND_MS, type Instant } from './instant.ts'
import { because, type Why } from './reasons.ts'

export const ALERT_DEFAULTS = { failuresInARow: 3, stallPeriods: 3 } as const

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
