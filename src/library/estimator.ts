import type { TokenEstimateFunc } from '../contract/token-estimate.ts'
import { requireFunction } from './given.ts'

/** How full the context of a conversation is, as a program estimates it; it may change its mind while running. */
export interface Estimator {
  readonly estimate: TokenEstimateFunc
  readonly set: (estimate: TokenEstimateFunc | null) => void
}

export function createEstimator(first: TokenEstimateFunc | undefined): Estimator {
  let current: TokenEstimateFunc | null = first ?? null
  return {
    estimate: (session) => {
      try {
        return current?.(session) ?? null
      } catch {
        // Without an estimate nothing is throttled.
        return null
      }
    },
    set: (estimate) => {
      if (estimate !== null) requireFunction('estimate', estimate, '(session) => ({ tokens, contextWindow }), or null')
      current = estimate
    },
  }
}
