import { because, type Why } from '../reasons.ts'
import type { ScheduleRules } from './schedule-rules.ts'
import { pendingPrevious, slotsAwaited, type ScheduleHistory } from './schedule-history.ts'

export type OverlapDecision =
  /** Nothing overlaps, so the failure policy may look. */
  | { readonly kind: 'clear' }
  /** It overlaps and goes on to the concurrency policy. */
  | { readonly kind: 'allow' }
  /** Every pending run makes way; its slots pass over. */
  | { readonly kind: 'supersede' }
  /** The concurrency limit does not count for this occurrence. */
  | { readonly kind: 'parallel' }
  /** It may wait for a slot even where the concurrency policy would skip it. */
  | { readonly kind: 'buffer' }
  | { readonly kind: 'skip'; readonly why: Why }

/** What happens to an occurrence while the previous run is still pending. */
export function decideOverlap(rules: ScheduleRules, history: ScheduleHistory): OverlapDecision {
  const previous = pendingPrevious(history)
  if (previous === null) return { kind: 'clear' }
  const rule = `overlap_action=${rules.overlapAction}`
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
