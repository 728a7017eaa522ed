import { later, parseInstant, SECOND_MS, type Instant } from '../instant.ts'

/** The bounds of a proposed next check. */
const MIN_NEXT_CHECK_SECONDS = 1
const MAX_NEXT_CHECK_SECONDS = 366 * 86_400

/**
 * Reads the next check an agent proposes: a time, or a number of seconds from now. Invalid, past and out-of-range
 * values are ignored: they do not fail the reply, and the plan is unchanged.
 */
export function readNextCheck(value: unknown, now: Instant): Instant | null {
  const inMs = nextCheckDelay(value, now)
  if (inMs === null) return null
  const isBetween = inMs >= MIN_NEXT_CHECK_SECONDS * SECOND_MS && inMs <= MAX_NEXT_CHECK_SECONDS * SECOND_MS
  return isBetween ? later(now, inMs) : null
}

/** The milliseconds from now to a time or number of seconds, without a range check; null when the value is neither. */
export function nextCheckDelay(value: unknown, now: Instant): number | null {
  const at = typeof value === 'number' ? later(now, Math.round(value * SECOND_MS)) : parseTime(value)
  return at === null || !Number.isSafeInteger(at) ? null : at - now
}

function parseTime(value: unknown): Instant | null {
  const read = parseInstant('next_check', value)
  return read.ok ? read.value : null
}
