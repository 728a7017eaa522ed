import { flawed, parsed, type Parsed } from './input.ts'

/** A time as milliseconds since 1970-01-01T00:00:00Z. A number and not a Date, because numbers are immutable. */
export type Instant = number & { readonly __unit: 'epoch ms' }

/** A duration in milliseconds. */
export type DurationMs = number & { readonly __unit: 'ms' }

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** The first and last time that can be formatted with a four-digit year and parsed again without change. */
const FIRST_FORMATTABLE_MS = Date.UTC(100, 0, 1)
const LAST_FORMATTABLE_MS = Date.UTC(10_000, 0, 1) - 1

/** Brands milliseconds since the epoch as an instant. */
export const instant = (epochMs: number): Instant => epochMs as Instant

/** Brands milliseconds as a duration. */
export const durationMs = (ms: number): DurationMs => ms as DurationMs

export const later = (at: Instant, ms: number): Instant => instant(at + ms)

export const earlier = (at: Instant, ms: number): Instant => instant(at - ms)

export const latest = (a: Instant, b: Instant): Instant => (a > b ? a : b)

/** Formats a time as RFC 3339 in UTC with milliseconds. */
export function formatInstant(at: Instant): string {
  if (at !== lastFormatted.at) {
    lastFormatted.text = new Date(at).toISOString()
    lastFormatted.at = at
  }
  return lastFormatted.text
}

/** Caches the last result, because the same time is often formatted many times in a row. */
const lastFormatted: { at: Instant | null; text: string } = { at: null, text: '' }

/** Whether the time can be formatted and parsed again without change. */
export const isFormattable = (epochMs: number): boolean =>
  epochMs >= FIRST_FORMATTABLE_MS && epochMs <= LAST_FORMATTABLE_MS

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/

/** Parses RFC 3339. A time without a UTC offset is rejected, because its time zone would be a guess. */
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
  // Reject dates that Date.UTC changes: it turns February 31 into a day in March, and the year 26 into 1926.
  const isDate = real.getUTCFullYear() === year && real.getUTCMonth() === month - 1 && real.getUTCDate() === day
  if (!isDate || hour > 23 || minute > 59 || second > 59)
    return flawed({ field, value, message: 'is a time that does not exist', allowed })
  const offsetMinutes = part(10) * 60 + part(11)
  if (part(10) > 23 || part(11) > 59) return flawed({ field, value, message: 'has an impossible offset', allowed })
  const epoch = local - (match[9] === '-' ? -1 : 1) * offsetMinutes * MINUTE_MS
  // The UTC offset can move the time out of the supported years.
  if (!isFormattable(epoch)) return flawed({ field, value, message: 'is out of range', allowed })
  return parsed(instant(epoch))
}

/** The end of the year 9999, the last year that can be formatted. */
const MAX_EPOCH_MS = 253_402_300_799_999

/** Parses a time that the schema has already validated. */
export function validatedInstant(given: string | number): Instant {
  const read = parseTimeOrMs('', given)
  if (!read.ok) throw new Error(`The validated time ${given} cannot be parsed`)
  return read.value
}

/** Parses a time given as an RFC 3339 text or as milliseconds since the epoch. */
export function parseTimeOrMs(field: string, value: unknown): Parsed<Instant> {
  if (typeof value !== 'number') return parseInstant(field, value)
  return Number.isInteger(value) && value >= 0 && value <= MAX_EPOCH_MS
    ? parsed(instant(value))
    : flawed({ field, value, message: 'is not a time in milliseconds', allowed: `0 to ${MAX_EPOCH_MS}` })
}

/** Parses a time that was parsed successfully before. */
export function storedInstant(value: string | number): Instant {
  const read = parseTimeOrMs('', value)
  if (!read.ok) throw new Error(`The validated time ${value} cannot be parsed`)
  return read.value
}
