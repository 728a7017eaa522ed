import { isTerminal, type RunState } from '../run/run-machine.ts'
import type { Instant } from '../instant.ts'
import type { BackfillChoice, BackfillOrder } from './backfill.ts'

/** What has become of a moment so far, whoever made its runs. */
export type MomentStanding = 'not_run' | 'failed' | 'cancelled' | 'succeeded' | 'pending'

/** Which moments are taken, by what has become of them. What is still on its way is never made a second time. */
const TAKES: Readonly<Record<BackfillChoice, readonly MomentStanding[]>> = {
  missing: ['not_run', 'failed', 'cancelled'],
  failed: ['failed'],
  all: ['not_run', 'failed', 'cancelled', 'succeeded'],
}

/** One moment from all its runs: one that is pending counts most, then one that succeeded, then one that failed. */
export function standingOf(states: readonly RunState[]): MomentStanding {
  if (states.some((state) => !isTerminal(state))) return 'pending'
  if (states.includes('success')) return 'succeeded'
  if (states.includes('failed') || states.includes('timeout')) return 'failed'
  // Skipped, expired, dropped, rejected: nothing was executed for it.
  return states.includes('cancelled') ? 'cancelled' : 'not_run'
}

/** How many moments of each standing there are. */
export type StandingCounts = Readonly<Record<MomentStanding, number>>

const NO_MOMENTS: StandingCounts = { not_run: 0, failed: 0, cancelled: 0, succeeded: 0, pending: 0 }

/** The moments a backfill takes, in its order, and what it leaves out. */
export interface ChosenMoments {
  readonly taken: readonly Instant[]
  readonly leftOut: StandingCounts
}

/** Chooses among moments in their order. Those from `undecided` on are still for the schedule itself to decide. */
export function chooseMoments(
  moments: readonly Instant[],
  known: { readonly runs: ReadonlyMap<Instant, readonly RunState[]>; readonly undecided: Instant | null },
  terms: { readonly which: BackfillChoice; readonly order: BackfillOrder },
): ChosenMoments {
  const taken: Instant[] = []
  const leftOut = { ...NO_MOMENTS }
  for (const moment of moments) {
    const isAhead = known.undecided !== null && moment >= known.undecided
    const standing = isAhead ? 'pending' : standingOf(known.runs.get(moment) ?? [])
    if (TAKES[terms.which].includes(standing)) taken.push(moment)
    else leftOut[standing] += 1
  }
  return { taken: terms.order === 'newest' ? taken.reverse() : taken, leftOut }
}
