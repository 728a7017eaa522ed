import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { durationMs, instant, isWritten, type Instant } from '../../domain/instant.ts'
import { DAY_SECONDS, LAST_YEAR, dayFromCivil, dayFromText } from '../../domain/time/calendar.ts'
import { countTicks, nextTick, previousTick } from '../../domain/time/interval.ts'
import { splitLines, type Begin, type Problem, type RuleContext } from './rrule-lines.ts'
import { parseRuleParts, ruleText, type RuleParts } from '../../domain/time/rrule-text.ts'
import { createRuleSet, type RuleSet, type RuleSpan } from './rule-set.ts'
import { tooMuchWork, unitOf } from '../../domain/time/rrule-times.ts'
import { countsElapsed } from '../../domain/time/rrule-wall-clock.ts'
import { instantOf, localOf } from '../../domain/time/wall-clock.ts'
import { parseZone, UTC, type Zone } from './zone.ts'

/**
 * Recurrence rules of RFC 5545.
 *
 * At a change of the clock a wall-clock time in a gap does not exist and is left out, as §3.3.10 says of invalid times,
 * and a repeated one means the first pass. HOURLY with an interval, MINUTELY and SECONDLY count elapsed time and go
 * through both passes. DTSTART is an occurrence only if it matches the rule. UNTIL is inclusive.
 */
export interface RecurrenceRule {
  /** The rule without DTSTART; with `start` and `zone` it is all that needs storing. */
  readonly text: string
  readonly parts: RuleParts
  readonly start: Instant
  readonly zone: Zone
  /** Why it is not evaluated: only rules that an earlier version has stored are kept all the same, and never fire. */
  readonly tooDense: string | null
  readonly set: RuleSet
}

/** Where a rule that does not end by itself is given up, the same instant as for cron. */
const HORIZON = instant(dayFromCivil({ year: LAST_YEAR + 1, month: 1, day: 1 }) * 86_400_000 - 1)

/** The longest text of a rule. */
export const MAX_RULE_LENGTH = 2_000

/** Reads a rule, with or without `RRULE:` in front and a DTSTART line above. */
export function parseRule(field: string, value: unknown, context: RuleContext): Parsed<RecurrenceRule> {
  const allowed = 'an RFC 5545 rule such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9'
  if (typeof value !== 'string' || value.length > MAX_RULE_LENGTH)
    return flawed({ field, value, message: 'must be a recurrence rule', allowed })
  const lines = splitLines(value)
  if ('message' in lines) return flawed({ field, value, ...lines })
  const parts = parseRuleParts(lines.rule, lines.ruleAt)
  if (!('frequency' in parts)) return flawed(parts.map((problem) => ({ field, value, ...problem })))
  const work = tooMuchWork(parts)
  if (work !== null && context.isStored !== true)
    return flawed({ field, value, position: lines.ruleAt, isTooDense: true, ...work })
  const begin = parseStart(lines.start, context)
  if ('message' in begin) return flawed({ field, value, position: 0, ...begin })
  if (begin.start > HORIZON)
    return flawed({
      field,
      value,
      position: 0,
      message: `begins after ${LAST_YEAR}`,
      allowed: `a start up to the end of ${LAST_YEAR}`,
    })
  if (!isWritten(begin.start))
    return flawed({ field, value, position: 0, message: 'begins before the year 100', allowed: 'a later start' })
  const until = parseUntil(parts, begin.zone)
  if (until !== null && typeof until !== 'number') return flawed({ field, value, position: lines.ruleAt, ...until })
  const rule = buildRule(parts, begin)
  return parsed(lines.start === null && context.isNew === true ? fromFirst(rule, context.start) : rule)
}

/** Nothing happens at the time of creation itself, so COUNT begins with the first occurrence after it. */
function fromFirst(rule: RecurrenceRule, now: Instant): RecurrenceRule {
  const { parts, zone, start } = rule
  const first = parts.count === null ? null : buildRule({ ...parts, count: null }, { zone, start }).set.next(now)
  return first === null ? rule : buildRule(parts, { zone, start: first })
}

/** Where the rule begins, and on which clock. */
function parseStart(line: string | null, context: RuleContext): Begin | Problem {
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
    return { message: `says TZID ${ownZone.name} and timezone says ${context.zone.name}`, allowed: 'one zone' }
  const used = ownZone ?? zone
  const start = readTime(date, time, utc === undefined || utc === '' ? used : UTC)
  return start === null ? { message: `${line} is a time that does not exist`, allowed } : { zone: used, start }
}

/** The instant of a date `YYYYMMDD` and a time `HHMMSS`, or null if there is no such date or time. */
function readTime(date: string, time: string, zone: Zone): Instant | null {
  const day = dayFromText(`${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`)
  const [hour = 0, minute = 0, second = 0] = [time.slice(0, 2), time.slice(2, 4), time.slice(4)].map(Number)
  if (day === null || hour > 23 || minute > 59 || second > 59) return null
  return instantOf(zone, day * DAY_SECONDS + hour * 3_600 + minute * 60 + second)
}

/** The last instant at which the rule may fire, null if it does not say. A date means all of its day. */
function parseUntil({ other }: RuleParts, zone: Zone): Instant | null | Problem {
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

function buildRule(parts: RuleParts, { zone, start }: Begin): RecurrenceRule {
  const tooDense = tooMuchWork(parts)?.message ?? null
  const until = parseUntil(parts, zone)
  const last = typeof until === 'number' && until < HORIZON ? until : HORIZON
  const set = setOf(parts, { start, end: tooDense === null ? last : instant(start - 1), zone })
  const counted = parts.count === null ? set : limitedTo(parts.count, set, start)
  return { text: ruleText(parts), parts, start, zone, tooDense, set: counted }
}

/** Rules that only count elapsed time need no clock. */
function setOf(parts: RuleParts, span: RuleSpan): RuleSet {
  const isBare = ![...parts.other.keys()].some((name) => name.startsWith('BY'))
  return isBare && countsElapsed(parts) ? createTicks(parts, span) : createRuleSet(parts, span)
}

function createTicks(parts: RuleParts, { start, end }: RuleSpan): RuleSet {
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

/** The first so many of a set. They are counted as far as they are asked for: the last may be a century away. */
function limitedTo(count: number, set: RuleSet, start: Instant): RuleSet {
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

/** The first occurrence after an instant. */
export const nextByRule = ({ set }: RecurrenceRule, after: Instant): Instant | null => set.next(after)

/** The last occurrence before an instant. */
export const previousByRule = ({ set }: RecurrenceRule, before: Instant): Instant | null => set.previous(before)

/** How many occurrences lie strictly between two instants. */
export const countByRule = ({ set }: RecurrenceRule, after: Instant, before: Instant): number =>
  set.count(after, before)

/**
 * The same rule on a clock that never changes, to see what a change of the clock leaves out. Null for rules that count
 * elapsed time and so have no wall-clock times of their own.
 */
export function onTheWall(rule: RecurrenceRule): RecurrenceRule | null {
  const { interval, other } = rule.parts
  const bare = ![...other.keys()].some((name) => name.startsWith('BY'))
  if (countsElapsed(rule.parts) && (bare || interval > 1)) return null
  return buildRule(rule.parts, { zone: UTC, start: instant(localOf(rule.zone, rule.start) * 1000) })
}
