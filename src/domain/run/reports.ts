import type { AttemptId } from '../ids.ts'
import { because, type Reason, type Why } from '../reasons.ts'
import { isInFlight } from './run.ts'
import { isTerminal, type RunState } from './run-machine.ts'
import type { Instant } from '../instant.ts'

/**
 * Fences. Whoever reports from outside names the attempt it speaks for; a report for an attempt that is no longer the
 * current one changes nothing and is recorded, however late and however plausible it is.
 */
export interface ReportedRun {
  readonly state: RunState
  readonly attemptId: AttemptId | null
  /** The session's generation when the attempt started. */
  readonly attemptGeneration: number
  readonly sessionGeneration: number
}

export type ReportDecision =
  | { readonly kind: 'apply' }
  /** From before a reset: its caller hears of it, but it frees no slot and starts nothing. */
  | { readonly kind: 'old_generation' }
  | { readonly kind: 'stale_report'; readonly why: Why }

/** Whether a report about an attempt counts. */
export function decideReport(run: ReportedRun, reported: AttemptId): ReportDecision {
  if (run.attemptId !== reported || !isInFlight(run.state)) {
    const evidence = { reported, current: run.attemptId ?? 'none', state: run.state }
    return { kind: 'stale_report', why: because('stale_report', 'attempt_fence', evidence) }
  }
  return run.attemptGeneration < run.sessionGeneration ? { kind: 'old_generation' } : { kind: 'apply' }
}

export type CallbackDecision =
  | { readonly kind: 'settle' }
  /** 200 with the final or current state and `ignored: true`: the sender did nothing wrong and need not try again. */
  | { readonly kind: 'ignored' }
  /** The deadline has passed but nobody has noticed yet: the run ends `timeout`, and the callback is ignored. */
  | { readonly kind: 'too_late' }

/** What a callback with a known token does. A token nobody knows is a 404 and never comes here. */
export function decideCallback(
  run: { readonly state: RunState; readonly attemptId: AttemptId | null; readonly callbackUntil: Instant | null },
  token: { readonly attemptId: AttemptId },
  now: Instant,
): CallbackDecision {
  if (isTerminal(run.state) || run.attemptId !== token.attemptId) return { kind: 'ignored' }
  // A quick agent calls back before its 202 has been read: the token is valid from the moment it was sent.
  if (run.state !== 'awaiting_callback' && run.state !== 'running') return { kind: 'ignored' }
  return run.callbackUntil !== null && now >= run.callbackUntil ? { kind: 'too_late' } : { kind: 'settle' }
}

/** Where whoever holds an attempt stands: whether the attempt is still its own, and whether it should stop. */
export interface HolderStanding {
  readonly isCurrent: boolean
  readonly cancel: boolean
  readonly reason: Reason | null
}

/** What the holder of an attempt has to know about its run. Null: the run is not kept, or not held by it any more. */
export function standingOfHolder(
  run: { readonly state: RunState; readonly attemptId: AttemptId | null; readonly reason: Reason | null } | null,
  held: AttemptId,
): HolderStanding {
  if (run === null || run.attemptId !== held || !isInFlight(run.state))
    return { isCurrent: false, cancel: true, reason: 'stale_report' }
  if (run.state !== 'stopping') return { isCurrent: true, cancel: false, reason: null }
  return { isCurrent: true, cancel: true, reason: run.reason ?? 'cancelled' }
}
