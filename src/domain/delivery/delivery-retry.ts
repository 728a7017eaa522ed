import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, formatInstant, later, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'

/**
 * The retry schedule of deliveries. Waits are short at first, for a receiver that restarts, and long later: ten tries
 * take about 8 hours, so an outage that begins in the evening can end before anything is disabled or lost.
 */
export const DELIVERY_TRIES = {
  ladderMs: [
    5 * SECOND_MS,
    15 * SECOND_MS,
    MINUTE_MS,
    5 * MINUTE_MS,
    15 * MINUTE_MS,
    30 * MINUTE_MS,
    HOUR_MS,
    2 * HOUR_MS,
    4 * HOUR_MS,
  ],
  /** Each wait varies by up to this fraction, so that held messages are not all retried at once. */
  jitter: 0.25,
  /** The time limit of one try. */
  timeoutMs: 10 * SECOND_MS,
  /** A saved target is disabled after this many consecutive failures across its messages. */
  maxFailuresInARow: 10,
  /** The maximum number of tries for the callback of a task. */
  maxCallbackTries: 10,
  /** A message that a working target keeps refusing is given up, because it would keep its run stored forever. */
  maxMessageTries: 30,
  /** The maximum Retry-After of a receiver that is respected. */
  maxRetryAfterMs: DAY_MS,
} as const

export interface FailedTry {
  readonly kind: 'target' | 'adhoc'
  readonly target: string
  /** Tries of this message since it was created or the target was enabled again, including the failed one. */
  readonly tries: number
  /** Consecutive failures of the target, including the failed try. */
  readonly failuresInARow: number
  readonly now: Instant
  /** In [0, 1), so that a test can pin the jitter. */
  readonly random: number
  /** The receiver's Retry-After. */
  readonly retryAfterMs?: number
}

export type NextTry =
  | { readonly kind: 'retry'; readonly retryAt: Instant; readonly why: Why }
  /** The target is disabled; its messages are held until it is enabled. */
  | { readonly kind: 'disable_target'; readonly why: Why }
  | { readonly kind: 'give_up'; readonly why: Why }

/** Decides what follows a failed try. */
export function decideNextTry(failed: FailedTry): NextTry {
  const { tries, failuresInARow, target } = failed
  if (failed.kind === 'target' && failuresInARow >= DELIVERY_TRIES.maxFailuresInARow) {
    const evidence = { target, failures: failuresInARow }
    return { kind: 'disable_target', why: because('target_disabled', 'delivery.max_failures_in_a_row', evidence) }
  }
  const maxTries = failed.kind === 'adhoc' ? DELIVERY_TRIES.maxCallbackTries : DELIVERY_TRIES.maxMessageTries
  if (tries >= maxTries)
    return { kind: 'give_up', why: because('delivery_given_up', 'delivery.max_tries', { tries, target }) }
  const retryAt = later(failed.now, waitAfter(failed))
  return {
    kind: 'retry',
    retryAt,
    why: because('delivery_retry', 'delivery.ladder', { tries, target, retry_at: formatInstant(retryAt) }),
  }
}

function waitAfter(failed: FailedTry): number {
  const { ladderMs, jitter, maxRetryAfterMs } = DELIVERY_TRIES
  const step = ladderMs[Math.min(Math.max(failed.tries, 1), ladderMs.length) - 1] ?? DAY_MS
  const wait = Math.round(step * (1 + jitter * (2 * failed.random - 1)))
  const requested = Math.min(Math.max(failed.retryAfterMs ?? 0, 0), maxRetryAfterMs)
  return Math.max(wait, requested)
}

/**
 * The key by which receivers recognize a repeated message; it depends only on the delivery, so every try sends the
 * same.
 */
export const deliveryIdempotencyKey = (deliveryId: string): string => `msg_${deliveryId}`

/** The maximum delivered size of an output. */
export const MAX_DELIVERED_OUTPUT_BYTES = 1_048_576
