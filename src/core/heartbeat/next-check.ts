import { later, parseInstant, SECOND_MS, type Instant } from '../instant.ts'

/** No agent makes itself be asked more often than this, nor puts itself to sleep for longer. */
const SOONEST_SECONDS = 1
const LATEST_SECONDS = 366 * 86_400

/**
 * When an agent wants to be asked again: a moment, or a number of seconds from now. What is neither, has passed or is too
 * far away is passed over: an answer is not refused for it, and the plan stays as it is.
 */
export function readNextCheck(value: unknown, now: Instant): Instant | null {
  const at = typeof value === 'number' ? later(now, Math.round(value * SECOND_MS)) : momentOf(value)
  if (at === null || !Number.isSafeInteger(at)) return null
  const isBetween = at >= later(now, SOONEST_SECONDS * SECOND_MS) && at <= later(now, LATEST_SECONDS * SECOND_MS)
  return isBetween ? at : null
}

function momentOf(value: unknown): Instant | null {
  const read = parseInstant('next_check', value)
  return read.ok ? read.value : null
}
