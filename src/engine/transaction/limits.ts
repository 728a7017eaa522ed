/**
 * How much one transaction may do before it releases the org's lock and the event loop. The rest is done in the next
 * transaction, which follows at once.
 */
export interface TransactionLimits {
  /** Maximum number of runs changed by the passing of time, by one command or by one lost node. */
  readonly maxChanges: number
  /** Starts a stopwatch. Its result is true once nothing more should be started. */
  readonly stopwatch: () => () => boolean
}

const MAX_CHANGES_PER_TRANSACTION = 1_000
const MAX_TRANSACTION_WORK_MS = 15

/** The limits of a running node. `counter` counts milliseconds. */
export const transactionLimits = (counter: () => number): TransactionLimits => ({
  maxChanges: MAX_CHANGES_PER_TRANSACTION,
  stopwatch: () => {
    const end = counter() + MAX_TRANSACTION_WORK_MS
    return () => counter() > end
  },
})

/** For simulations, in which everything that is due happens in one transaction. */
export const NO_TRANSACTION_LIMITS: TransactionLimits = { maxChanges: Infinity, stopwatch: () => () => false }

/** What a transaction may still change. */
export interface Allowance {
  left: number
  readonly isOver: () => boolean
}

/** The allowance of a transaction for the passing of time, starting now. */
export const allowanceOf = ({ maxChanges, stopwatch }: TransactionLimits): Allowance => ({
  left: maxChanges,
  isOver: stopwatch(),
})

/** An allowance that never ends. */
export const WITHOUT_LIMIT: Allowance = allowanceOf(NO_TRANSACTION_LIMITS)
