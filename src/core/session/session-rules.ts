export const SESSION_MODES = ['queue', 'followup', 'interrupt'] as const
export type SessionMode = (typeof SESSION_MODES)[number]

export const DROP_POLICIES = ['old', 'new'] as const
export type DropPolicy = (typeof DROP_POLICIES)[number]

/** How a session treats what is sent to it. Each can be set for the deployment, the session and, in part, the message. */
export interface SessionRules {
  readonly mode: SessionMode
  /** How many runs may wait. Active runs do not count. */
  readonly cap: number
  readonly drop: DropPolicy
  /** 0 switches merging off. */
  readonly debounceMs: number
  readonly maxConcurrent: number
}

export const DEFAULT_SESSION_RULES: SessionRules = {
  mode: 'queue',
  cap: 10,
  drop: 'old',
  debounceMs: 800,
  maxConcurrent: 1,
}

/** Longer windows would keep a person waiting for minutes without a sign; that is a delay, and has its own field. */
export const MAX_DEBOUNCE_MS = 60_000

export const MAX_CAP = 100_000

export const MAX_SESSION_CONCURRENT = 10_000
