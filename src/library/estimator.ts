import type { TokenEstimateFunc } from '../contract/token-estimate.ts'
import { requireFunction } from './given.ts'

/** How full the context of a conversation is, as a program estimates it; it may change its mind while running. */
export interface Estimator {
  /** The present one; null: there is none. */
  readonly estimate: () => TokenEstimateFunc | null
  readonly set: (estimate: TokenEstimateFunc | null) => void
}

export function createEstimator(first: TokenEstimateFunc | undefined, changed: () => void): Estimator {
  let current = first === undefined ? null : careful(first)
  return {
    estimate: () => current,
    set: (estimate) => {
      if (estimate !== null) requireFunction('estimate', estimate, '(session) => ({ tokens, contextWindow }), or null')
      current = estimate === null ? null : careful(estimate)
      changed()
    },
  }
}

/** Without an estimate nothing is throttled. */
const careful =
  (estimate: TokenEstimateFunc): TokenEstimateFunc =>
  (session) => {
    try {
      return estimate(session)
    } catch {
      return null
    }
  }
