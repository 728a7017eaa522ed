import { instant, type Instant } from '../instant.ts'
import { DAY_SECONDS, formatLocal } from './calendar.ts'
import { segmentAt, type Segment, type Zone } from './zone.ts'

const epochSecond = (at: Instant): number => Math.floor(at / 1000)

/** The UTC offset of the zone at a time, in seconds. */
export const offsetAt = (zone: Zone, at: Instant): number => segmentAt(zone, epochSecond(at)).offset

/** The wall-clock time at an instant, as seconds since 1970-01-01 00:00. */
export const localTimeAt = (zone: Zone, at: Instant): number => epochSecond(at) + offsetAt(zone, at)

/**
 * The instant of a wall-clock time in a zone: the first pass if the time occurs twice. A time in a gap is shifted
 * forward by the length of the gap.
 */
export function instantOfLocal(zone: Zone, local: number): Instant {
  const guess = (offset: number): Instant => instant((local - offset) * 1_000)
  // The offsets a day before and after are those around any nearby change. The earliest fitting instant is the first
  // pass.
  const offsets = [offsetAt(zone, guess(86_400)), offsetAt(zone, guess(-86_400))]
  const fitting = offsets.map(guess).filter((found) => localTimeAt(zone, found) === local)
  const [first] = fitting.sort((a, b) => a - b)
  return first ?? guess(offsets[0] ?? 0)
}

/** The local date in days since 1970-01-01. */
export const localDayAt = (zone: Zone, at: Instant): number => Math.floor(localTimeAt(zone, at) / DAY_SECONDS)

/** `2026-03-29 02:30` */
export const formatInZone = (zone: Zone, at: Instant): string => formatLocal(localTimeAt(zone, at))

/** `+02:00`, or `-00:44:30` as Monrovia had it. */
export function formatOffset(offset: number): string {
  const size = Math.abs(offset)
  const parts = [Math.floor(size / 3600), Math.floor(size / 60) % 60, size % 60]
  const shown = size % 60 === 0 ? parts.slice(0, 2) : parts
  return (offset < 0 ? '-' : '+') + shown.map((part) => String(part).padStart(2, '0')).join(':')
}

/** The segments that start with a change of offset in (after, upTo], in order. */
export function transitionsBetween(
  zone: Zone,
  window: { readonly after: Instant; readonly upTo: Instant },
): readonly Segment[] {
  const found: Segment[] = []
  let segment = segmentAt(zone, epochSecond(window.after))
  while (segment.end * 1000 <= window.upTo) {
    segment = segmentAt(zone, segment.end)
    if (segment.offset !== segment.offsetBefore && segment.changedAt === segment.start) found.push(segment)
  }
  return found
}

/**
 * The end of the contiguous period with the same local date. A date can have two such periods if clocks go back over
 * midnight.
 */
export function endOfLocalDay(zone: Zone, at: Instant): Instant {
  const segment = segmentAt(zone, epochSecond(at))
  const midnight = (localDayAt(zone, at) + 1) * DAY_SECONDS - segment.offset
  return instant(Math.min(midnight, segment.end) * 1000)
}

/** The start of the same period. */
export function startOfLocalDay(zone: Zone, at: Instant): Instant {
  const segment = segmentAt(zone, epochSecond(at))
  const midnight = localDayAt(zone, at) * DAY_SECONDS - segment.offset
  return instant(Math.max(midnight, segment.start) * 1000)
}

/** The periods, from (inclusive) to (exclusive), with a given local date. */
export function spansOfLocalDay(zone: Zone, day: number): readonly { readonly from: Instant; readonly to: Instant }[] {
  const spans: { from: Instant; to: Instant }[] = []
  // UTC offsets are at most 15 hours, so the local date is within a day of the same UTC date.
  const end = instant((day + 2) * DAY_SECONDS * 1000)
  let at = instant((day - 1) * DAY_SECONDS * 1000)
  while (at < end) {
    const to = endOfLocalDay(zone, at)
    if (localDayAt(zone, at) === day) spans.push({ from: at, to })
    at = to
  }
  return spans
}
