import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, formatInstant, later, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'

/**
 * How often a message is tried. The ladder is short at first, for a receiver that restarts, and then long: ten tries
 * take about eight hours, so an outage that begins in the evening can be over before anything is disabled or lost.
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
  /** Each wait is shortened or lengthened by up to this share, so that held messages do not all come back at once. */
  jitter: 0.25,
  /** One try may take this long. */
  timeoutMs: 10 * SECOND_MS,
  /** A saved target is disabled after this many failures in a row, whichever messages they were. */
  maxFailuresInARow: 10,
  /** A callback of its own gets this many tries. */
  maxCallbackTries: 10,
  /** A message that a healthy target refuses again and again is given up: it would keep its run for ever. */
  maxMessageTries: 30,
  /** A receiver may ask for a later try, but not beyond this. */
  maxRetryAfterMs: DAY_MS,
} as const

export interface FailedTry {
  readonly kind: 'target' | 'adhoc'
  readonly target: string
  /** Tries of this message since it was made or the target was enabled again, the failed one included. */
  readonly tries: number
  /** Failures of the target in a row, the failed try included. */
  readonly failuresInARow: number
  readonly now: Instant
  /** In [0, 1), so that a test can pin the jitter. */
  readonly random: number
  /** What the receiver asked for. */
  readonly retryAfterMs?: number
}

export type NextTry =
  | { readonly kind: 'retry'; readonly retryAt: Instant; readonly why: Why }
  /** The target is switched off; this message and all others for it are held until it is enabled. */
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
  const asked = Math.min(Math.max(failed.retryAfterMs ?? 0, 0), maxRetryAfterMs)
  return Math.max(wait, asked)
}

/** What receivers recognise a repeated message by: it depends on the delivery alone, so every try sends the same. */
export const deliveryIdempotencyKey = (deliveryId: string): string => `msg_${deliveryId}`

/** What is delivered of an output. */
export const DELIVERED_OUTPUT_BYTES = 1_048_576
