import type { RunView } from '../../../src/features/runs/schema.ts'

/** The state of a run at a glance: four outcomes, and two for runs that have not ended. */
export type Outcome = 'success' | 'failure' | 'late' | 'quiet' | 'active' | 'waiting'

const OUTCOMES: Readonly<Record<RunView['status'], Outcome>> = {
  waiting: 'waiting',
  queued: 'waiting',
  assigned: 'active',
  running: 'active',
  awaiting_callback: 'active',
  stopping: 'active',
  success: 'success',
  failed: 'failure',
  timeout: 'late',
  expired: 'late',
  cancelled: 'quiet',
  skipped: 'quiet',
  dropped: 'quiet',
  rejected: 'failure',
}

/** The outcome that a state stands for. */
export const outcomeOf = (status: RunView['status']): Outcome => OUTCOMES[status]

/** The colour of an outcome, as a name of theme/tokens.css. */
export const outcomeColor = (outcome: Outcome): string =>
  outcome === 'active' ? 'var(--accent)' : outcome === 'waiting' ? 'var(--ink-3)' : `var(--${outcome})`
