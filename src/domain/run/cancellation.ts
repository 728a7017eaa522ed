import type { RunId } from '../ids.ts'
import { later, type Instant } from '../instant.ts'
import type { Why } from '../reasons.ts'
import { isTerminal, nextState, type RunState, type TerminalState } from './run-machine.ts'

/** What cancelling does to one run. Each publishes exactly one empty outbound, so that indicators are cleared. */
export interface Cancellation {
  readonly runId: RunId
  /** `stopping` when somebody works on it and must be asked, `cancelled` when it ends at once. */
  readonly to: 'stopping' | 'cancelled'
  /** Until when the holder may confirm. Null when there is nobody to wait for. */
  readonly graceUntil: Instant | null
  readonly why: Why
}

export type CancelDecision =
  | { readonly kind: 'cancel'; readonly cancellation: Cancellation }
  /** It was asked before; asking again changes nothing. */
  | { readonly kind: 'already_stopping' }
  | { readonly kind: 'ended'; readonly state: TerminalState }

interface Cancel {
  readonly now: Instant
  readonly why: Why
  readonly stopGraceMs: number
}

/** What becomes of a run that somebody wants to end. */
export function decideCancel(run: { readonly id: RunId; readonly state: RunState }, cancel: Cancel): CancelDecision {
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

/** The cancellations of all runs that can still be cancelled; those already ended or stopping are passed over. */
export function cancelAll(
  runs: readonly { readonly id: RunId; readonly state: RunState }[],
  cancel: Cancel,
): readonly Cancellation[] {
  return runs.flatMap((run) => {
    const decision = decideCancel(run, cancel)
    return decision.kind === 'cancel' ? [decision.cancellation] : []
  })
}

/** Whether a run in `stopping` is given up: its holder is gone, or has had its time. */
export const isAbandoned = (
  stopping: { readonly graceUntil: Instant; readonly leaseUntil: Instant | null },
  now: Instant,
): boolean => now >= stopping.graceUntil || (stopping.leaseUntil !== null && now >= stopping.leaseUntil)

export type ManualRetry =
  | { readonly kind: 'retry' }
  | { readonly kind: 'needs_force' }
  | { readonly kind: 'not_ended'; readonly state: RunState }

/** Whether a person may have a run repeated as a new run. A success is repeated only when they insist. */
export function decideManualRetry(state: RunState, force: boolean): ManualRetry {
  if (!isTerminal(state)) return { kind: 'not_ended', state }
  return state === 'success' && !force ? { kind: 'needs_force' } : { kind: 'retry' }
}
