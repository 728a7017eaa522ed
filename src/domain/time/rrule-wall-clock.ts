import { instant } from '../instant.ts'
import { DAY_SECONDS } from './calendar.ts'
import { daysOf, type RuleDays } from './rrule-days.ts'
import { lowerBound, placesAmong, type RuleTimes, timesInPeriod, timesOf } from './rrule-times.ts'
import type { RuleParts } from './rrule-text.ts'
import { transitionsBetween } from './wall-clock.ts'
import type { Zone } from '../../core/time/zone.ts'

/** Wall-clock seconds since 1970, from (inclusive) and to (exclusive). */
export interface WallSpan {
  readonly from: number
  readonly to: number
}

/** The wall-clock times of a rule, looked up within spans that the clock shows. */
export interface RuleWall {
  /** The first day at or after one on which there may be a time, and the last at or before one. */
  readonly days: Pick<RuleDays, 'next' | 'previous'>
  /** The first and the last time within a span, in which the clock is `offset` seconds ahead of UTC; or null. */
  readonly first: (span: WallSpan, offset: number) => number | null
  readonly last: (span: WallSpan, offset: number) => number | null
  readonly count: (span: WallSpan, offset: number) => number
}

/** Where a rule begins: its instant in seconds, and what the clock of its zone shows then. */
export interface RuleBegin {
  readonly second: number
  readonly local: number
  readonly zone: Zone
}

/** True of rules that count elapsed time: they go through both passes of an hour that the clock shows twice. */
export const countsElapsed = ({ frequency, interval }: RuleParts): boolean =>
  frequency === 'MINUTELY' || frequency === 'SECONDLY' || (frequency === 'HOURLY' && interval > 1)

/** Null for a rule that can never come. */
export function wallOf(parts: RuleParts, begin: RuleBegin): RuleWall | null {
  const startDay = Math.floor(begin.local / DAY_SECONDS)
  const times = timesOf(parts, begin.local - startDay * DAY_SECONDS)
  if (times === null) return null
  const days = daysOf(parts, startDay)
  const positions = times.unit === DAY_SECONDS ? positionsOf(parts) : null
  if (positions?.length === 0) return null
  if (positions !== null) return positionedWall({ days, times, positions, zone: begin.zone })
  const isPhased = times.unit < DAY_SECONDS && parts.interval > 1
  const phaseOf = (day: number, offset: number): number => {
    if (!isPhased) return 0
    const unit = Math.floor((begin.second + offset) / times.unit) - (day * DAY_SECONDS) / times.unit
    return ((unit % parts.interval) + parts.interval) % parts.interval
  }
  if (isPhased && !canMeet(times, parts.interval, Math.floor(begin.local / times.unit))) return null
  return plainWall(days, times, phaseOf)
}

/** Clocks are changed by whole quarters of an hour. */
const QUARTER = 900

/**
 * False for a rule whose units never are at a time that its lists name: every sixtieth second from :00 on is never at :30.
 * Looking for it would mean to look up all years of the zone.
 */
function canMeet({ unit, count }: RuleTimes, interval: number, startUnit: number): boolean {
  if (unit > QUARTER) return true
  const common = greatestDivisor(greatestDivisor(interval, DAY_SECONDS / unit), QUARTER / unit)
  for (let phase = startUnit % common; phase < interval; phase += common) if (count(phase) > 0) return true
  return false
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))

/** The positions that a period can have, null without BYSETPOS: of ten hours of a day there is no eleventh. */
function positionsOf(parts: RuleParts): readonly number[] | null {
  const most = timesInPeriod(parts)
  const positions = parts.other.get('BYSETPOS')?.split(',').map(Number)
  return positions?.filter((position) => Math.abs(position) <= most) ?? null
}

type PhaseOf = (day: number, offset: number) => number

function plainWall(days: RuleDays, times: RuleTimes, phaseOf: PhaseOf): RuleWall {
  return {
    days,
    first: ({ from, to }, offset) => {
      for (let day = days.next(dayOf(from)); day * DAY_SECONDS < to; day = days.next(day + 1)) {
        const phase = phaseOf(day, offset)
        const place = times.rank(phase, Math.max(0, from - day * DAY_SECONDS))
        if (place >= times.count(phase)) continue
        const found = day * DAY_SECONDS + times.at(phase, place)
        return found < to ? found : null
      }
      return null
    },
    last: ({ from, to }, offset) => {
      for (let day = days.previous(dayOf(to - 1)); (day + 1) * DAY_SECONDS > from; day = days.previous(day - 1)) {
        const phase = phaseOf(day, offset)
        const place = times.rank(phase, Math.min(DAY_SECONDS, to - day * DAY_SECONDS)) - 1
        if (place < 0) continue
        const found = day * DAY_SECONDS + times.at(phase, place)
        return found >= from ? found : null
      }
      return null
    },
    count: ({ from, to }, offset) => {
      let count = 0
      for (let day = days.next(dayOf(from)); day * DAY_SECONDS < to; day = days.next(day + 1)) {
        const phase = phaseOf(day, offset)
        const start = day * DAY_SECONDS
        count += to - start >= DAY_SECONDS ? times.count(phase) : times.rank(phase, to - start)
        if (from > start) count -= times.rank(phase, from - start)
      }
      return count
    },
  }
}

const dayOf = (local: number): number => Math.floor(local / DAY_SECONDS)

interface Positioned {
  readonly days: RuleDays
  readonly times: RuleTimes
  readonly positions: readonly number[]
  readonly zone: Zone
}

/** BYSETPOS counts among all times of a day, week, month or year that the clock shows. */
function positionedWall(rule: Positioned): RuleWall {
  const { days } = rule
  let known: { readonly first: number; readonly found: readonly number[] } = { first: Number.NaN, found: [] }
  const timesAround = (day: number): readonly number[] => {
    const period = days.periodOf(day)
    if (known.first !== period.first) known = { first: period.first, found: namedTimes(rule, period) }
    return known.found
  }
  const rank = (found: readonly number[], local: number): number =>
    lowerBound(found, local, { from: 0, to: found.length })
  return {
    days,
    first: ({ from, to }) => {
      for (let day = days.next(days.periodOf(dayOf(from)).first); day * DAY_SECONDS < to;) {
        const found = timesAround(day)
        const time = found[rank(found, from)]
        if (time !== undefined) return time < to ? time : null
        day = days.next(days.periodOf(day).last + 1)
      }
      return null
    },
    last: ({ from, to }) => {
      let day = days.previous(days.periodOf(dayOf(to - 1)).last)
      while (day !== -Infinity && (days.periodOf(day).last + 1) * DAY_SECONDS > from) {
        const found = timesAround(day)
        const time = found[rank(found, to) - 1]
        if (time !== undefined) return time >= from ? time : null
        day = days.previous(days.periodOf(day).first - 1)
      }
      return null
    },
    count: ({ from, to }) => {
      let count = 0
      for (let day = days.next(days.periodOf(dayOf(from)).first); day * DAY_SECONDS < to;) {
        const found = timesAround(day)
        count += rank(found, to) - rank(found, from)
        day = days.next(days.periodOf(day).last + 1)
      }
      return count
    },
  }
}

/** The times of one period that its positions name. */
function namedTimes(
  { days, times, positions, zone }: Positioned,
  { first, last }: { readonly first: number; readonly last: number },
): readonly number[] {
  const named: number[] = []
  for (let day = days.next(first); day <= last; day = days.next(day + 1)) named.push(day)
  const perDay = times.count(0)
  const timeAt = (place: number): number =>
    (named[Math.floor(place / perDay)] ?? 0) * DAY_SECONDS + times.at(0, place % perDay)
  const places = placesAmong(positions, named.length * perDay)
  // What the clock does is only asked where a position is left: a year may have to be looked up.
  if (places.length === 0) return []
  const gaps = gapsWithin(zone, { from: first * DAY_SECONDS, to: (last + 1) * DAY_SECONDS })
  if (gaps.length === 0) return places.map(timeAt)
  const shown = Array.from({ length: named.length * perDay }, (_, place) => timeAt(place)).filter(
    (time) => !gaps.some(({ from, to }) => time >= from && time < to),
  )
  return placesAmong(positions, shown.length).map((place) => shown[place] ?? 0)
}

/** The wall-clock times of a span that the clock of a zone leaves out. */
function gapsWithin(zone: Zone, { from, to }: WallSpan): readonly WallSpan[] {
  const window = { after: instant((from - DAY_SECONDS) * 1_000), upTo: instant((to + DAY_SECONDS) * 1_000) }
  return transitionsBetween(zone, window)
    .filter(({ offset, offsetBefore }) => offset > offsetBefore)
    .map(({ start, offset, offsetBefore }) => ({ from: start + offsetBefore, to: start + offset }))
    .filter((gap) => gap.from < to && gap.to > from)
}
