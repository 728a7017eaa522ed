import { ERROR_CODES, type ErrorCode } from './error-codes.ts'
import { durationMs, formatInstant, later, type DurationMs, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './retry-policy.ts'
import type { Trigger } from './run.ts'

/** Longer Retry-After values are capped, or the run would appear stuck. */
const MAX_RETRY_AFTER_MS = 86_400_000

export interface FailedAttempt {
  readonly errorCode: ErrorCode
  /** Whether the executor said that it may be retried; null when it did not. */
  readonly retryable: boolean | null
  /** The Retry-After of the called service. */
  readonly retryAfterMs: number | null
  /** The number of the attempt, counted from the first attempt of the run. */
  readonly attempt: number
  readonly firstAttempt: number
}

export interface RetryFacts {
  readonly now: Instant
  readonly policy: RetryPolicy
  /** Under failure action RETRY the next occurrence is the retry, so the run itself is not retried. */
  readonly failureActionRetries: boolean
  readonly deadline: Instant | null
  /** In [0, 1), so that a test can pin the jitter. */
  readonly random: number
}

export type RetryDecision =
  { readonly kind: 'retry'; readonly at: Instant; readonly why: Why } | { readonly kind: 'give_up'; readonly why: Why }

/** Decides whether and when another attempt follows. */
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

/** The executor's own flag counts, otherwise that of the error code. */
export const isRetryable = (failed: Pick<FailedAttempt, 'errorCode' | 'retryable'>): boolean =>
  failed.retryable ?? ERROR_CODES[failed.errorCode].retryable

/** The wait before retry number `used`, counted from 0. */
export function retryWait(policy: RetryPolicy, used: number, random: number): DurationMs {
  const steady = steadyWait(policy, used)
  // The spread is rounded separately: otherwise a random number just below 1 would round up to the excluded end.
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
 * The default number of retries. Tasks, commands and inline executors are not retried, because repeating them may
 * repeat a side effect.
 */
export function defaultMaxRetries(run: {
  /** For a manual retry: the trigger of the original run. */
  readonly trigger: Exclude<Trigger, 'retry'>
  readonly executorKind: string
  readonly inlineExecutor: boolean
}): number {
  if (run.trigger === 'task' || run.executorKind === 'command' || run.inlineExecutor) return 0
  return 3
}

/** The policy of runs without retries; one object, so that it can be recognized by identity. */
export const NO_RETRIES: RetryPolicy = { ...DEFAULT_RETRY_POLICY, maxRetries: 0 }
