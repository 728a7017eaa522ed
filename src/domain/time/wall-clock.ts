import { instant, type Instant } from '../instant.ts'
import { DAY_SECONDS, formatLocal } from './calendar.ts'
import { segmentAt, type Segment, type Zone } from '../../core/time/zone.ts'

const secondOf = (at: Instant): number => Math.floor(at / 1000)

/** Seconds that the zone is ahead of UTC at an instant. */
export const offsetAt = (zone: Zone, at: Instant): number => segmentAt(zone, secondOf(at)).offset

/** What the wall clock shows at an instant, as seconds since 1970-01-01 00:00. */
export const localOf = (zone: Zone, at: Instant): number => secondOf(at) + offsetAt(zone, at)

/**
 * The instant at which the wall clock of a zone shows a time: the first one if it shows the time twice. A time in a gap
 * means the instant as long after the change as the time is behind it.
 */
export function instantOf(zone: Zone, local: number): Instant {
  const guess = (offset: number): Instant => instant((local - offset) * 1_000)
  // The offsets a day before and after are those around any change near it: the earlier one that fits is the first pass.
  const offsets = [offsetAt(zone, guess(86_400)), offsetAt(zone, guess(-86_400))]
  const fitting = offsets.map(guess).filter((found) => localOf(zone, found) === local)
  const [first] = fitting.sort((a, b) => a - b)
  return first ?? guess(offsets[0] ?? 0)
}

/** The date on the wall, in days since 1970-01-01. */
export const localDayOf = (zone: Zone, at: Instant): number => Math.floor(localOf(zone, at) / DAY_SECONDS)

/** `2026-03-29 02:30` */
export const formatInZone = (zone: Zone, at: Instant): string => formatLocal(localOf(zone, at))

/** `+02:00`, or `-00:44:30` as Monrovia had it. */
export function formatOffset(offset: number): string {
  const size = Math.abs(offset)
  const parts = [Math.floor(size / 3600), Math.floor(size / 60) % 60, size % 60]
  const shown = size % 60 === 0 ? parts.slice(0, 2) : parts
  return (offset < 0 ? '-' : '+') + shown.map((part) => String(part).padStart(2, '0')).join(':')
}

/** The stretches that begin with a change of offset in (after, upTo], in order. */
export function transitionsBetween(
  zone: Zone,
  window: { readonly after: Instant; readonly upTo: Instant },
): readonly Segment[] {
  const found: Segment[] = []
  let segment = segmentAt(zone, secondOf(window.after))
  while (segment.end * 1000 <= window.upTo) {
    segment = segmentAt(zone, segment.end)
    if (segment.offset !== segment.offsetBefore && segment.since === segment.start) found.push(segment)
  }
  return found
}

/**
 * The end of the stretch around an instant in which the wall shows one and the same date. Not always the end of the
 * date: where the clock goes back over midnight, a date comes in two parts.
 */
export function endOfLocalDay(zone: Zone, at: Instant): Instant {
  const segment = segmentAt(zone, secondOf(at))
  const midnight = (localDayOf(zone, at) + 1) * DAY_SECONDS - segment.offset
  return instant(Math.min(midnight, segment.end) * 1000)
}

/** The beginning of the same stretch. */
export function startOfLocalDay(zone: Zone, at: Instant): Instant {
  const segment = segmentAt(zone, secondOf(at))
  const midnight = localDayOf(zone, at) * DAY_SECONDS - segment.offset
  return instant(Math.max(midnight, segment.start) * 1000)
}

/** The stretches of time, from (inclusive) and to (exclusive), in which the wall shows a given date. */
export function spansOfLocalDay(zone: Zone, day: number): readonly { readonly from: Instant; readonly to: Instant }[] {
  const spans: { from: Instant; to: Instant }[] = []
  // No clock is more than fifteen hours from UTC, so the date lies inside two days around the same date in UTC.
  const end = instant((day + 2) * DAY_SECONDS * 1000)
  let at = instant((day - 1) * DAY_SECONDS * 1000)
  while (at < end) {
    const to = endOfLocalDay(zone, at)
    if (localDayOf(zone, at) === day) spans.push({ from: at, to })
    at = to
  }
  return spans
}
