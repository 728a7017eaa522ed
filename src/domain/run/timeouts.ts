import { EXECUTORS, type ExecutorKind } from '../../executors/kinds.ts'
import { later, type Instant } from '../instant.ts'
import type { Trigger } from './run.ts'

/** Seconds an attempt may take when nobody has said. */
export const DEFAULT_TIMEOUT_SECONDS = Object.fromEntries(
  EXECUTORS.map(({ kind, timeoutSeconds }) => [kind, timeoutSeconds]),
) as Readonly<Record<ExecutorKind, number>>

/** A year; nothing that takes longer is one attempt. */
export const MAX_TIMEOUT_SECONDS = 366 * 86_400

/** Seconds to wait for a callback when nobody has said. */
const DEFAULT_CALLBACK_SECONDS = 300

export interface TimeLimits {
  /** Missing or not above 0: the default. */
  readonly timeoutSeconds: number | null
  readonly executor: ExecutorKind
  readonly trigger: Trigger
  /** Covers the whole run, waiting and retries included. */
  readonly deadline: Instant | null
  /** No attempt of the org takes longer, whatever was stated when its limit was another. */
  readonly maxTimeoutSeconds: number | null
}

/** When the attempt that starts now must have ended. */
export function attemptEndsBy(startedAt: Instant, limits: TimeLimits): Instant {
  return within(
    limits,
    () =>
      // A task's own limit is its deadline; a second, shorter one would surprise its sender.
      limits.trigger === 'task' && limits.deadline !== null
        ? limits.deadline
        : later(startedAt, DEFAULT_TIMEOUT_SECONDS[limits.executor] * 1000),
    startedAt,
  )
}

/** When the callback must have arrived. A stated timeout covers the whole attempt, so it counts from its start. */
export function callbackEndsBy(
  at: { readonly startedAt: Instant; readonly acceptedAt: Instant },
  limits: TimeLimits,
): Instant {
  return within(limits, () => later(at.acceptedAt, DEFAULT_CALLBACK_SECONDS * 1000), at.startedAt)
}

function within(limits: TimeLimits, otherwise: () => Instant, startedAt: Instant): Instant {
  const { timeoutSeconds, deadline, maxTimeoutSeconds } = limits
  const stated = timeoutSeconds !== null && timeoutSeconds > 0
  const end = earliest(stated ? later(startedAt, timeoutSeconds * 1000) : otherwise(), deadline)
  return maxTimeoutSeconds === null ? end : earliest(end, later(startedAt, maxTimeoutSeconds * 1000))
}

const earliest = (end: Instant, other: Instant | null): Instant => (other !== null && other < end ? other : end)

/** Whether a pending run that does not execute has run out of time. */
export const isExpired = (run: { readonly deadline: Instant | null }, now: Instant): boolean =>
  run.deadline !== null && now >= run.deadline
