import { RRuleTemporal } from 'rrule-temporal'
import { Temporal } from 'temporal-polyfill'
import { flawed, parsed, type Parsed } from '../input.ts'
import { instant, isWritten, type Instant } from '../instant.ts'
import { LAST_YEAR, dayFromCivil } from './calendar.ts'
import { splitLines, type Begin, type Problem, type RuleContext } from './rrule-lines.ts'
import { parseRuleParts, ruleText, type RuleParts } from './rrule-text.ts'
import { clockOf, lastOnClock, type RuleClock } from './rule-clock.ts'
import { createPages, type Pages } from './rule-pages.ts'
import { canCome, isPlain, isQuickToWalk, periodsSearched, tooMuchWork } from './rule-work.ts'
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
  /** Why it is not evaluated: only rules that an earlier version has stored are kept all the same, and never fire. */
  readonly tooDense: string | null
  readonly engine: RRuleTemporal
}

/** Where a rule that does not end by itself is given up, the same moment as for cron. */
const HORIZON = dayFromCivil({ year: LAST_YEAR + 1, month: 1, day: 1 }) * 86_400_000 - 1

/** Periods the library may look at to count occurrences, which happens once. */
const MAX_PERIODS_COUNTED = 10_000

/** Reads a rule, with or without `RRULE:` in front and a DTSTART line above. */
export function parseRule(field: string, value: unknown, context: RuleContext): Parsed<RecurrenceRule> {
  const allowed = 'an RFC 5545 rule such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9'
  if (typeof value !== 'string' || value.length > 2000)
    return flawed({ field, value, message: 'must be a recurrence rule', allowed })
  const lines = splitLines(value)
  if ('message' in lines) return flawed({ field, value, ...lines })
  const parts = parseRuleParts(lines.rule, lines.ruleAt)
  if (!('frequency' in parts)) return flawed(...parts.map((problem) => ({ field, value, ...problem })))
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
  try {
    return parsed(buildRule(parts, begin))
  } catch (error) {
    // Nothing known gets here; but a refusal by the library is a flaw of the input, not a crash of ours.
    const message = `is refused: ${error instanceof Error ? error.message : String(error)}`
    return flawed({ field, value, message, allowed })
  }
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
  const local = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}`
  try {
    const clock = Temporal.PlainDateTime.from(local).toZonedDateTime(utc === 'Z' || utc === 'z' ? 'UTC' : used.name)
    return { zone: used, start: instant(clock.epochMilliseconds) }
  } catch {
    return { message: `${line} is a time that does not exist`, allowed }
  }
}

function buildRule(parts: RuleParts, { zone, start }: Begin): RecurrenceRule {
  const engineUntil = (until: number | null, maxIterations = periodsSearched(parts)): RRuleTemporal =>
    new RRuleTemporal({
      rruleString: ruleText(searched(parts), false),
      dtstart: zoned(zone, start),
      maxIterations,
      ...(until === null ? {} : { until: zoned(zone, until) }),
    })
  const rule = { text: ruleText(parts), parts, start, zone, tooDense: tooMuchWork(parts)?.message ?? null }
  if (rule.tooDense !== null || !canCome(parts)) {
    const engine = new RRuleTemporal({
      rruleString: `FREQ=${parts.frequency}`,
      dtstart: zoned(zone, start),
      until: zoned(zone, start - 1),
    })
    ended.set(engine, NEVER)
    return { ...rule, engine }
  }
  if (parts.count === null) return { ...rule, engine: engineUntil(parts.other.has('UNTIL') ? null : HORIZON) }
  // The library counts from DTSTART at every question. Counted once, COUNT is an UNTIL and later questions are cheap.
  return { ...rule, engine: engineUntil(endOfCount({ ...rule, engine: engineUntil(HORIZON, MAX_PERIODS_COUNTED) })) }
}

/** Where rules with a COUNT end. A stored rule is read each time its schedule is, and counting takes the longest. */
const counted = new Map<string, Instant>()
const MAX_COUNTS_KEPT = 1_000

/** The last of as many occurrences as the rule counts, or before the start if there is none. */
function endOfCount(rule: RecurrenceRule): Instant {
  const { parts, start, zone } = rule
  const key = `${rule.text} ${start} ${zone.name}`
  const known = counted.get(key)
  if (known !== undefined) return known
  const count = parts.count ?? 0
  const span = { start, end: instant(HORIZON), zone }
  const clock = clockOf(parts, span)
  const last = clock === null ? lastOfMany(rule, count) : lastOnClock(clock, span, count)
  const end = last ?? instant(start - 1)
  counted.set(key, end)
  for (const oldest of counted.size > MAX_COUNTS_KEPT ? [...counted.keys()].slice(0, 1) : []) counted.delete(oldest)
  return end
}

const lastOfMany = (rule: RecurrenceRule, count: number): Instant | null =>
  (isPlain(rule.parts) ? lastByArithmetic(rule, count) : null) ?? firstByRule(rule, count).at(-1) ?? null

/** Null where the library has no arithmetic for it after all, or it has no occurrence. */
const lastByArithmetic = ({ parts, start, zone }: RecurrenceRule, count: number): Instant | null =>
  ask(() =>
    new RRuleTemporal({
      ...{ rruleString: ruleText(parts, false), dtstart: zoned(zone, start), count },
      maxIterations: MAX_PERIODS_COUNTED,
    }).previous(new Date(HORIZON), true),
  )

/**
 * A daily rule for days of the month is the monthly one for the same days, which the library need not look for day by
 * day. Positions are counted within a period, so rules with BYSETPOS stay as they are.
 */
function searched(parts: RuleParts): RuleParts {
  const { frequency, interval, other } = parts
  const isMonthly = frequency === 'DAILY' && interval === 1 && other.has('BYMONTHDAY') && !other.has('BYSETPOS')
  return isMonthly ? { ...parts, frequency: 'MONTHLY' } : parts
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
 * The first occurrence after an instant. A rule that finds nothing within the periods that are searched has none: the
 * library gives up with an error, which is its way of saying so.
 */
export function nextByRule(rule: RecurrenceRule, after: Instant): Instant | null {
  const { engine } = rule
  // That nothing is left takes the longest to find out, and stays true.
  if (after >= (ended.get(engine) ?? Infinity)) return null
  const clock = clockFor(rule)
  if (clock !== null) return clock.next(after)
  return pagesOf(rule).next(after, () =>
    ask(() => {
      const found = engine.next(new Date(after), false)
      if (found === null) ended.set(engine, after)
      return found
    }),
  )
}

/** The clock of rules that have one: what was found out about a value that never changes. */
const clocks = new WeakMap<RRuleTemporal, RuleClock | null>()

function clockFor({ engine, parts, start, zone }: RecurrenceRule): RuleClock | null {
  const known = clocks.get(engine)
  if (known !== undefined) return known
  const end = instant(engine.options().until?.epochMilliseconds ?? HORIZON)
  const made = ended.get(engine) === NEVER ? null : clockOf(parts, { start, end, zone })
  clocks.set(engine, made)
  return made
}

/** Whoever goes through occurrences gets them by the page. */
const pages = new WeakMap<RRuleTemporal, Pages>()

function pagesOf({ engine, parts }: RecurrenceRule): Pages {
  const known = pages.get(engine)
  if (known !== undefined) return known
  const made = createPages(parts, (after, upTo) => {
    try {
      return engine.between(new Date(after), new Date(upTo + 1)).map((at) => instant(at.epochMilliseconds))
    } catch {
      return null
    }
  })
  pages.set(engine, made)
  return made
}

/** Before every instant. */
const NEVER = instant(-Infinity)

/** After which instant a rule is known to have no occurrence: what was found out about a value that never changes. */
const ended = new WeakMap<RRuleTemporal, Instant>()

/** Rules that are known to have an occurrence at all. */
const hasBegun = new WeakSet<RRuleTemporal>()

/** The last occurrence before an instant. */
export function previousByRule(rule: RecurrenceRule, before: Instant): Instant | null {
  if (before <= rule.start || ended.get(rule.engine) === NEVER) return null
  const clock = clockFor(rule)
  // Looking back for what never comes takes several searches; looking from the start takes one.
  if (clock === null && !hasBegun.has(rule.engine)) {
    if (nextByRule(rule, instant(rule.start - 1)) === null) return null
    hasBegun.add(rule.engine)
  }
  return clock === null ? ask(() => rule.engine.previous(new Date(before), false)) : clock.previous(before)
}

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

/** More occurrences than this are not counted one by one. */
const MAX_COUNTED = 20_000

/**
 * How many occurrences lie strictly between two instants, or MAX_COUNTED for more. Rules that count elapsed minutes or
 * seconds are counted by arithmetic; for the others each occurrence costs some microseconds.
 */
export function countByRule(rule: RecurrenceRule, after: Instant, before: Instant): number {
  const clock = clockFor(rule)
  if (clock !== null) return clock.count(after, before)
  const unit = rule.parts.frequency === 'SECONDLY' ? 1000 : rule.parts.frequency === 'MINUTELY' ? 60_000 : null
  const lastFound = previousByRule(rule, before)
  if (lastFound === null || lastFound <= after) return 0
  if (unit !== null && rule.parts.other.size === 0) {
    const first = nextByRule(rule, after) ?? lastFound
    return Math.round((lastFound - first) / (unit * rule.parts.interval)) + 1
  }
  let count = 0
  for (let at = nextByRule(rule, after); at !== null && at < before && count < MAX_COUNTED; at = nextByRule(rule, at))
    count += 1
  return count
}
