import { flawed, orNull, parsed, parseFields, type Parsed } from '../input.ts'
import { instant, type Instant } from '../instant.ts'
import { DAY_SECONDS } from './calendar.ts'
import { localOf } from './wall-clock.ts'
import { parseZone, segmentAt, type Zone } from '../../core/time/zone.ts'

/**
 * A stretch of every day, read off the wall clock of a zone: what the clock shows decides, so that a window of
 * 22:00-06:00 ends when people see 06:00, whatever the clock did during the night. A window whose end is not after its
 * start wraps midnight. Both are seconds after midnight; the end may be 24:00.
 */
export interface DailyWindow {
  readonly start: number
  readonly end: number
  readonly timezone: Zone
}

const FORM = '{start: "HH:MM", end: "HH:MM", timezone}'
const TIME = /^(\d{2}):(\d{2})$/

/** Reads `{start, end, timezone}`; without a zone of its own the window takes the fallback, if there is one. */
export function parseDailyWindow(field: string, value: unknown, fallback?: Zone): Parsed<DailyWindow> {
  const fields = parseFields(field, value, {
    start: (name, given) => parseTimeOfDay(name, given, 'start'),
    end: (name, given) => parseTimeOfDay(name, given, 'end'),
    timezone: orNull(parseZone),
  })
  if (!fields.ok) return fields
  const { start, end, timezone } = fields.value
  const zone = timezone ?? fallback
  if (start === undefined || end === undefined || zone === undefined) {
    const missing = start === undefined ? 'start' : end === undefined ? 'end' : 'timezone'
    return flawed({ field: `${field}.${missing}`, value: undefined, message: 'is missing', allowed: FORM })
  }
  // Nobody can tell whether the same time twice means always or never, so it is not guessed.
  if (start === end)
    return flawed({ field, value, message: 'must not start when it ends', allowed: '00:00-24:00 for the whole day' })
  return parsed({ start, end, timezone: zone })
}

function parseTimeOfDay(field: string, value: unknown, edge: 'start' | 'end'): Parsed<number> {
  const allowed = edge === 'end' ? 'HH:MM from 00:00 to 24:00' : 'HH:MM from 00:00 to 23:59'
  const match = typeof value === 'string' ? TIME.exec(value) : null
  if (match === null) return flawed({ field, value, message: 'must be a time of day', allowed })
  const [hour, minute] = [Number(match[1]), Number(match[2])]
  const second = hour * 3600 + minute * 60
  const last = edge === 'end' ? DAY_SECONDS : DAY_SECONDS - 60
  if (minute > 59 || second > last) return flawed({ field, value, message: 'is no time of day', allowed })
  return parsed(second)
}

/** Whether the wall clock is inside the window: the start is, the end is not. */
export function isInside(window: DailyWindow, at: Instant): boolean {
  const time = timeOfDay(window.timezone, at)
  return window.start < window.end
    ? time >= window.start && time < window.end
    : time >= window.start || time < window.end
}

/**
 * When the window around an instant ends: the first instant outside, and for a window of the whole day the next
 * midnight. An instant outside is its own answer.
 */
export function windowEnd(window: DailyWindow, at: Instant): Instant {
  if (!isInside(window, at)) return at
  const zone = window.timezone
  const time = timeOfDay(zone, at)
  const midnight = localOf(zone, at) - time
  const wanted = midnight + (window.end > time ? window.end : window.end + DAY_SECONDS)
  let segment = segmentAt(zone, Math.floor(at / 1000))
  while (wanted - segment.offset >= segment.end) {
    // The clock is moved before it shows the end, and may be moved out of the window.
    if (!isInside(window, instant(segment.end * 1000))) return instant(segment.end * 1000)
    segment = segmentAt(zone, segment.end)
  }
  // A window of the whole day is never left; a clock that jumps over midnight has passed it where it jumped.
  return instant(Math.max(wanted - segment.offset, segment.start) * 1000)
}

/** When the window opens next: the first instant inside. An instant inside is its own answer. */
export const windowStart = (window: DailyWindow, at: Instant): Instant =>
  windowEnd({ ...window, start: window.end % DAY_SECONDS, end: window.start === 0 ? DAY_SECONDS : window.start }, at)

/** What the wall clock shows, in seconds after midnight. */
export function timeOfDay(zone: Zone, at: Instant): number {
  const local = localOf(zone, at)
  return local - Math.floor(local / DAY_SECONDS) * DAY_SECONDS
}
