import type { RunId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { cancelAll, type Cancellation } from '../run/cancellation.ts'
import type { RunState } from '../run/run-machine.ts'
import type { ScheduleRules } from './rules.ts'
import { pendingPrevious, slotsAwaited, type ScheduleHistory } from './history.ts'

export type OverlapDecision =
  /** Nothing overlaps, so the failure policy decides. */
  | { readonly kind: 'clear' }
  /** It overlaps, and the concurrency policy decides. */
  | { readonly kind: 'allow' }
  /** It cancels all pending runs and gets their slots. */
  | { readonly kind: 'supersede' }
  /** The concurrency limit does not apply to this occurrence. */
  | { readonly kind: 'parallel' }
  /** It may wait for a slot even where the concurrency policy would skip it. */
  | { readonly kind: 'buffer' }
  | { readonly kind: 'skip'; readonly why: Why }

/** The cancellations of superseded runs: asked to stop where an executor holds them, ended at once otherwise. */
export const cancelSuperseded = (
  runs: readonly { readonly id: RunId; readonly state: RunState }[],
  by: { readonly nominal: Instant; readonly now: Instant; readonly stopGraceMs: number },
): readonly Cancellation[] =>
  cancelAll(runs, {
    now: by.now,
    stopGraceMs: by.stopGraceMs,
    why: because('superseded', 'overlap_action=CANCEL_PREV', { nominal: formatInstant(by.nominal) }),
  })

/**
 * Decides about an occurrence while the previous run is still pending. `released` is the nominal time of a held
 * occurrence and null for others: a held occurrence never replaces a run for a later time.
 */
export function decideOverlap(
  rules: ScheduleRules,
  history: ScheduleHistory,
  released: Instant | null = null,
): OverlapDecision {
  const previous = pendingPrevious(history)
  const rule = `overlap_action=${rules.overlapAction}`
  const later = released === null ? undefined : history.pending.find(({ nominal = -Infinity }) => nominal > released)
  if (later !== undefined && rules.overlapAction === 'CANCEL_PREV') {
    const state = later.id === previous?.id ? previous.state : 'pending'
    return { kind: 'skip', why: because('overlap', rule, { previous_run: later.id, previous_state: state }) }
  }
  if (previous === null) return { kind: 'clear' }
  const skip: OverlapDecision = {
    kind: 'skip',
    why: because('overlap', rule, { previous_run: previous.id, previous_state: previous.state }),
  }
  switch (rules.overlapAction) {
    case 'ALLOW':
      return { kind: 'allow' }
    case 'SKIP':
      return skip
    case 'CANCEL_PREV':
      return { kind: 'supersede' }
    case 'PARALLEL': {
      const pending = history.pending.length
      if (rules.maxParallel === null || pending < rules.maxParallel) return { kind: 'parallel' }
      return { kind: 'skip', why: because('overlap_limit', rule, { pending, max_parallel: rules.maxParallel }) }
    }
    case 'BUFFER_ONE':
      return slotsAwaited(history) === 0 ? { kind: 'buffer' } : skip
  }
}
