import { EXECUTORS, type ExecutorKind } from '../../executors/kinds.ts'
import { later, type Instant } from '../instant.ts'
import type { Trigger } from './run.ts'

/** The default time limit of an attempt, in seconds, by executor. */
export const DEFAULT_ATTEMPT_TIMEOUT_SECONDS = Object.fromEntries(
  EXECUTORS.map(({ kind, timeoutSeconds }) => [kind, timeoutSeconds]),
) as Readonly<Record<ExecutorKind, number>>

/** The maximum time limit of an attempt: one year. */
export const MAX_TIMEOUT_SECONDS = 366 * 86_400

/** The default wait for a callback, in seconds. */
const DEFAULT_CALLBACK_SECONDS = 300

/** The default wait for work in the background, in seconds. */
const DEFAULT_BACKGROUND_SECONDS = 3_600

export interface TimeLimits {
  /** Missing or not above 0: the default. */
  readonly timeoutSeconds: number | null
  readonly executor: ExecutorKind
  readonly trigger: Trigger
  /** Covers the whole run, including waits and retries. */
  readonly deadline: Instant | null
  /** The org's limit, which also applies to larger limits that were set before it. */
  readonly maxTimeoutSeconds: number | null
}

/** The end of the time limit of an attempt that starts now. */
export function attemptEndsBy(startedAt: Instant, limits: TimeLimits): Instant {
  return limitedEnd(
    limits,
    () =>
      // A task's deadline is its limit; a shorter default would surprise its sender.
      limits.trigger === 'task' && limits.deadline !== null
        ? limits.deadline
        : later(startedAt, DEFAULT_ATTEMPT_TIMEOUT_SECONDS[limits.executor] * 1000),
    startedAt,
  )
}

/**
 * The end of the wait for a callback. An explicit timeout covers the whole attempt, so it counts from its start. Work
 * in the background may take until the deadline of its run, by default an hour.
 */
export function callbackEndsBy(
  at: { readonly startedAt: Instant; readonly acceptedAt: Instant },
  limits: TimeLimits & { readonly isPolled?: boolean },
): Instant {
  const { isPolled = false, deadline } = limits
  const seconds = isPolled ? DEFAULT_BACKGROUND_SECONDS : DEFAULT_CALLBACK_SECONDS
  return limitedEnd(
    limits,
    () => (isPolled && deadline !== null ? deadline : later(at.acceptedAt, seconds * 1000)),
    at.startedAt,
  )
}

function limitedEnd(limits: TimeLimits, defaultEnd: () => Instant, startedAt: Instant): Instant {
  const { timeoutSeconds, deadline, maxTimeoutSeconds } = limits
  const stated = timeoutSeconds !== null && timeoutSeconds > 0
  const end = earliest(stated ? later(startedAt, timeoutSeconds * 1000) : defaultEnd(), deadline)
  return maxTimeoutSeconds === null ? end : earliest(end, later(startedAt, maxTimeoutSeconds * 1000))
}

const earliest = (end: Instant, other: Instant | null): Instant => (other !== null && other < end ? other : end)

/** Whether a pending run that is not executing is past its deadline. */
export const isExpired = (run: { readonly deadline: Instant | null }, now: Instant): boolean =>
  run.deadline !== null && now >= run.deadline
