import { RRuleTemporal } from 'rrule-temporal'
import { Temporal } from 'temporal-polyfill'
import { flawed, parsed, type Flaw, type Parsed } from '../input.ts'
import { instant, isWritten, type Instant } from '../instant.ts'
import { LAST_YEAR, dayFromCivil } from './calendar.ts'
import { canCome, parseRuleParts, ruleText, type RuleParts } from './rrule-text.ts'
import { localOf } from './wall-clock.ts'
import { parseZone, UTC, type Zone } from './zone.ts'

/**
 * Recurrence rules of RFC 5545: the one file that knows the library.
 *
 * What it does with clock changes, found by trying and held by a test: a wall-clock time in a gap does not exist and is
 * left out, as §3.3.10 says of invalid times, and a repeated one means the first pass. HOURLY with an interval, MINUTELY
 * and SECONDLY count elapsed time and go through both passes. DTSTART is an occurrence only if it matches the rule. UNTIL is inclusive.
 */
export interface RecurrenceRule {
  /** The rule without DTSTART; with `start` and `zone` it is all that needs storing. */
  readonly text: string
  readonly parts: RuleParts
  readonly start: Instant
  readonly zone: Zone
  readonly engine: RRuleTemporal
}

/** Where a rule that does not end by itself is given up, the same moment as for cron. */
const HORIZON = dayFromCivil({ year: LAST_YEAR + 1, month: 1, day: 1 }) * 86_400_000 - 1

/** Periods the library may look at for one answer. More than the days between two 29ths of February. */
const MOST_PERIODS = 10_000

export interface RuleContext {
  /** The zone of the schedule, null if none was given. */
  readonly zone: Zone | null
  readonly defaultZone: Zone
  /** DTSTART if the text has none. */
  readonly start: Instant
}

/** Reads a rule, with or without `RRULE:` in front and a DTSTART line above. */
export function parseRule(field: string, value: unknown, context: RuleContext): Parsed<RecurrenceRule> {
  const allowed = 'an RFC 5545 rule such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9'
  if (typeof value !== 'string' || value.length > 2000)
    return flawed({ field, value, message: 'must be a recurrence rule', allowed })
  const lines = splitLines(value)
  if ('message' in lines) return flawed({ field, value, ...lines })
  const parts = parseRuleParts(lines.rule, lines.ruleAt)
  if (!('frequency' in parts)) return flawed(...parts.map((problem) => ({ field, value, ...problem })))
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
  try {
    return parsed(buildRule(parts, begin))
  } catch (error) {
    // Nothing known gets here; but a refusal by the library is a flaw of the input, not a crash of ours.
    const message = `is refused: ${error instanceof Error ? error.message : String(error)}`
    return flawed({ field, value, message, allowed })
  }
}

type Problem = Pick<Flaw, 'message' | 'allowed' | 'position'>

interface Lines {
  readonly rule: string
  readonly ruleAt: number
  readonly start: string | null
}

function splitLines(text: string): Lines | Problem {
  const lines = [...text.matchAll(/[^\r\n]+/g)].filter((match) => match[0].trim() !== '')
  const starts = lines.filter((line) => /^\s*DTSTART/i.test(line[0]))
  const rules = lines.filter((line) => !starts.includes(line))
  const [rule, second] = rules
  const wanted = 'one RRULE line and at most one DTSTART line; dates to leave out belong in exclude'
  if (rule === undefined) return { message: 'has no RRULE line', allowed: wanted, position: text.length }
  if (second !== undefined) return { message: 'has a line too many', allowed: wanted, position: second.index }
  if (starts.length > 1)
    return { message: 'has more than one DTSTART', allowed: wanted, position: starts[1]?.index ?? 0 }
  const prefix = /^\s*(RRULE:)?/i.exec(rule[0])?.[0] ?? ''
  const start = starts[0]?.[0].trim() ?? null
  return { rule: rule[0].slice(prefix.length).trimEnd(), ruleAt: rule.index + prefix.length, start }
}

interface Begin {
  readonly zone: Zone
  readonly start: Instant
}

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
  const local = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}`
  try {
    const clock = Temporal.PlainDateTime.from(local).toZonedDateTime(utc === 'Z' || utc === 'z' ? 'UTC' : used.name)
    return { zone: used, start: instant(clock.epochMilliseconds) }
  } catch {
    return { message: `${line} is a time that does not exist`, allowed }
  }
}

function buildRule(parts: RuleParts, { zone, start }: Begin): RecurrenceRule {
  const engineUntil = (until: number | null): RRuleTemporal =>
    new RRuleTemporal({
      rruleString: ruleText(parts, false),
      dtstart: zoned(zone, start),
      maxIterations: MOST_PERIODS,
      ...(until === null ? {} : { until: zoned(zone, until) }),
    })
  const rule = { text: ruleText(parts), parts, start, zone }
  if (!canCome(parts)) {
    const engine = engineUntil(start - 1)
    ended.set(engine, NEVER)
    return { ...rule, engine }
  }
  if (parts.count === null) return { ...rule, engine: engineUntil(parts.other.has('UNTIL') ? null : HORIZON) }
  // The library counts from DTSTART at every question. Counted once, COUNT is an UNTIL and later questions are cheap.
  const counted = firstByRule({ ...rule, engine: engineUntil(HORIZON) }, parts.count)
  return { ...rule, engine: engineUntil(counted.at(-1) ?? start - 1) }
}

/** The first occurrences of a rule, at most so many. */
export function firstByRule(rule: RecurrenceRule, limit: number): readonly Instant[] {
  if (nextByRule(rule, instant(rule.start - 1)) === null) return []
  const found: Instant[] = isQuickToWalk(rule.parts) ? walkThrough(rule.engine, limit) : []
  while (found.length < limit) {
    const next = nextByRule(rule, found.at(-1) ?? instant(rule.start - 1))
    if (next === null) break
    found.push(next)
  }
  return found
}

/**
 * Where many BY parts let little through, asking for the next costs the library up to a hundred times as much as going
 * through them all. Of plain rules the opposite holds.
 */
function isQuickToWalk({ frequency, other }: RuleParts): boolean {
  const lists = [...other].filter(([name]) => name.startsWith('BY'))
  const items = lists.reduce((sum, [, list]) => sum + list.split(',').length, 0)
  const isPlain = frequency === 'DAILY' || frequency === 'WEEKLY' || frequency === 'MONTHLY'
  return items > (isPlain ? MOST_PLAIN : 0)
}

/** So many days, hours and the like are quickly looked through for each question. */
const MOST_PLAIN = 4

/** Goes through the occurrences from the start. The library may give up on the way: then what it has found is a part. */
function walkThrough(engine: RRuleTemporal, limit: number): Instant[] {
  const found: Instant[] = []
  try {
    engine.all((at) => {
      if (found.length < limit) found.push(instant(at.epochMilliseconds))
      return found.length < limit
    })
  } catch {
    // The rest is asked for one by one.
  }
  return found
}

const zoned = (zone: Zone, at: number): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone.name)

/**
 * The first occurrence after an instant. A rule that finds nothing within MOST_PERIODS periods, such as one for the
 * 30th of February, has none: the library gives up with an error, which is its way of saying so.
 */
export function nextByRule(rule: RecurrenceRule, after: Instant): Instant | null {
  const { engine } = rule
  // That nothing is left takes the longest to find out, and stays true.
  if (after >= (ended.get(engine) ?? Infinity)) return null
  return ask(() => {
    const found = engine.next(new Date(after), false)
    if (found === null) ended.set(engine, after)
    return found
  })
}

/** Before every instant. */
const NEVER = instant(-Infinity)

/** After which instant a rule is known to have no occurrence: what was found out about a value that never changes. */
const ended = new WeakMap<RRuleTemporal, Instant>()

/** The last occurrence before an instant. */
export const previousByRule = (rule: RecurrenceRule, before: Instant): Instant | null =>
  before <= rule.start || ended.get(rule.engine) === NEVER
    ? null
    : ask(() => rule.engine.previous(new Date(before), false))

function ask(question: () => { readonly epochMilliseconds: number } | null): Instant | null {
  try {
    const found = question()
    return found === null ? null : instant(found.epochMilliseconds)
  } catch {
    return null
  }
}

/**
 * The same rule on a clock that never changes, to see what a change of the clock leaves out. Null for rules that count
 * elapsed time and so have no wall-clock times of their own.
 */
export function onTheWall(rule: RecurrenceRule): RecurrenceRule | null {
  const { frequency, interval, other } = rule.parts
  const bare = ![...other.keys()].some((name) => name.startsWith('BY'))
  const elapsed = frequency === 'HOURLY' ? interval > 1 : frequency === 'MINUTELY' || frequency === 'SECONDLY'
  if (elapsed && (bare || interval > 1)) return null
  return buildRule(rule.parts, { zone: UTC, start: instant(localOf(rule.zone, rule.start) * 1000) })
}

/**
 * How many occurrences lie strictly between two instants. Rules that only count elapsed minutes or seconds are counted
 * by arithmetic; for the others each occurrence costs some microseconds.
 */
export function countByRule(rule: RecurrenceRule, after: Instant, before: Instant): number {
  const unit = rule.parts.frequency === 'SECONDLY' ? 1000 : rule.parts.frequency === 'MINUTELY' ? 60_000 : null
  const lastFound = previousByRule(rule, before)
  if (lastFound === null || lastFound <= after) return 0
  if (unit !== null && rule.parts.other.size === 0) {
    const first = nextByRule(rule, after) ?? lastFound
    return Math.round((lastFound - first) / (unit * rule.parts.interval)) + 1
  }
  let count = 0
  for (let at = nextByRule(rule, after); at !== null && at < before; at = nextByRule(rule, at)) count += 1
  return count
}
