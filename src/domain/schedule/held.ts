import type { Why } from '../reasons.ts'
import type { Trigger } from '../run/run.ts'
import type { RunState } from '../run/run-machine.ts'

/** The facts that identify a held occurrence. */
export interface HoldFacts {
  readonly state: RunState
  readonly decision: Why
  /** Why it is in its current state; null while it has not changed since it was held. */
  readonly why: Why | null
}

/**
 * Whether the run is an occurrence whose policies have not been decided yet. Nodes of the previous release do not
 * know held runs and start them when their time comes; they write a reason then, so that the run no longer counts as
 * held.
 */
export const isHeld = ({ state, decision, why }: HoldFacts): boolean =>
  state === 'waiting' && why === null && decision.reason === 'held'

/** Whether the run catches up a missed occurrence, so that `queue_depth` does not apply to it. */
export const isCatchUp = (run: { readonly trigger: Trigger; readonly heldDecision: Why | null }): boolean =>
  run.trigger === 'catchup' || run.heldDecision !== null
