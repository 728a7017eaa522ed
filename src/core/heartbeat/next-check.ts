import { later, parseInstant, SECOND_MS, type Instant } from '../../domain/instant.ts'

/** No agent makes itself be asked more often than this, nor puts itself to sleep for longer. */
const SOONEST_SECONDS = 1
const LATEST_SECONDS = 366 * 86_400

/**
 * When an agent wants to be asked again: a moment, or a number of seconds from now. What is neither, has passed or is too
 * far away is passed over: an answer is not refused for it, and the plan stays as it is.
 */
export function readNextCheck(value: unknown, now: Instant): Instant | null {
  const inMs = wishedIn(value, now)
  if (inMs === null) return null
  const isBetween = inMs >= SOONEST_SECONDS * SECOND_MS && inMs <= LATEST_SECONDS * SECOND_MS
  return isBetween ? later(now, inMs) : null
}

/** In how many milliseconds a moment, or a number of seconds, is from now, wherever that is; null: it is neither. */
export function wishedIn(value: unknown, now: Instant): number | null {
  const at = typeof value === 'number' ? later(now, Math.round(value * SECOND_MS)) : momentOf(value)
  return at === null || !Number.isSafeInteger(at) ? null : at - now
}

function momentOf(value: unknown): Instant | null {
  const read = parseInstant('next_check', value)
  return read.ok ? read.value : null
}
