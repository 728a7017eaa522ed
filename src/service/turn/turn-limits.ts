/**
 * How much one turn may do before it gives the org's lock and the event loop to others. What is left is done in the next
 * turn, which follows at once.
 */
export interface TurnLimits {
  /** Most runs that the passing of time, one command or one lost node changes. */
  readonly maxChanges: number
  /** Starts a stopwatch. It says whether enough time has passed to begin nothing more. */
  readonly stopwatch: () => () => boolean
}

const MAX_CHANGES = 1_000
const MAX_MS = 15

/** The limits of a node at work. `counter` counts milliseconds. */
export const turnLimits = (counter: () => number): TurnLimits => ({
  maxChanges: MAX_CHANGES,
  stopwatch: () => {
    const end = counter() + MAX_MS
    return () => counter() > end
  },
})

/** For simulations, in which everything that is due happens in one turn. */
export const NO_TURN_LIMITS: TurnLimits = { maxChanges: Infinity, stopwatch: () => () => false }

/** What a turn may still change. */
export interface Allowance {
  left: number
  readonly isOver: () => boolean
}

/** What the passing of time may change in a turn that begins to look at it now. */
export const allowanceOf = ({ maxChanges, stopwatch }: TurnLimits): Allowance => ({
  left: maxChanges,
  isOver: stopwatch(),
})

/** An allowance that never ends. */
export const WITHOUT_LIMIT: Allowance = allowanceOf(NO_TURN_LIMITS)
