import { instant, type DurationMs, type Instant } from '../instant.ts'

/** A fixed interval counted from an anchor, not from the last run, so that late runs do not shift the plan. */
export interface IntervalPlan {
  readonly intervalMs: DurationMs
  readonly anchor: Instant
}

/**
 * anchor + (⌊(after − anchor) / interval⌋ + 1) × interval. There is no tick before the anchor, so an anchor in the
 * future is the first tick.
 */
export function nextTick(plan: IntervalPlan, after: Instant): Instant {
  const elapsed = Math.floor((after - plan.anchor) / plan.intervalMs)
  return instant(plan.anchor + Math.max(0, elapsed + 1) * plan.intervalMs)
}

/** The last tick before a time, or null if the time is not after the anchor. */
export function previousTick(plan: IntervalPlan, before: Instant): Instant | null {
  const index = Math.ceil((before - plan.anchor) / plan.intervalMs) - 1
  return index < 0 ? null : instant(plan.anchor + index * plan.intervalMs)
}

/** The number of ticks strictly between two times. */
export function countTicks(plan: IntervalPlan, after: Instant, before: Instant): number {
  const first = Math.max(0, Math.floor((after - plan.anchor) / plan.intervalMs) + 1)
  const end = Math.ceil((before - plan.anchor) / plan.intervalMs)
  return Math.max(0, end - first)
}
