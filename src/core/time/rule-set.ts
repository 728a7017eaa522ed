import { instant, type Instant } from '../../domain/instant.ts'
import { DAY_SECONDS } from '../../domain/time/calendar.ts'
import type { RuleParts } from '../../domain/time/rrule-text.ts'
import { countsElapsed, wallOf, type RuleWall, type WallSpan } from '../../domain/time/rrule-wall-clock.ts'
import { localOf } from '../../domain/time/wall-clock.ts'
import { segmentAt, type Segment, type Zone } from './zone.ts'

/**
 * The occurrences of a rule as a set of instants: what its wall-clock times are in each stretch of constant offset. They
 * are looked up in the set, so that no answer depends on where a search begins.
 */
export interface RuleSet {
  readonly next: (after: Instant) => Instant | null
  readonly previous: (before: Instant) => Instant | null
  /** How many lie strictly between two instants; counting may end where there are more than `enough`. */
  readonly count: (after: Instant, before: Instant, enough?: number) => number
  /** The last of so many from the start on, or of all if there are fewer; null if there is none. */
  readonly lastOf: (count: number) => Instant | null
}

/** When a rule begins and ends, both inclusive and in whole seconds. */
export interface RuleSpan {
  readonly start: Instant
  readonly end: Instant
  readonly zone: Zone
}

/** Further than any wall clock is from UTC. */
const MARGIN = 36 * 3_600

const NEVER: RuleSet = { next: () => null, previous: () => null, count: () => 0, lastOf: () => null }

export function createRuleSet(parts: RuleParts, span: RuleSpan): RuleSet {
  const second = span.start / 1_000
  const wall = wallOf(parts, { second, local: localOf(span.zone, span.start), zone: span.zone })
  if (wall === null) return NEVER
  const search: Search = {
    wall,
    zone: span.zone,
    isBothPasses: countsElapsed(parts),
    start: second,
    end: Math.floor(span.end / 1_000),
  }
  let ended = Infinity
  return {
    next: (after) => {
      const from = Math.max(search.start, Math.floor(after / 1_000) + 1)
      // That nothing is left takes the longest to find out, and stays true.
      const found = from < ended ? firstFrom(search, from) : null
      if (found === null) ended = Math.min(ended, from)
      return found === null ? null : instant(found * 1_000)
    },
    previous: (before) => {
      const found = lastUpTo(search, Math.min(search.end, Math.ceil(before / 1_000) - 1))
      return found === null ? null : instant(found * 1_000)
    },
    count: (after, before, enough = Infinity) => {
      const from = Math.max(search.start, Math.floor(after / 1_000) + 1)
      return countWithin(search, { from, to: Math.min(search.end + 1, Math.ceil(before / 1_000)) }, enough)
    },
    lastOf: (count) => {
      const found = lastOfMany(search, count)
      return found === null ? null : instant(found * 1_000)
    },
  }
}

interface Search {
  readonly wall: RuleWall
  readonly zone: Zone
  readonly isBothPasses: boolean
  /** In seconds since the epoch, both inclusive. */
  readonly start: number
  readonly end: number
}

/** UTC has one stretch for all years; whoever counts goes on from year to year. */
const MAX_STRETCH = 366 * DAY_SECONDS

/** Goes through the stretches of a span in order, without looking up those in which no day is named. */
function* stretches({ wall, zone }: Search, { from, to }: WallSpan): Generator<Segment & WallSpan> {
  for (let second = from; second < to;) {
    const day = wall.days.next(Math.floor((second - MARGIN) / DAY_SECONDS))
    second = Math.max(second, day * DAY_SECONDS - MARGIN)
    if (second >= to) return
    const segment = segmentAt(zone, second)
    const end = Math.min(to, segment.end, second + MAX_STRETCH)
    yield { ...segment, from: second, to: end }
    second = end
  }
}

/** What the clock shows in a part of a stretch; of rules that fire on one pass without what it has shown before. */
function shownIn({ isBothPasses }: Search, { from, to, offset, shown }: Segment & WallSpan): readonly WallSpan[] {
  const whole = { from: from + offset, to: to + offset }
  if (isBothPasses || shown.length === 0) return [whole]
  const spans: WallSpan[] = []
  let start = whole.from
  for (let index = 0; index < shown.length; index += 2) {
    spans.push({ from: start, to: Math.min(whole.to, shown[index] ?? start) })
    start = Math.max(start, shown[index + 1] ?? start)
  }
  return [...spans, { from: start, to: whole.to }].filter((span) => span.from < span.to)
}

function firstFrom(search: Search, from: number): number | null {
  for (const stretch of stretches(search, { from, to: search.end + 1 }))
    for (const span of shownIn(search, stretch)) {
      const found = search.wall.first(span, stretch.offset)
      if (found !== null) return found - stretch.offset
    }
  return null
}

function lastUpTo(search: Search, upTo: number): number | null {
  const { wall, zone, start } = search
  for (let second = upTo; second >= start;) {
    const day = wall.days.previous(Math.floor((second + MARGIN) / DAY_SECONDS))
    second = Math.min(second, (day + 1) * DAY_SECONDS + MARGIN)
    if (second < start) return null
    const segment = segmentAt(zone, second)
    const stretch = { ...segment, from: Math.max(start, segment.start), to: second + 1 }
    for (const span of [...shownIn(search, stretch)].reverse()) {
      const found = wall.last(span, segment.offset)
      if (found !== null) return found - segment.offset
    }
    second = segment.start - 1
  }
  return null
}

function countWithin(search: Search, window: WallSpan, enough: number): number {
  let count = 0
  for (const stretch of stretches(search, window)) {
    for (const span of shownIn(search, stretch)) count += search.wall.count(span, stretch.offset)
    if (count > enough) break
  }
  return count
}

function lastOfMany(search: Search, wanted: number): number | null {
  let [left, last]: [number, number | null] = [wanted, null]
  for (const stretch of stretches(search, { from: search.start, to: search.end + 1 }))
    for (const span of shownIn(search, stretch)) {
      const count = search.wall.count(span, stretch.offset)
      if (count < left) {
        left -= count
        last = count === 0 ? last : (search.wall.last(span, stretch.offset) ?? 0) - stretch.offset
        continue
      }
      let found = search.wall.first(span, stretch.offset) ?? span.from
      for (; left > 1; left -= 1) found = search.wall.first({ from: found + 1, to: span.to }, stretch.offset) ?? found
      return found - stretch.offset
    }
  return last
}
