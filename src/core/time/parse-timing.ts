import { addAll } from '../long-lists.ts'
import { misplacedCadence, parseCadence, type Cadence } from '../cadence/cadence.ts'
import { flawed, parsed, parseInteger, parseWord, type Flaw, type Parsed } from '../input.ts'
import { durationMs, instant, parseMoment, type Instant } from '../instant.ts'
import { DAY_MATCHES, DST_POLICIES, type DayMatch, type DstPolicy } from './cron.ts'
import { parseCron } from './cron-grammar.ts'
import { parseExclusion, type Exclusion } from './exclusion.ts'
import { parseRule } from './rrule.ts'
import { nextOccurrence, type Timing } from './timing.ts'
import { findField, findKind, type Given, type Input } from './timing-fields.ts'
import { parseZone, type Zone } from './zone.ts'

export interface TimingContext {
  /** The moment of creation: `at` must be later, and an interval is anchored here unless it has an anchor. */
  readonly now: Instant
  /** The zone of the org, for schedules that name none. */
  readonly defaultZone: Zone
  /** Whether it was accepted before: a rule that is too dense today is read, and never fires. */
  readonly isStored?: boolean | undefined
}

/** Every tick of `every` must be at least a second away from the next, and no person plans in intervals of centuries. */
const SHORTEST_MS = 1000
const LONGEST_MS = 100 * 366 * 86_400_000

/** Reads the fields of a schedule that say when it fires. All flaws are found, not only the first. */
export function parseTiming(input: Input, context: TimingContext): Parsed<Timing> {
  const flaws: Flaw[] = []
  const common = readCommon(input, context, flaws)
  const kind = findKind(input, flaws)
  const plan = kind === null ? null : readPlan(kind, { input, common, context, flaws })
  if (plan !== null && plan.kind !== 'every' && !(plan.kind === 'rrule') && isGiven(input, 'anchor'))
    flaws.push(misplacedAnchor(input['anchor']))
  if (plan !== null && plan.kind !== 'every' && isGiven(input, 'cadence'))
    flaws.push(misplacedCadence(input['cadence']))
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

const isGiven = (input: Input, name: string): boolean => input[name] !== undefined && input[name] !== null

const misplacedAnchor = (value: unknown): Flaw => ({
  field: 'anchor',
  value,
  message: 'belongs to every_seconds or rrule',
  allowed: 'leave it out',
})

/** Notes the flaws of an answer and goes on without it. */
function keep<T>(answer: Parsed<T>, flaws: Flaw[]): T | null {
  if (answer.ok) return answer.value
  addAll(flaws, answer.flaws)
  return null
}

function readCommon(input: Input, context: TimingContext, flaws: Flaw[]): Common {
  const optional = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>): T | null =>
    isGiven(input, name) ? keep(parse(name, input[name]), flaws) : null
  const zoneField = findField(input, ['timezone', 'tz'], flaws)
  const ownZone = zoneField === null ? null : keep(parseZone(zoneField.name, zoneField.value), flaws)
  const dst = optional('dst', (field, value) => parseWord(field, value, DST_POLICIES))
  const dayMatch = optional('day_match', (field, value) => parseWord(field, value, DAY_MATCHES))
  const startsAt = optional('starts_at', parseMoment)
  const endsAt = optional('ends_at', parseMoment)
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt)
    flaws.push({
      field: 'ends_at',
      value: input['ends_at'],
      message: 'must be after starts_at',
      allowed: 'a later time',
    })
  return {
    ownZone,
    zone: ownZone ?? context.defaultZone,
    dst: dst ?? 'vixie',
    dayMatch: dayMatch ?? 'or',
    startsAt,
    endsAt,
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
      const intervalMs = keep(parseInterval(given), flaws)
      const anchor = readAnchor(reading) ?? context.now
      const cadence = readCadence(reading, intervalMs)
      if (intervalMs === null) return null
      const plan = { kind: 'every', ...limits, intervalMs: durationMs(intervalMs), anchor } as const
      return cadence === null ? plan : { ...plan, cadence }
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
  isGiven(input, 'anchor') ? keep(parseMoment('anchor', input['anchor']), flaws) : null

const readCadence = ({ input, flaws }: Reading, intervalMs: number | null): Cadence | null =>
  isGiven(input, 'cadence') ? keep(parseCadence('cadence', input['cadence'], intervalMs), flaws) : null

function parseAt(given: Given, now: Instant): Parsed<Instant> {
  const { name: field, value } = given
  const at = given.unit === 'ms' ? parseEpochMs(field, value) : parseMoment(field, value)
  if (!at.ok || at.value > now) return at
  return flawed({ field, value, message: 'is in the past', allowed: 'a time in the future' })
}

/** The last moment of the year 9999, so that the answer can be printed. */
function parseEpochMs(field: string, value: unknown): Parsed<Instant> {
  const whole = parseInteger(field, value, { min: 0, max: 253_402_300_799_999 })
  return whole.ok ? parsed(instant(whole.value)) : whole
}

function parseInterval(given: Given): Parsed<number> {
  const unitMs = given.unit === 'ms' ? 1 : 1000
  const bounds = { min: SHORTEST_MS / unitMs, max: LONGEST_MS / unitMs }
  const whole = parseInteger(given.name, given.value, bounds)
  return whole.ok ? parsed(whole.value * unitMs) : whole
}
