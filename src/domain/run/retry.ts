import { ERROR_CODES, type ErrorCode } from './error-codes.ts'
import { durationMs, formatInstant, later, type DurationMs, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './retry-policy.ts'
import type { Trigger } from './run.ts'

/** A server that asks for more patience than this is not obeyed to the letter: the run would look forgotten. */
const MAX_RETRY_AFTER_MS = 86_400_000

export interface FailedAttempt {
  readonly errorCode: ErrorCode
  /** What the executor said about it; null when it said nothing. */
  readonly retryable: boolean | null
  /** How long the other side asked us to wait. */
  readonly retryAfterMs: number | null
  /** The attempt's number, counted from the run's first attempt. */
  readonly attempt: number
  readonly firstAttempt: number
}

export interface RetryFacts {
  readonly now: Instant
  readonly policy: RetryPolicy
  /** Under failure action RETRY the next occurrence is the retry, and a run has none of its own. */
  readonly failureActionRetries: boolean
  readonly deadline: Instant | null
  /** In [0, 1), so that a test can pin the jitter. */
  readonly random: number
}

export type RetryDecision =
  { readonly kind: 'retry'; readonly at: Instant; readonly why: Why } | { readonly kind: 'give_up'; readonly why: Why }

/** Whether another attempt follows, and when. */
export function decideRetry(failed: FailedAttempt, facts: RetryFacts): RetryDecision {
  const { policy, now, deadline } = facts
  const evidence = { attempt: failed.attempt, error_code: failed.errorCode, max_retries: policy.maxRetries }
  const used = failed.attempt - failed.firstAttempt
  if (!isRetryable(failed)) return { kind: 'give_up', why: because('not_retryable', 'retryable', evidence) }
  if (facts.failureActionRetries)
    return { kind: 'give_up', why: because('retries_off', 'failure_action=RETRY', evidence) }
  if (used >= policy.maxRetries)
    return { kind: 'give_up', why: because('retries_exhausted', 'retry_policy.max_retries', evidence) }
  const wait = Math.max(retryWait(policy, used, facts.random), Math.min(failed.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS))
  const at = later(now, wait)
  if (deadline !== null && at >= deadline)
    return {
      kind: 'give_up',
      why: because('no_time_left', 'deadline', { ...evidence, deadline: formatInstant(deadline) }),
    }
  const rule = `retry_policy.strategy=${policy.strategy}`
  return { kind: 'retry', at, why: because('retry_scheduled', rule, { ...evidence, retry_at: formatInstant(at) }) }
}

/** The executor's word counts; without one, the error code's own. */
export const isRetryable = (failed: Pick<FailedAttempt, 'errorCode' | 'retryable'>): boolean =>
  failed.retryable ?? ERROR_CODES[failed.errorCode].retryable

/** How long to wait before retry number `used`, counted from 0. */
export function retryWait(policy: RetryPolicy, used: number, random: number): DurationMs {
  const steady = steadyWait(policy, used)
  // The spread is rounded by itself: added first, a random number just below 1 would round up to the excluded end.
  const spread = 2 * policy.jitter * steady
  return durationMs(Math.floor(steady * (1 - policy.jitter)) + Math.floor(spread * random))
}

function steadyWait(policy: RetryPolicy, used: number): number {
  switch (policy.strategy) {
    case 'fixed':
      return policy.baseMs
    case 'exponential':
      return Math.min(policy.baseMs * 2 ** used, policy.maxMs)
    case 'ladder':
      return ladderStep(policy.ladderSeconds, used) * 1000
  }
}

/** The step of a ladder, counted from 0; the last one repeats. */
export const ladderStep = (ladderSeconds: readonly number[], index: number): number =>
  ladderSeconds[Math.min(index, ladderSeconds.length - 1)] ?? 0

/**
 * How often work is retried when nobody has said. Agents are retried, whatever woke them; tasks, commands and inline
 * executors are not, because repeating them may repeat an effect.
 */
export function defaultMaxRetries(run: {
  /** Of a run that repeats another by hand: what woke the first. */
  readonly trigger: Exclude<Trigger, 'retry'>
  readonly executorKind: string
  readonly inlineExecutor: boolean
}): number {
  if (run.trigger === 'task' || run.executorKind === 'command' || run.inlineExecutor) return 0
  return 3
}

/** What is not retried. One object, so that a run of the usual kind is known by identity. */
export const NO_RETRIES: RetryPolicy = { ...DEFAULT_RETRY_POLICY, maxRetries: 0 }
