import type { RunId } from '../ids.ts'
import { because, type Why } from '../reasons.ts'
import type { ScheduleRules } from './rules.ts'
import { slotsHeld, type PendingRun, type ScheduleHistory } from './history.ts'

export type ConcurrencyDecision =
  /** It gets a slot now and keeps it, including retry waits, until it ends. */
  | { readonly kind: 'run' }
  /** It waits for a slot. */
  | { readonly kind: 'park' }
  | { readonly kind: 'skip'; readonly why: Why }

/** A request for a slot. */
export interface SlotRequest {
  /** It may wait for a slot where SKIP would skip it. */
  readonly mayWait: boolean
  /** It catches up a missed occurrence, so `queue_depth` does not apply. */
  readonly isCatchUp: boolean
}

/** Decides whether the schedule has a slot for one more run. */
export function decideConcurrency(
  rules: ScheduleRules,
  history: ScheduleHistory,
  { mayWait, isCatchUp }: SlotRequest,
): ConcurrencyDecision {
  const reserved = slotsHeld(history)
  if (reserved < rules.maxConcurrency) return { kind: 'run' }
  switch (rules.concurrencyPolicy) {
    case 'PARALLEL':
      return { kind: 'run' }
    case 'SKIP': {
      const evidence = { reserved, max_concurrency: rules.maxConcurrency }
      return mayWait
        ? { kind: 'park' }
        : { kind: 'skip', why: because('concurrency', 'concurrency_policy=SKIP', evidence) }
    }
    case 'QUEUE': {
      const parked = history.pending.filter((run) => run.slot === 'parked' && run.isCatchUp !== true).length
      if (parked < rules.queueDepth || mayWait || isCatchUp) return { kind: 'park' }
      return { kind: 'skip', why: because('queue_full', 'queue_depth', { parked, queue_depth: rules.queueDepth }) }
    }
  }
}

/** The parked runs that get a slot, oldest first; used when a slot becomes free and when the limit is raised. */
export function grantSlots(pending: readonly PendingRun[], maxConcurrency: number): readonly RunId[] {
  const held = pending.filter((run) => run.slot === 'held').length
  const free = Math.max(0, maxConcurrency - held)
  return pending
    .filter((run) => run.slot === 'parked')
    .slice(0, free)
    .map((run) => run.id)
}
