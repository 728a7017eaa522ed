import { flawed, parsed, type Parsed } from '../core/input.ts'
import { instant, parseInstant, type Instant } from '../core/instant.ts'

/** The last moment of the year 9999. */
const LAST_MS = 253_402_300_799_999

/** Reads a moment that a person writes as a text and a program may give as a number of milliseconds. */
export function parseMoment(field: string, value: unknown): Parsed<Instant> {
  if (typeof value !== 'number') return parseInstant(field, value)
  return Number.isInteger(value) && value >= 0 && value <= LAST_MS
    ? parsed(instant(value))
    : flawed({ field, value, message: 'is not a time in milliseconds', allowed: `0 to ${LAST_MS}` })
}
