import { instant, type DurationMs, type Instant } from '../instant.ts'

/** Every so often, counted from an anchor and not from the last run, so that late runs do not make the plan drift. */
export interface IntervalPlan {
  readonly intervalMs: DurationMs
  readonly anchor: Instant
}

/**
 * anchor + (⌊(after − anchor) / interval⌋ + 1) × interval. Nothing fires before the anchor: asked from an earlier
 * moment the answer is the anchor itself, so an anchor in the future works as the time of the first fire.
 */
export function nextTick(plan: IntervalPlan, after: Instant): Instant {
  const elapsed = Math.floor((after - plan.anchor) / plan.intervalMs)
  return instant(plan.anchor + Math.max(0, elapsed + 1) * plan.intervalMs)
}

/** The last tick before an instant, or null if the anchor has not been passed. */
export function previousTick(plan: IntervalPlan, before: Instant): Instant | null {
  const index = Math.ceil((before - plan.anchor) / plan.intervalMs) - 1
  return index < 0 ? null : instant(plan.anchor + index * plan.intervalMs)
}

/** How many ticks lie strictly between two instants. */
export function countTicks(plan: IntervalPlan, after: Instant, before: Instant): number {
  const first = Math.max(0, Math.floor((after - plan.anchor) / plan.intervalMs) + 1)
  const end = Math.ceil((before - plan.anchor) / plan.intervalMs)
  return Math.max(0, end - first)
}
