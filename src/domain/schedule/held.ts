import type { Why } from '../reasons.ts'
import type { Trigger } from '../run/run.ts'
import type { RunState } from '../run/run-machine.ts'

/** What tells a held occurrence from other runs that wait. */
export interface HoldFacts {
  readonly state: RunState
  readonly decision: Why
  /** Why it is where it is now; null while nothing has happened since it was held. */
  readonly why: Why | null
}

/**
 * Whether the run is an occurrence whose policies have not been decided yet. A node of the release before does not know
 * held runs and starts them when their time comes; it writes a reason then, so that they count as held no more.
 */
export const isHeld = ({ state, decision, why }: HoldFacts): boolean =>
  state === 'waiting' && why === null && decision.reason === 'held'

/** Whether the run makes up for a missed time: `queue_depth` does not apply to it. */
export const isMadeUp = (run: { readonly trigger: Trigger; readonly heldDecision: Why | null }): boolean =>
  run.trigger === 'catchup' || run.heldDecision !== null
