import { addAll } from '../../domain/long-lists.ts'
import { cadenceOf, type CadenceFields } from '../../domain/schedule/pace/settings.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../domain/input.ts'
import { durationMs, parseMoment, type Instant } from '../../domain/instant.ts'
import type { DayMatch, DstPolicy } from './cron.ts'
import { parseCron } from './cron-grammar.ts'
import { parseExclusion, type Exclusion } from '../../domain/time/exclusion.ts'
import { parseRule } from './rrule.ts'
import { nextOccurrence, type Timing } from '../../domain/time/timing.ts'
import {
  findField,
  intervalOf,
  isGiven,
  planIn,
  timingFlaws,
  ZONE_NAMES,
  type Given,
  type Input,
} from '../../domain/time/timing-fields.ts'
import { parseZone, type Zone } from './zone.ts'

export interface TimingContext {
  /** The moment of creation: `at` must be later, and an interval is anchored here unless it has an anchor. */
  readonly now: Instant
  /** The zone of the org, for schedules that name none. */
  readonly defaultZone: Zone
  /** Whether it was accepted before: a rule that is too dense today is read, and never fires. */
  readonly isStored?: boolean | undefined
}

/**
 * Makes a timing of the fields of a schedule that say when it fires. Each by itself was read by the schema of schedules;
 * here it is judged what depends on other fields, on the zone and on the time. All flaws are found, not only the first.
 */
export function parseTiming(input: Input, context: TimingContext): Parsed<Timing> {
  const flaws: Flaw[] = [...timingFlaws(input, true)]
  const given = planIn(input)
  const common = readCommon(input, context, flaws)
  const plan = given === null ? null : readPlan(given, { input, common, context, flaws })
  return plan === null || flaws.length > 0 ? flawed(flaws) : parsed(plan)
}

interface Common {
  readonly ownZone: Zone | null
  readonly zone: Zone
  readonly dst: DstPolicy
  readonly dayMatch: DayMatch
  readonly startsAt: Instant | null
  readonly endsAt: Instant | null
  readonly exclude: Exclusion | null
}

/** Notes the flaws of an answer and goes on without it. */
function keep<T>(answer: Parsed<T>, flaws: Flaw[]): T | null {
  if (answer.ok) return answer.value
  addAll(flaws, answer.flaws)
  return null
}

function readCommon(input: Input, context: TimingContext, flaws: Flaw[]): Common {
  const optional = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>): T | null =>
    isGiven(input[name]) ? keep(parse(name, input[name]), flaws) : null
  const zoneField = findField(input, ZONE_NAMES)
  const ownZone = zoneField === null ? null : keep(parseZone(zoneField.name, zoneField.value), flaws)
  return {
    ownZone,
    zone: ownZone ?? context.defaultZone,
    dst: (input['dst'] as DstPolicy | null | undefined) ?? 'vixie',
    dayMatch: (input['day_match'] as DayMatch | null | undefined) ?? 'or',
    startsAt: optional('starts_at', parseMoment),
    endsAt: optional('ends_at', parseMoment),
    exclude: optional('exclude', parseExclusion),
  }
}

interface Reading {
  readonly input: Input
  readonly common: Common
  readonly context: TimingContext
  readonly flaws: Flaw[]
}

function readPlan(given: Given, reading: Reading): Timing | null {
  const { common, context, flaws } = reading
  const { zone, startsAt, endsAt, exclude } = common
  const limits = { zone, startsAt, endsAt, exclude }
  switch (given.kind) {
    case 'at': {
      const at = keep(parseAt(given, context.now), flaws)
      if (at === null) return null
      const timing = { kind: 'at', ...limits, at } as const
      // A reminder that would be lost without a word is refused while somebody is there to read why.
      if (nextOccurrence(timing, context.now) === null) flaws.push(ruledOut(given))
      return timing
    }
    case 'every': {
      const anchor = readAnchor(reading) ?? context.now
      const plan = { kind: 'every', ...limits, intervalMs: durationMs(intervalOf(given)), anchor } as const
      const cadence = (reading.input['cadence'] ?? null) as CadenceFields | null
      return cadence === null ? plan : { ...plan, cadence: cadenceOf(cadence) }
    }
    case 'cron': {
      const expression = keep(parseCron(given.name, given.value), flaws)
      const { dst, dayMatch } = common
      return expression === null ? null : { kind: 'cron', ...limits, expression, dst, dayMatch }
    }
    case 'rrule': {
      const start = readAnchor(reading) ?? startsAt
      const { defaultZone, isStored, now } = context
      const place = { zone: common.ownZone, defaultZone, start: start ?? now, isNew: start === null, isStored }
      const rule = keep(parseRule(given.name, given.value, place), flaws)
      return rule === null ? null : { kind: 'rrule', ...limits, zone: rule.zone, rule }
    }
  }
}

const ruledOut = ({ name: field, value }: Given): Flaw => ({
  field,
  value,
  message: 'can never come: starts_at, ends_at or exclude rules it out',
  allowed: 'a time that they leave open',
})

const readAnchor = ({ input, flaws }: Reading): Instant | null =>
  isGiven(input['anchor']) ? keep(parseMoment('anchor', input['anchor']), flaws) : null

function parseAt({ name: field, value }: Given, now: Instant): Parsed<Instant> {
  const at = parseMoment(field, value)
  if (!at.ok || at.value > now) return at
  return flawed({ field, value, message: 'is in the past', allowed: 'a time in the future' })
}
