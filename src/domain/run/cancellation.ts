import type { RunId } from '../ids.ts'
import { later, type Instant } from '../instant.ts'
import type { Why } from '../reasons.ts'
import { isTerminal, nextState, type RunState, type TerminalState } from './run-machine.ts'

/** The cancellation of one run. Each sends exactly one empty message, so that indicators are cleared. */
export interface Cancellation {
  readonly runId: RunId
  /** `stopping` when its executor must be asked to stop, `cancelled` when it ends at once. */
  readonly to: 'stopping' | 'cancelled'
  /** How long the executor may take to confirm; null when there is none to wait for. */
  readonly graceUntil: Instant | null
  readonly why: Why
}

export type CancelDecision =
  | { readonly kind: 'cancel'; readonly cancellation: Cancellation }
  /** A repeated cancel changes nothing. */
  | { readonly kind: 'already_stopping' }
  | { readonly kind: 'ended'; readonly state: TerminalState }

interface CancelContext {
  readonly now: Instant
  readonly why: Why
  readonly stopGraceMs: number
}

/** Decides what cancelling does to a run. */
export function decideCancel(
  run: { readonly id: RunId; readonly state: RunState },
  cancel: CancelContext,
): CancelDecision {
  if (isTerminal(run.state)) return { kind: 'ended', state: run.state }
  if (run.state === 'stopping') return { kind: 'already_stopping' }
  const stopping = nextState(run.state, 'cancel') === 'stopping'
  return {
    kind: 'cancel',
    cancellation: {
      runId: run.id,
      to: stopping ? 'stopping' : 'cancelled',
      graceUntil: stopping ? later(cancel.now, cancel.stopGraceMs) : null,
      why: cancel.why,
    },
  }
}

/** The cancellations of all runs that can still be cancelled; ended and stopping ones are skipped. */
export function cancelAll(
  runs: readonly { readonly id: RunId; readonly state: RunState }[],
  cancel: CancelContext,
): readonly Cancellation[] {
  return runs.flatMap((run) => {
    const decision = decideCancel(run, cancel)
    return decision.kind === 'cancel' ? [decision.cancellation] : []
  })
}

/** Whether a run in `stopping` is ended without confirmation: its lease expired or the grace period is over. */
export const isAbandoned = (
  stopping: { readonly graceUntil: Instant; readonly leaseUntil: Instant | null },
  now: Instant,
): boolean => now >= stopping.graceUntil || (stopping.leaseUntil !== null && now >= stopping.leaseUntil)

export type ManualRetry =
  | { readonly kind: 'retry' }
  | { readonly kind: 'needs_force' }
  | { readonly kind: 'not_ended'; readonly state: RunState }

/** Decides whether a run can be retried manually as a new run; a successful run only with `force`. */
export function decideManualRetry(state: RunState, force: boolean): ManualRetry {
  if (!isTerminal(state)) return { kind: 'not_ended', state }
  return state === 'success' && !force ? { kind: 'needs_force' } : { kind: 'retry' }
}
