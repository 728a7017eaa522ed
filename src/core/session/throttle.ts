/** From this share of the context window on, a session starts one run at a time. */
const THROTTLE_SHARE = 0.6

/** How full a session's context is, as its executor last reported or its estimator says. */
export interface ContextUse {
  readonly tokens: number
  readonly contextWindow: number
}

/** True from exactly 60 % on. Without an estimate, or with a window that makes no sense, nothing is throttled. */
export const isThrottled = (use: ContextUse | null): boolean =>
  use !== null && use.contextWindow > 0 && use.tokens / use.contextWindow >= THROTTLE_SHARE

/** How many runs of the session may be active for another to start. Running work is never touched by it. */
export const sessionLimit = (maxConcurrent: number, use: ContextUse | null): number =>
  isThrottled(use) ? 1 : maxConcurrent
