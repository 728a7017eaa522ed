import { instant } from '../instant.ts'
import { DAY_SECONDS } from './calendar.ts'
import { daysOf, type RuleDays } from './rrule-days.ts'
import { lowerBound, selectPositions, type RuleTimes, timesInPeriod, timesOf } from './rrule-times.ts'
import type { RuleParts } from './rrule-text.ts'
import { transitionsBetween } from './wall-clock.ts'
import type { Zone } from './zone.ts'

/** Wall-clock seconds since 1970, from (inclusive) and to (exclusive). */
export interface WallSpan {
  readonly from: number
  readonly to: number
}

/** The wall-clock times of a rule. Lookups are limited to spans of wall-clock time that exist in the zone. */
export interface RuleWallClock {
  /** The next or previous day that can have a time, including the given day. */
  readonly days: Pick<RuleDays, 'next' | 'previous'>
  /** The first or last time within a span, or null. `offset` is the UTC offset of the span in seconds. */
  readonly first: (span: WallSpan, offset: number) => number | null
  readonly last: (span: WallSpan, offset: number) => number | null
  readonly count: (span: WallSpan, offset: number) => number
}

/** The start of a rule: in seconds since the epoch, and in wall-clock time of its zone. */
export interface RuleStart {
  readonly second: number
  readonly local: number
  readonly zone: Zone
}

/** Whether the rule counts elapsed time. Such a rule fires on both passes of a repeated hour. */
export const countsElapsed = ({ frequency, interval }: RuleParts): boolean =>
  frequency === 'MINUTELY' || frequency === 'SECONDLY' || (frequency === 'HOURLY' && interval > 1)

/** The wall-clock times of a rule; null if it has no occurrences. */
export function createWallClock(parts: RuleParts, begin: RuleStart): RuleWallClock | null {
  const startDay = Math.floor(begin.local / DAY_SECONDS)
  const times = timesOf(parts, begin.local - startDay * DAY_SECONDS)
  if (times === null) return null
  const days = daysOf(parts, startDay)
  const positions = times.unit === DAY_SECONDS ? positionsOf(parts) : null
  if (positions?.length === 0) return null
  if (positions !== null) return createPositionedWallClock({ days, times, positions, zone: begin.zone })
  const isPhased = times.unit < DAY_SECONDS && parts.interval > 1
  const phaseOf = (day: number, offset: number): number => {
    if (!isPhased) return 0
    const unit = Math.floor((begin.second + offset) / times.unit) - (day * DAY_SECONDS) / times.unit
    return ((unit % parts.interval) + parts.interval) % parts.interval
  }
  if (isPhased && !canMatchTimes(times, parts.interval, Math.floor(begin.local / times.unit))) return null
  return createPlainWallClock(days, times, phaseOf)
}

/** Clocks change by multiples of 15 minutes. In seconds. */
const QUARTER_HOUR = 900

/**
 * Whether the units of a rule can ever be at a time of its lists: every 60th second from :00 is never at :30. Without
 * this check, a search would go through all years of the zone.
 */
function canMatchTimes({ unit, count }: RuleTimes, interval: number, startUnit: number): boolean {
  if (unit > QUARTER_HOUR) return true
  const common = greatestCommonDivisor(greatestCommonDivisor(interval, DAY_SECONDS / unit), QUARTER_HOUR / unit)
  for (let phase = startUnit % common; phase < interval; phase += common) if (count(phase) > 0) return true
  return false
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))

/** The BYSETPOS positions that a period can have (of 10 times there is no 11th); null without BYSETPOS. */
function positionsOf(parts: RuleParts): readonly number[] | null {
  const maxTimes = timesInPeriod(parts)
  const positions = parts.other.get('BYSETPOS')?.split(',').map(Number)
  return positions?.filter((position) => Math.abs(position) <= maxTimes) ?? null
}

type PhaseOf = (day: number, offset: number) => number

function createPlainWallClock(days: RuleDays, times: RuleTimes, phaseOf: PhaseOf): RuleWallClock {
  return {
    days,
    first: ({ from, to }, offset) => {
      for (let day = days.next(dayOf(from)); day * DAY_SECONDS < to; day = days.next(day + 1)) {
        const phase = phaseOf(day, offset)
        const index = times.rank(phase, Math.max(0, from - day * DAY_SECONDS))
        if (index >= times.count(phase)) continue
        const found = day * DAY_SECONDS + times.at(phase, index)
        return found < to ? found : null
      }
      return null
    },
    last: ({ from, to }, offset) => {
      for (let day = days.previous(dayOf(to - 1)); (day + 1) * DAY_SECONDS > from; day = days.previous(day - 1)) {
        const phase = phaseOf(day, offset)
        const index = times.rank(phase, Math.min(DAY_SECONDS, to - day * DAY_SECONDS)) - 1
        if (index < 0) continue
        const found = day * DAY_SECONDS + times.at(phase, index)
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

interface PositionedRule {
  readonly days: RuleDays
  readonly times: RuleTimes
  readonly positions: readonly number[]
  readonly zone: Zone
}

/** The times of a rule with BYSETPOS, which selects among all existing times of a day, week, month or year. */
function createPositionedWallClock(rule: PositionedRule): RuleWallClock {
  const { days } = rule
  let cached: { readonly first: number; readonly found: readonly number[] } = { first: Number.NaN, found: [] }
  const timesAround = (day: number): readonly number[] => {
    const period = days.periodOf(day)
    if (cached.first !== period.first) cached = { first: period.first, found: positionedTimes(rule, period) }
    return cached.found
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

/** The times of one period that BYSETPOS selects. */
function positionedTimes(
  { days, times, positions, zone }: PositionedRule,
  { first, last }: { readonly first: number; readonly last: number },
): readonly number[] {
  const selectedDays: number[] = []
  for (let day = days.next(first); day <= last; day = days.next(day + 1)) selectedDays.push(day)
  const perDay = times.count(0)
  const timeAt = (index: number): number =>
    (selectedDays[Math.floor(index / perDay)] ?? 0) * DAY_SECONDS + times.at(0, index % perDay)
  const indexes = selectPositions(positions, selectedDays.length * perDay)
  // Look up clock changes only if a position is left, because that can load a year of the zone.
  if (indexes.length === 0) return []
  const gaps = gapsWithin(zone, { from: first * DAY_SECONDS, to: (last + 1) * DAY_SECONDS })
  if (gaps.length === 0) return indexes.map(timeAt)
  const shown = Array.from({ length: selectedDays.length * perDay }, (_, index) => timeAt(index)).filter(
    (time) => !gaps.some(({ from, to }) => time >= from && time < to),
  )
  return selectPositions(positions, shown.length).map((index) => shown[index] ?? 0)
}

/** The gaps within a span: wall-clock times that do not exist in the zone. */
function gapsWithin(zone: Zone, { from, to }: WallSpan): readonly WallSpan[] {
  const window = { after: instant((from - DAY_SECONDS) * 1_000), upTo: instant((to + DAY_SECONDS) * 1_000) }
  return transitionsBetween(zone, window)
    .filter(({ offset, offsetBefore }) => offset > offsetBefore)
    .map(({ start, offset, offsetBefore }) => ({ from: start + offsetBefore, to: start + offset }))
    .filter((gap) => gap.from < to && gap.to > from)
}
