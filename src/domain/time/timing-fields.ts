import { cadenceFlaws, misplacedCadence } from '../schedule/pace/settings.ts'
import { parseWord, type Flaw } from '../input.ts'
import { parseTimeOrMs } from '../instant.ts'
import type { Timing } from './timing.ts'

/**
 * The timing fields of a schedule, with all their accepted names. A flaw uses the name that the user sent. The schema
 * of schedules validates the values.
 */
export type TimingInput = Readonly<Record<string, unknown>>

type TimingKind = Timing['kind']

interface GivenField {
  readonly name: string
  readonly value: unknown
}

/** A given plan field and the kind of timing that it sets. */
export interface GivenPlan extends GivenField {
  readonly kind: TimingKind
  readonly unit: 'ms' | null
}

/** The names of the plan fields. The first name of each is the canonical one. */
export const PLAN_FIELDS: Readonly<Record<TimingKind, readonly string[]>> = {
  at: ['at', 'run_at', 'atMs'],
  every: ['every_seconds', 'interval_seconds', 'everyMs'],
  cron: ['cron', 'cron_expr', 'expr'],
  rrule: ['rrule'],
}
export const PLAN_NAMES = Object.values(PLAN_FIELDS).flat()
const KINDS: readonly TimingKind[] = ['at', 'every', 'cron', 'rrule']
export const ZONE_NAMES: readonly string[] = ['timezone', 'tz']
const KIND_NAMES: readonly string[] = ['kind', 'schedule_type']
/** The stored fields of a timing besides its plan, time zone and anchor. */
export const LIMIT_NAMES: readonly string[] = ['dst', 'day_match', 'starts_at', 'ends_at', 'exclude', 'cadence']

/** All names of timing fields. */
export const TIMING_FIELDS: readonly string[] = [...PLAN_NAMES, ...KIND_NAMES, 'anchor', ...ZONE_NAMES, ...LIMIT_NAMES]

/** The accepted values of `kind` and `schedule_type`. */
export const KIND_WORDS = ['at', 'once', 'every', 'interval', 'cron', 'rrule'] as const

const ONE_PLAN = 'exactly one of at, every_seconds, cron, rrule'

/** Limits of an interval: at least one second, at most 100 years. */
export const MIN_INTERVAL_SECONDS = 1
export const MAX_INTERVAL_SECONDS = 100 * 366 * 86_400

/** Null counts as not given. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** The given field among synonyms, or null if none is given. */
export function findField(input: TimingInput, names: readonly string[]): GivenField | null {
  const name = names.find((one) => isGiven(input[one]))
  return name === undefined ? null : { name, value: input[name] }
}

/** A flaw if more than one of several synonyms is given. */
export function synonymFlaws(input: TimingInput, names: readonly string[]): readonly Flaw[] {
  const [first, second] = names.filter((name) => isGiven(input[name]))
  if (first === undefined || second === undefined) return []
  return [conflictFlaw(first, { name: second, value: input[second] }, `one of ${names.join(', ')}`)]
}

const conflictFlaw = (first: string, second: GivenField, allowed: string): Flaw => ({
  field: second.name,
  value: second.value,
  message: `cannot be combined with ${first}`,
  allowed,
})

const givenPlans = (input: TimingInput): readonly GivenPlan[] =>
  KINDS.flatMap((kind) => {
    const field = findField(input, PLAN_FIELDS[kind])
    return field === null ? [] : [{ kind, ...field, unit: field.name.endsWith('Ms') ? ('ms' as const) : null }]
  })

/** The plan field, or null if none is given. */
export const givenPlan = (input: TimingInput): GivenPlan | null => givenPlans(input)[0] ?? null

/** The interval of a plan in milliseconds. */
export const intervalOf = ({ unit, value }: GivenPlan): number => Number(value) * (unit === 'ms' ? 1 : 1000)

/**
 * Flaws of combinations of timing fields. Called before and after single fields are validated, so values can be of any
 * type. `needsPlan` is false for an update, which can omit the plan.
 */
export function timingFlaws(input: TimingInput, needsPlan: boolean): readonly Flaw[] {
  return [
    ...synonymFlaws(input, ZONE_NAMES),
    ...windowFlaws(input),
    ...KINDS.flatMap((kind) => synonymFlaws(input, PLAN_FIELDS[kind])),
    ...synonymFlaws(input, KIND_NAMES),
    ...planFlaws(input, needsPlan),
  ]
}

function windowFlaws({ starts_at: from, ends_at: to }: TimingInput): readonly Flaw[] {
  if (!isGiven(from) || !isGiven(to)) return []
  const [start, end] = [parseTimeOrMs('starts_at', from), parseTimeOrMs('ends_at', to)]
  if (!start.ok || !end.ok || end.value > start.value) return []
  return [{ field: 'ends_at', value: to, message: 'must be after starts_at', allowed: 'a later time' }]
}

function planFlaws(input: TimingInput, needsPlan: boolean): readonly Flaw[] {
  const [first, second] = givenPlans(input)
  const stated = findStatedKind(input)
  if (first === undefined) {
    if (!needsPlan || stated?.kind === null) return []
    return [
      stated === null
        ? { field: 'cron', value: undefined, message: 'is missing', allowed: ONE_PLAN }
        : missingFlaw(stated),
    ]
  }
  if (second !== undefined) return [conflictFlaw(first.name, second, ONE_PLAN)]
  return [...kindMismatchFlaws(stated, first), ...misplacedFlaws(input, first)]
}

/** Fields that do not apply to the kind of the plan, or contradict it. */
function misplacedFlaws({ anchor, cadence }: TimingInput, plan: GivenPlan): readonly Flaw[] {
  const isAnchored = plan.kind === 'every' || plan.kind === 'rrule'
  const message = 'applies only to every_seconds and rrule'
  return [
    ...(isAnchored || !isGiven(anchor) ? [] : [{ field: 'anchor', value: anchor, message, allowed: 'leave it out' }]),
    ...(isGiven(cadence)
      ? plan.kind === 'every'
        ? cadenceFlaws('cadence', cadence, intervalOf(plan))
        : [misplacedCadence(cadence)]
      : []),
  ]
}

interface StatedKind extends GivenField {
  /** Null if the value is unknown, which the schema has already reported. */
  readonly kind: TimingKind | null
}

function findStatedKind(input: TimingInput): StatedKind | null {
  const field = findField(input, KIND_NAMES)
  if (field === null) return null
  const word = parseWord(field.name, field.value, KIND_WORDS)
  return { ...field, kind: word.ok ? kindOf(word.value) : null }
}

const kindOf = (word: (typeof KIND_WORDS)[number]): TimingKind =>
  word === 'once' ? 'at' : word === 'interval' ? 'every' : word

function missingFlaw({ kind }: StatedKind): Flaw {
  const names = PLAN_FIELDS[kind ?? 'cron']
  return { field: names[0] ?? '', value: undefined, message: 'is missing', allowed: names.join(', ') }
}

function kindMismatchFlaws(stated: StatedKind | null, given: GivenPlan): readonly Flaw[] {
  if (stated === null || stated.kind === null || stated.kind === given.kind) return []
  return [{ field: stated.name, value: stated.value, message: `contradicts ${given.name}`, allowed: given.kind }]
}
