import { flawed, orNull, parsed, parseFields, type Parsed } from '../input.ts'
import { instant, type Instant } from '../instant.ts'
import { DAY_SECONDS } from './calendar.ts'
import { localTimeAt } from './wall-clock.ts'
import { parseZone, segmentAt, type Zone } from './zone.ts'

/**
 * A daily time window in the wall-clock time of a zone: 22:00-06:00 ends when clocks show 06:00, even if they changed
 * during the night. A window whose end is not after its start wraps midnight. Both are seconds after midnight; the end
 * can be 24:00.
 */
export interface DailyWindow {
  readonly start: number
  readonly end: number
  readonly timezone: Zone
}

const WINDOW_FORMAT = '{start: "HH:MM", end: "HH:MM", timezone}'
const TIME_OF_DAY_PATTERN = /^(\d{2}):(\d{2})$/

/** Parses `{start, end, timezone}`. If `timezone` is not set, the fallback zone is used. */
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
    return flawed({ field: `${field}.${missing}`, value: undefined, message: 'is missing', allowed: WINDOW_FORMAT })
  }
  // Equal times could mean always or never, so they are rejected.
  if (start === end)
    return flawed({
      field,
      value,
      message: 'must start and end at different times',
      allowed: '00:00-24:00 for the whole day',
    })
  return parsed({ start, end, timezone: zone })
}

function parseTimeOfDay(field: string, value: unknown, edge: 'start' | 'end'): Parsed<number> {
  const allowed = edge === 'end' ? 'HH:MM from 00:00 to 24:00' : 'HH:MM from 00:00 to 23:59'
  const match = typeof value === 'string' ? TIME_OF_DAY_PATTERN.exec(value) : null
  if (match === null) return flawed({ field, value, message: 'must be a time of day', allowed })
  const [hour, minute] = [Number(match[1]), Number(match[2])]
  const second = hour * 3600 + minute * 60
  const last = edge === 'end' ? DAY_SECONDS : DAY_SECONDS - 60
  if (minute > 59 || second > last) return flawed({ field, value, message: 'is not a time of day', allowed })
  return parsed(second)
}

/** Whether a time is inside the window. The start is inclusive, the end exclusive. */
export function isInsideWindow(window: DailyWindow, at: Instant): boolean {
  const time = secondOfDay(window.timezone, at)
  return window.start < window.end
    ? time >= window.start && time < window.end
    : time >= window.start || time < window.end
}

/**
 * The end of the window that contains a time: the first time outside, or the next midnight if the window is the whole
 * day. Returns the given time if it is outside the window.
 */
export function windowEnd(window: DailyWindow, at: Instant): Instant {
  if (!isInsideWindow(window, at)) return at
  const zone = window.timezone
  const time = secondOfDay(zone, at)
  const midnight = localTimeAt(zone, at) - time
  const wanted = midnight + (window.end > time ? window.end : window.end + DAY_SECONDS)
  let segment = segmentAt(zone, Math.floor(at / 1000))
  while (wanted - segment.offset >= segment.end) {
    // The clock changes before the end of the window, and the change may leave the window.
    if (!isInsideWindow(window, instant(segment.end * 1000))) return instant(segment.end * 1000)
    segment = segmentAt(zone, segment.end)
  }
  // If the clock skips midnight, a whole-day window ends at the change.
  return instant(Math.max(wanted - segment.offset, segment.start) * 1000)
}

/** The next start of the window. Returns the given time if it is inside the window. */
export const windowStart = (window: DailyWindow, at: Instant): Instant =>
  windowEnd({ ...window, start: window.end % DAY_SECONDS, end: window.start === 0 ? DAY_SECONDS : window.start }, at)

/** The wall-clock time of day in seconds after midnight. */
export function secondOfDay(zone: Zone, at: Instant): number {
  const local = localTimeAt(zone, at)
  return local - Math.floor(local / DAY_SECONDS) * DAY_SECONDS
}
