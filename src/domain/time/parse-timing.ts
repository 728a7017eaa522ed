import { describeFlaw, type Flaw, flawed, parsed, type Parsed } from '../input.ts'
import { durationMs, formatInstant, instant, type Instant, parseTimeOrMs } from '../instant.ts'
import { addAll } from '../long-lists.ts'
import { type CadenceFields, cadenceOf, storeCadence } from '../schedule/pace/settings.ts'
import { formatDay } from './calendar.ts'
import { parseCron } from './cron-grammar.ts'
import type { DayMatch } from './cron-match.ts'
import type { DstPolicy } from './dst-policy.ts'
import { type Exclusion, parseExclusion } from './exclusion.ts'
import { parseRule } from './rrule.ts'
import {
  findField,
  type GivenPlan,
  type TimingInput,
  intervalOf,
  isGiven,
  givenPlan,
  timingFlaws,
  ZONE_NAMES,
} from './timing-fields.ts'
import { nextOccurrence, type Timing } from './timing.ts'
import { parseZone, UTC, type Zone } from './zone.ts'

export interface TimingContext {
  /** The time of creation: `at` must be later, and it is the default anchor of an interval. */
  readonly now: Instant
  /** The time zone of the org, for schedules without one. */
  readonly defaultZone: Zone
  /** Whether the timing was stored before. Then a rule that is now too dense is accepted but never fires. */
  readonly isStored?: boolean | undefined
}

/**
 * Creates a timing from the fields of a schedule. The schema of schedules has validated each field by itself; this
 * validates what depends on other fields, the time zone and the current time. Reports all flaws, not only the first.
 */
export function parseTiming(input: TimingInput, context: TimingContext): Parsed<Timing> {
  const flaws: Flaw[] = [...timingFlaws(input, true)]
  const given = givenPlan(input)
  const common = parseCommon(input, context, flaws)
  const plan = given === null ? null : parsePlan(given, { input, common, context, flaws })
  return plan === null || flaws.length > 0 ? flawed(flaws) : parsed(plan)
}

interface CommonFields {
  readonly ownZone: Zone | null
  readonly zone: Zone
  readonly dst: DstPolicy
  readonly dayMatch: DayMatch
  readonly startsAt: Instant | null
  readonly endsAt: Instant | null
  readonly exclude: Exclusion | null
}

/** Returns the parsed value, or adds the flaws to the list and returns null. */
function valueOrNull<T>(result: Parsed<T>, flaws: Flaw[]): T | null {
  if (result.ok) return result.value
  addAll(flaws, result.flaws)
  return null
}

function parseCommon(input: TimingInput, context: TimingContext, flaws: Flaw[]): CommonFields {
  const optional = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>): T | null =>
    isGiven(input[name]) ? valueOrNull(parse(name, input[name]), flaws) : null
  const zoneField = findField(input, ZONE_NAMES)
  const ownZone = zoneField === null ? null : valueOrNull(parseZone(zoneField.name, zoneField.value), flaws)
  return {
    ownZone,
    zone: ownZone ?? context.defaultZone,
    dst: (input['dst'] as DstPolicy | null | undefined) ?? 'vixie',
    dayMatch: (input['day_match'] as DayMatch | null | undefined) ?? 'or',
    startsAt: optional('starts_at', parseTimeOrMs),
    endsAt: optional('ends_at', parseTimeOrMs),
    exclude: optional('exclude', parseExclusion),
  }
}

interface PlanContext {
  readonly input: TimingInput
  readonly common: CommonFields
  readonly context: TimingContext
  readonly flaws: Flaw[]
}

function parsePlan(given: GivenPlan, planContext: PlanContext): Timing | null {
  const { common, context, flaws } = planContext
  const { zone, startsAt, endsAt, exclude } = common
  const limits = { zone, startsAt, endsAt, exclude }
  switch (given.kind) {
    case 'at': {
      const at = valueOrNull(parseAt(given, context.now), flaws)
      if (at === null) return null
      const timing = { kind: 'at', ...limits, at } as const
      // Reject a one-time schedule that would never fire while the user can still correct it.
      if (nextOccurrence(timing, context.now) === null) flaws.push(neverOccurs(given))
      return timing
    }
    case 'every': {
      const anchor = parseAnchor(planContext) ?? context.now
      const plan = { kind: 'every', ...limits, intervalMs: durationMs(intervalOf(given)), anchor } as const
      const cadence = (planContext.input['cadence'] ?? null) as CadenceFields | null
      return cadence === null ? plan : { ...plan, cadence: cadenceOf(cadence) }
    }
    case 'cron': {
      const expression = valueOrNull(parseCron(given.name, given.value), flaws)
      const { dst, dayMatch } = common
      return expression === null ? null : { kind: 'cron', ...limits, expression, dst, dayMatch }
    }
    case 'rrule': {
      const start = parseAnchor(planContext) ?? startsAt
      const { defaultZone, isStored, now } = context
      const ruleContext = { zone: common.ownZone, defaultZone, start: start ?? now, isNew: start === null, isStored }
      const rule = valueOrNull(parseRule(given.name, given.value, ruleContext), flaws)
      return rule === null ? null : { kind: 'rrule', ...limits, zone: rule.zone, rule }
    }
  }
}

const neverOccurs = ({ name: field, value }: GivenPlan): Flaw => ({
  field,
  value,
  message: 'never occurs: starts_at, ends_at or exclude rules it out',
  allowed: 'a time that they allow',
})

const parseAnchor = ({ input, flaws }: PlanContext): Instant | null =>
  isGiven(input['anchor']) ? valueOrNull(parseTimeOrMs('anchor', input['anchor']), flaws) : null

function parseAt({ name: field, value }: GivenPlan, now: Instant): Parsed<Instant> {
  const at = parseTimeOrMs(field, value)
  if (!at.ok || at.value > now) return at
  return flawed({ field, value, message: 'is in the past', allowed: 'a time in the future' })
}

/** A timing as plain data: the fields that a user would send, with all defaults filled in. */
export type StoredTiming = Readonly<Record<string, unknown>>

/** The fields to store for a timing. `restoreTiming` creates the same timing from them at any time on any machine. */
export function storeTiming(timing: Timing): StoredTiming {
  const common = {
    timezone: timing.zone.name,
    ...(timing.startsAt === null ? {} : { starts_at: formatInstant(timing.startsAt) }),
    ...(timing.endsAt === null ? {} : { ends_at: formatInstant(timing.endsAt) }),
    ...(timing.exclude === null ? {} : { exclude: storeExclusion(timing.exclude) }),
  }
  switch (timing.kind) {
    case 'at':
      return { ...common, at: formatInstant(timing.at) }
    case 'every':
      return {
        ...{ ...common, everyMs: timing.intervalMs, anchor: formatInstant(timing.anchor) },
        ...(timing.cadence === undefined ? {} : { cadence: storeCadence(timing.cadence) }),
      }
    case 'cron':
      return { ...common, cron: timing.expression.text, dst: timing.dst, day_match: timing.dayMatch }
    case 'rrule':
      return { ...common, rrule: timing.rule.text, anchor: formatInstant(timing.rule.start) }
  }
}

const storeExclusion = ({ dates, windows }: Exclusion): readonly unknown[] => [
  ...dates.map(formatDay),
  ...windows.map(({ from, to }) => ({ from: formatInstant(from), to: formatInstant(to) })),
]

/** Used as `now` for stored timings: whether `at` is in the future was checked on creation. */
const DISTANT_PAST: Instant = instant(-8.64e15)

/** Parses a stored timing. Throws if it is invalid, because then the row is corrupt. */
export function restoreTiming(stored: StoredTiming): Timing {
  const read = parseTiming(stored, { now: DISTANT_PAST, defaultZone: UTC, isStored: true })
  if (read.ok) return read.value
  throw new Error(`Cannot parse a stored timing: ${read.flaws.map(describeFlaw).join('; ')}`)
}
