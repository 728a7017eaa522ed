import { instant, type Instant } from '../core/instant.ts'

/**
 * The one place where instants (numbers) and `timestamptz` meet. PostgreSQL keeps microseconds, an instant keeps
 * milliseconds: what is finer is cut off downwards, so that an instant read back is never later than the row's.
 */

/** A parameter for a `timestamptz`. The instant is a whole number of milliseconds from 4713 BC on. */
export function toTimestamp(at: Instant): string {
  // Rows of one turn mostly share their moment, and printing a date costs more than everything else about a column.
  if (at !== lastAt) {
    lastText = print(at)
    lastAt = at
  }
  return lastText
}

let lastAt = instant(Number.NaN)
let lastText = ''

function print(at: Instant): string {
  if (at === Infinity) return 'infinity'
  if (at === -Infinity) return '-infinity'
  const date = new Date(at)
  const year = date.getUTCFullYear()
  if (year >= 0 && year <= 9999 && year !== 0) return date.toISOString()
  // From year 10000 on ISO 8601 wants a sign, which PostgreSQL does not read; before year 1 it counts in BC.
  const rest = date.toISOString().slice(-20)
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}

const TEXT = /^(\d{4,6})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/

/** Reads what PostgreSQL prints for a `timestamptz` in ISO style. */
export function fromTimestamp(text: string): Instant {
  if (text === 'infinity') return instant(Infinity)
  if (text === '-infinity') return instant(-Infinity)
  const match = TEXT.exec(text)
  if (match === null) throw new TypeError(`not a timestamptz in ISO style: ${text}`)
  const part = (index: number): number => Number(match[index] ?? '0')
  const year = match[12] === undefined ? part(1) : 1 - part(1)
  const millis = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const date = new Date(0)
  // Not Date.UTC: it takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, part(2) - 1, part(3))
  date.setUTCHours(part(4), part(5), part(6), millis)
  const offsetMs = ((part(9) * 60 + part(10)) * 60 + part(11)) * 1000
  return instant(date.getTime() - (match[8] === '-' ? -offsetMs : offsetMs))
}
