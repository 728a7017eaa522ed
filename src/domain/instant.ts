import { flawed, parsed, type Parsed } from './input.ts'

/** A moment: milliseconds since 1970-01-01T00:00:00Z. A number, because numbers cannot be changed under you. */
export type Instant = number & { readonly __unit: 'epoch ms' }

/** A length of time in milliseconds. */
export type DurationMs = number & { readonly __unit: 'ms' }

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** The first and the last moment that are printed with a year of four digits and read again as the same. */
const FIRST_WRITTEN = Date.UTC(100, 0, 1)
const LAST_WRITTEN = Date.UTC(10_000, 0, 1) - 1

/** Brands a number of milliseconds that is known to be a moment. */
export const instant = (epochMs: number): Instant => epochMs as Instant

/** Brands a number of milliseconds that is known to be a length of time. */
export const durationMs = (ms: number): DurationMs => ms as DurationMs

export const later = (at: Instant, ms: number): Instant => instant(at + ms)

export const earlier = (at: Instant, ms: number): Instant => instant(at - ms)

export const latest = (a: Instant, b: Instant): Instant => (a > b ? a : b)

/** RFC 3339 in UTC with milliseconds, as every surface prints it. */
export function formatInstant(at: Instant): string {
  if (at !== lastFormatted.at) {
    lastFormatted.text = new Date(at).toISOString()
    lastFormatted.at = at
  }
  return lastFormatted.text
}

/** What happens together names the same moment again and again. */
const lastFormatted: { at: Instant | null; text: string } = { at: null, text: '' }

/** True of a moment that is read again as it is printed. */
export const isWritten = (epochMs: number): boolean => epochMs >= FIRST_WRITTEN && epochMs <= LAST_WRITTEN

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/

/** Reads RFC 3339. A time without an offset is refused: guessing its zone is how reminders go off at night. */
export function parseInstant(field: string, value: unknown): Parsed<Instant> {
  const allowed = 'an RFC 3339 time with an offset, such as 2026-01-15T09:00:00Z'
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a time', allowed })
  const match = RFC_3339.exec(value)
  if (match === null) return flawed({ field, value, message: 'is not an RFC 3339 time', allowed })
  const part = (index: number): number => Number(match[index] ?? '0')
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  const millis = Math.trunc(Number(`0.${match[7] ?? '0'}`) * 1000)
  const local = Date.UTC(year, month - 1, day, hour, minute, second, millis)
  const real = new Date(local)
  // Date.UTC rolls 31 February over into March and takes the year 26 for 1926; a date that was not written must not be
  // understood.
  const isDate = real.getUTCFullYear() === year && real.getUTCMonth() === month - 1 && real.getUTCDate() === day
  if (!isDate || hour > 23 || minute > 59 || second > 59)
    return flawed({ field, value, message: 'is a time that does not exist', allowed })
  const offsetMinutes = part(10) * 60 + part(11)
  if (part(10) > 23 || part(11) > 59) return flawed({ field, value, message: 'has an impossible offset', allowed })
  const epoch = local - (match[9] === '-' ? -1 : 1) * offsetMinutes * MINUTE_MS
  // Its offset may carry it out of the years that can be read again: what is kept must be.
  if (!isWritten(epoch)) return flawed({ field, value, message: 'is out of range', allowed })
  return parsed(instant(epoch))
}

/** The last moment of the year 9999, so that it can be printed. */
const LAST_MS = 253_402_300_799_999

/** The time that a text or a number means which a schema has let through. */
export function momentIn(given: string | number): Instant {
  const read = parseMoment('', given)
  if (!read.ok) throw new Error(`${given} was let through as a time`)
  return read.value
}

/** Reads a time that people write as a text, and programs may give as milliseconds since the epoch. */
export function parseMoment(field: string, value: unknown): Parsed<Instant> {
  if (typeof value !== 'number') return parseInstant(field, value)
  return Number.isInteger(value) && value >= 0 && value <= LAST_MS
    ? parsed(instant(value))
    : flawed({ field, value, message: 'is not a time in milliseconds', allowed: `0 to ${LAST_MS}` })
}

/** A time that was read before. */
export function readMoment(value: string | number): Instant {
  const read = parseMoment('', value)
  if (!read.ok) throw new Error(`${value} was taken for a time`)
  return read.value
}
