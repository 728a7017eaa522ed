import { type Flaw, flawed, parsed, type Parsed } from '../input.ts'
import { durationMs, type Instant, instant, isFormattable } from '../instant.ts'
import { DAY_SECONDS, dayFromCivil, dayFromText, LAST_YEAR } from './calendar.ts'
import { countTicks, nextTick, previousTick } from './interval.ts'
import { parseRuleParts, type RuleParts, ruleText } from './rrule-text.ts'
import { densityFlaw, unitOf } from './rrule-times.ts'
import { countsElapsed, type RuleWallClock, createWallClock, type WallSpan } from './rrule-wall-clock.ts'
import { instantOfLocal, localTimeAt } from './wall-clock.ts'
import { parseZone, type Segment, segmentAt, UTC, type Zone } from './zone.ts'

interface RuleContext {
  /** The time zone of the schedule; null if none was given. */
  readonly zone: Zone | null
  readonly defaultZone: Zone
  /** Used as DTSTART if the text has none. */
  readonly start: Instant
  /** Whether `start` is the time of creation because no start was given. Then the start itself is not an occurrence. */
  readonly isNew?: boolean | undefined
  /** Whether the rule was stored before. Then it is accepted even if it is now too dense. */
  readonly isStored?: boolean | undefined
}

type RuleProblem = Pick<Flaw, 'message' | 'allowed' | 'position'>

interface RuleLines {
  readonly rule: string
  readonly ruleAt: number
  readonly start: string | null
}

/** Splits the text into the rule and its DTSTART line. */
function splitLines(text: string): RuleLines | RuleProblem {
  const lines = [...text.matchAll(/[^\r\n]+/g)].filter((match) => match[0].trim() !== '')
  const starts = lines.filter((line) => /^\s*DTSTART/i.test(line[0]))
  const rules = lines.filter((line) => !starts.includes(line))
  const [rule, second] = rules
  const wanted = 'one RRULE line and at most one DTSTART line; put excluded dates in exclude'
  if (rule === undefined) return { message: 'has no RRULE line', allowed: wanted, position: text.length }
  if (second !== undefined) return { message: 'has more than one RRULE line', allowed: wanted, position: second.index }
  if (starts.length > 1)
    return { message: 'has more than one DTSTART', allowed: wanted, position: starts[1]?.index ?? 0 }
  const prefix = /^\s*(RRULE:)?/i.exec(rule[0])?.[0] ?? ''
  const start = starts[0]?.[0].trim() ?? null
  return { rule: rule[0].slice(prefix.length).trimEnd(), ruleAt: rule.index + prefix.length, start }
}

interface ZonedStart {
  readonly zone: Zone
  readonly start: Instant
}

/**
 * The occurrences of a rule as a set of instants: its wall-clock times in each segment (period of constant UTC offset).
 * Searches look up members of the set, so their results do not depend on where they start.
 */
interface RuleSet {
  readonly next: (after: Instant) => Instant | null
  readonly previous: (before: Instant) => Instant | null
  /** The number of occurrences strictly between two times. Counting may stop above `enough`. */
  readonly count: (after: Instant, before: Instant, limit?: number) => number
  /** The last of the first `count` occurrences, or of all if there are fewer; null if there is none. */
  readonly lastOf: (count: number) => Instant | null
}

/** The start and end of a rule; both inclusive and in whole seconds. */
interface RuleSpan {
  readonly start: Instant
  readonly end: Instant
  readonly zone: Zone
}

/** More than any UTC offset, in seconds. */
const SEARCH_MARGIN = 36 * 3_600

const EMPTY_RULE_SET: RuleSet = { next: () => null, previous: () => null, count: () => 0, lastOf: () => null }

function createRuleSet(parts: RuleParts, span: RuleSpan): RuleSet {
  const second = span.start / 1_000
  const wallClock = createWallClock(parts, { second, local: localTimeAt(span.zone, span.start), zone: span.zone })
  if (wallClock === null) return EMPTY_RULE_SET
  const search: RuleSearch = {
    wallClock,
    zone: span.zone,
    firesOnBothPasses: countsElapsed(parts),
    start: second,
    end: Math.floor(span.end / 1_000),
  }
  let ended = Infinity
  return {
    next: (after) => {
      const from = Math.max(search.start, Math.floor(after / 1_000) + 1)
      // Finding that no occurrence is left takes longest, so that result is kept.
      const found = from < ended ? firstFrom(search, from) : null
      if (found === null) ended = Math.min(ended, from)
      return found === null ? null : instant(found * 1_000)
    },
    previous: (before) => {
      const found = lastUpTo(search, Math.min(search.end, Math.ceil(before / 1_000) - 1))
      return found === null ? null : instant(found * 1_000)
    },
    count: (after, before, limit = Infinity) => {
      const from = Math.max(search.start, Math.floor(after / 1_000) + 1)
      return countWithin(search, { from, to: Math.min(search.end + 1, Math.ceil(before / 1_000)) }, limit)
    },
    lastOf: (count) => {
      const found = lastOfFirst(search, count)
      return found === null ? null : instant(found * 1_000)
    },
  }
}

interface RuleSearch {
  readonly wallClock: RuleWallClock
  readonly zone: Zone
  readonly firesOnBothPasses: boolean
  /** `start` and `end` in seconds since the epoch; both inclusive. */
  readonly start: number
  readonly end: number
}

/** UTC has one segment for all years; counting goes year by year so that it can stop early. */
const MAX_STEP_SECONDS = 366 * DAY_SECONDS

/** The segments of a span in order. Skips segments without matching days, so that they are not loaded. */
function* segmentsWithin({ wallClock, zone }: RuleSearch, { from, to }: WallSpan): Generator<Segment & WallSpan> {
  for (let second = from; second < to;) {
    const day = wallClock.days.next(Math.floor((second - SEARCH_MARGIN) / DAY_SECONDS))
    second = Math.max(second, day * DAY_SECONDS - SEARCH_MARGIN)
    if (second >= to) return
    const segment = segmentAt(zone, second)
    const end = Math.min(to, segment.end, second + MAX_STEP_SECONDS)
    yield { ...segment, from: second, to: end }
    second = end
  }
}

/** The wall-clock spans of a segment. For rules that fire on the first pass only, without repeated times. */
function wallSpansOf(
  { firesOnBothPasses: isBothPasses }: RuleSearch,
  { from, to, offset, repeated: shown }: Segment & WallSpan,
): readonly WallSpan[] {
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

function firstFrom(search: RuleSearch, from: number): number | null {
  for (const part of segmentsWithin(search, { from, to: search.end + 1 }))
    for (const span of wallSpansOf(search, part)) {
      const found = search.wallClock.first(span, part.offset)
      if (found !== null) return found - part.offset
    }
  return null
}

function lastUpTo(search: RuleSearch, upTo: number): number | null {
  const { wallClock, zone, start } = search
  for (let second = upTo; second >= start;) {
    const day = wallClock.days.previous(Math.floor((second + SEARCH_MARGIN) / DAY_SECONDS))
    second = Math.min(second, (day + 1) * DAY_SECONDS + SEARCH_MARGIN)
    if (second < start) return null
    const segment = segmentAt(zone, second)
    const part = { ...segment, from: Math.max(start, segment.start), to: second + 1 }
    for (const span of [...wallSpansOf(search, part)].reverse()) {
      const found = wallClock.last(span, segment.offset)
      if (found !== null) return found - segment.offset
    }
    second = segment.start - 1
  }
  return null
}

function countWithin(search: RuleSearch, window: WallSpan, limit: number): number {
  let count = 0
  for (const part of segmentsWithin(search, window)) {
    for (const span of wallSpansOf(search, part)) count += search.wallClock.count(span, part.offset)
    if (count > limit) break
  }
  return count
}

function lastOfFirst(search: RuleSearch, wanted: number): number | null {
  let [left, last]: [number, number | null] = [wanted, null]
  for (const part of segmentsWithin(search, { from: search.start, to: search.end + 1 }))
    for (const span of wallSpansOf(search, part)) {
      const count = search.wallClock.count(span, part.offset)
      if (count < left) {
        left -= count
        last = count === 0 ? last : (search.wallClock.last(span, part.offset) ?? 0) - part.offset
        continue
      }
      let found = search.wallClock.first(span, part.offset) ?? span.from
      for (; left > 1; left -= 1) found = search.wallClock.first({ from: found + 1, to: span.to }, part.offset) ?? found
      return found - part.offset
    }
  return last
}

/**
 * Recurrence rules of RFC 5545.
 *
 * When clocks change, a wall-clock time in a gap is skipped, as §3.3.10 requires for invalid times, and a repeated time
 * fires on the first pass. HOURLY with an interval, MINUTELY and SECONDLY count elapsed time and fire on both passes.
 * DTSTART is an occurrence only if it matches the rule. UNTIL is inclusive.
 */
export interface RecurrenceRule {
  /** The rule without DTSTART. Stored together with `start` and `zone`. */
  readonly text: string
  readonly parts: RuleParts
  readonly start: Instant
  readonly zone: Zone
  /** Why the rule is not evaluated; null if it is. Only rules stored by an earlier version can be too dense. */
  readonly tooDense: string | null
  readonly set: RuleSet
}

/** The end of rules without COUNT or UNTIL, the same as for cron. */
const LAST_OCCURRENCE = instant(dayFromCivil({ year: LAST_YEAR + 1, month: 1, day: 1 }) * 86_400_000 - 1)

/** The maximum length of a rule text. */
export const MAX_RULE_LENGTH = 2_000

/** Parses a rule, with or without a leading `RRULE:` and a DTSTART line. */
export function parseRule(field: string, value: unknown, context: RuleContext): Parsed<RecurrenceRule> {
  const allowed = 'an RFC 5545 rule such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9'
  if (typeof value !== 'string' || value.length > MAX_RULE_LENGTH)
    return flawed({ field, value, message: 'must be a recurrence rule', allowed })
  const lines = splitLines(value)
  if ('message' in lines) return flawed({ field, value, ...lines })
  const parts = parseRuleParts(lines.rule, lines.ruleAt)
  if (!('frequency' in parts)) return flawed(parts.map((problem) => ({ field, value, ...problem })))
  const tooDenseFlaw = densityFlaw(parts)
  if (tooDenseFlaw !== null && context.isStored !== true)
    return flawed({ field, value, position: lines.ruleAt, isTooDense: true, ...tooDenseFlaw })
  const begin = parseStart(lines.start, context)
  if ('message' in begin) return flawed({ field, value, position: 0, ...begin })
  if (begin.start > LAST_OCCURRENCE)
    return flawed({
      field,
      value,
      position: 0,
      message: `starts after ${LAST_YEAR}`,
      allowed: `a start up to the end of ${LAST_YEAR}`,
    })
  if (!isFormattable(begin.start))
    return flawed({ field, value, position: 0, message: 'starts before the year 100', allowed: 'a later start' })
  const until = parseUntil(parts, begin.zone)
  if (until !== null && typeof until !== 'number') return flawed({ field, value, position: lines.ruleAt, ...until })
  const rule = buildRule(parts, begin)
  return parsed(lines.start === null && context.isNew === true ? startAtFirst(rule, context.start) : rule)
}

/** The time of creation is not an occurrence, so COUNT starts with the first occurrence after it. */
function startAtFirst(rule: RecurrenceRule, now: Instant): RecurrenceRule {
  const { parts, zone, start } = rule
  const first = parts.count === null ? null : buildRule({ ...parts, count: null }, { zone, start }).set.next(now)
  return first === null ? rule : buildRule(parts, { zone, start: first })
}

/** The start of the rule and its time zone. */
function parseStart(line: string | null, context: RuleContext): ZonedStart | RuleProblem {
  const zone = context.zone ?? context.defaultZone
  if (line === null) return { zone, start: instant(Math.floor(context.start / 1000) * 1000) }
  const allowed = 'DTSTART:YYYYMMDDTHHMMSSZ, or DTSTART;TZID=<zone>:YYYYMMDDTHHMMSS'
  const match = /^DTSTART(?:;TZID=([^:;]+)|;VALUE=DATE(?:-TIME)?)?:(\d{8})(?:T(\d{6})(Z?))?$/i.exec(line)
  if (match === null) return { message: `${line} is not understood`, allowed }
  const [, zoneName, date = '', time = '000000', utc] = match
  const named = zoneName === undefined ? null : parseZone('TZID', zoneName)
  if (named !== null && !named.ok) return { message: `TZID ${zoneName ?? ''} is not a known time zone`, allowed }
  const ownZone = named?.value ?? null
  if (ownZone !== null && context.zone !== null && ownZone !== context.zone)
    return { message: `has TZID ${ownZone.name}, but timezone is ${context.zone.name}`, allowed: 'one zone' }
  const used = ownZone ?? zone
  const start = readTime(date, time, utc === undefined || utc === '' ? used : UTC)
  return start === null ? { message: `${line} is a time that does not exist`, allowed } : { zone: used, start }
}

/** The instant of a date `YYYYMMDD` and a time `HHMMSS`; null if the date or time does not exist. */
function readTime(date: string, time: string, zone: Zone): Instant | null {
  const day = dayFromText(`${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`)
  const [hour = 0, minute = 0, second = 0] = [time.slice(0, 2), time.slice(2, 4), time.slice(4)].map(Number)
  if (day === null || hour > 23 || minute > 59 || second > 59) return null
  return instantOfLocal(zone, day * DAY_SECONDS + hour * 3_600 + minute * 60 + second)
}

/** The last time at which the rule can fire; null without UNTIL. A date includes the whole day. */
function parseUntil({ other }: RuleParts, zone: Zone): Instant | null | RuleProblem {
  const text = other.get('UNTIL')
  if (text === undefined) return null
  const time = text.length === 8 ? '235959' : text.slice(9, 15)
  return (
    readTime(text.slice(0, 8), time, text.endsWith('Z') ? UTC : zone) ?? {
      message: `UNTIL ${text} is a time that does not exist`,
      allowed: 'YYYYMMDD or YYYYMMDDTHHMMSSZ',
    }
  )
}

function buildRule(parts: RuleParts, { zone, start }: ZonedStart): RecurrenceRule {
  const tooDense = densityFlaw(parts)?.message ?? null
  const until = parseUntil(parts, zone)
  const last = typeof until === 'number' && until < LAST_OCCURRENCE ? until : LAST_OCCURRENCE
  const set = createSet(parts, { start, end: tooDense === null ? last : instant(start - 1), zone })
  const counted = parts.count === null ? set : limitToCount(parts.count, set, start)
  return { text: ruleText(parts), parts, start, zone, tooDense, set: counted }
}

/** Rules that only count elapsed time are intervals and need no time zone lookups. */
function createSet(parts: RuleParts, span: RuleSpan): RuleSet {
  const isBare = ![...parts.other.keys()].some((name) => name.startsWith('BY'))
  return isBare && countsElapsed(parts) ? createIntervalSet(parts, span) : createRuleSet(parts, span)
}

function createIntervalSet(parts: RuleParts, { start, end }: RuleSpan): RuleSet {
  const plan = { anchor: start, intervalMs: durationMs(unitOf(parts) * parts.interval * 1_000) }
  const afterEnd = instant(end + 1)
  return {
    next: (after) => {
      const found = nextTick(plan, after)
      return found > end ? null : found
    },
    previous: (before) => previousTick(plan, before < afterEnd ? before : afterEnd),
    count: (after, before) => countTicks(plan, after, before < afterEnd ? before : afterEnd),
    lastOf: (count) => {
      const last = instant(start + (count - 1) * plan.intervalMs)
      return last > end ? previousTick(plan, afterEnd) : last
    },
  }
}

/** The first `count` occurrences of a set. Counts only as far as needed, because the last can be a century away. */
function limitToCount(count: number, set: RuleSet, start: Instant): RuleSet {
  let within = { upTo: instant(start - 1), count: 0 }
  let beyond = Infinity
  const isWithin = (at: Instant): boolean => {
    if (at <= within.upTo || at >= beyond) return at <= within.upTo
    const found = within.count + set.count(within.upTo, instant(at + 1), count)
    if (found <= count) within = { upTo: at, count: found }
    else beyond = at
    return found <= count
  }
  const previous = (before: Instant): Instant | null => {
    const found = set.previous(before)
    return found === null || isWithin(found) ? found : set.lastOf(count)
  }
  return {
    next: (after) => {
      const found = after >= beyond ? null : set.next(after)
      return found === null || isWithin(found) ? found : null
    },
    previous,
    count: (after, before) => {
      const last = previous(before)
      return last === null || last <= after ? 0 : set.count(after, instant(last + 1))
    },
    lastOf: (wanted) => set.lastOf(Math.min(wanted, count)),
  }
}

/** The first occurrence after a time. */
export const nextByRule = ({ set }: RecurrenceRule, after: Instant): Instant | null => set.next(after)

/** The last occurrence before a time. */
export const previousByRule = ({ set }: RecurrenceRule, before: Instant): Instant | null => set.previous(before)

/** The number of occurrences strictly between two times. */
export const countByRule = ({ set }: RecurrenceRule, after: Instant, before: Instant): number =>
  set.count(after, before)

/**
 * The same rule without clock changes (in UTC), used to find the times that a clock change skips or repeats. Null for
 * rules that count elapsed time, because they have no fixed wall-clock times.
 */
export function withoutClockChanges(rule: RecurrenceRule): RecurrenceRule | null {
  const { interval, other } = rule.parts
  const isBare = ![...other.keys()].some((name) => name.startsWith('BY'))
  if (countsElapsed(rule.parts) && (isBare || interval > 1)) return null
  return buildRule(rule.parts, { zone: UTC, start: instant(localTimeAt(rule.zone, rule.start) * 1000) })
}
