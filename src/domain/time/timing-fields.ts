import { cadenceFlaws, misplacedCadence } from '../schedule/pace/settings.ts'
import { parseWord, type Flaw } from '../input.ts'
import { parseMoment } from '../instant.ts'
import type { Timing } from './timing.ts'

/**
 * Which fields say when a schedule fires, under all the names they are accepted by. A flaw speaks of the name the
 * user wrote. Their values are read by the schema of schedules.
 */
export type Input = Readonly<Record<string, unknown>>

type Kind = Timing['kind']

interface Field {
  readonly name: string
  readonly value: unknown
}

/** A field that was given and what it decides. */
export interface Given extends Field {
  readonly kind: Kind
  readonly unit: 'ms' | null
}

/** The names of the plans. The first is the one that is kept. */
export const PLANS: Readonly<Record<Kind, readonly string[]>> = {
  at: ['at', 'run_at', 'atMs'],
  every: ['every_seconds', 'interval_seconds', 'everyMs'],
  cron: ['cron', 'cron_expr', 'expr'],
  rrule: ['rrule'],
}
export const PLAN_NAMES = Object.values(PLANS).flat()
const KINDS: readonly Kind[] = ['at', 'every', 'cron', 'rrule']
export const ZONE_NAMES: readonly string[] = ['timezone', 'tz']
const KIND_NAMES: readonly string[] = ['kind', 'schedule_type']
/** What is kept of a timing beside its plan, its zone and its anchor. */
export const LIMIT_NAMES: readonly string[] = ['dst', 'day_match', 'starts_at', 'ends_at', 'exclude', 'cadence']

/** Every name of a field that says when a schedule fires. */
export const TIMING_FIELDS: readonly string[] = [...PLAN_NAMES, ...KIND_NAMES, 'anchor', ...ZONE_NAMES, ...LIMIT_NAMES]

/** The words for the kinds of timing, with those of the seeds. */
export const KIND_WORDS = ['at', 'once', 'every', 'interval', 'cron', 'rrule'] as const

const ONE_OF = 'exactly one of at, every_seconds, cron, rrule'

/** Every tick of `every` must be at least a second away from the next, and no person plans in intervals of centuries. */
export const MIN_INTERVAL_SECONDS = 1
export const MAX_INTERVAL_SECONDS = 100 * 366 * 86_400

/** Null counts as not given. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** The one field of several that mean the same, or null if none is given. */
export function findField(input: Input, names: readonly string[]): Field | null {
  const name = names.find((one) => isGiven(input[one]))
  return name === undefined ? null : { name, value: input[name] }
}

/** One flaw where several fields that mean the same are given. */
export function synonymFlaws(input: Input, names: readonly string[]): readonly Flaw[] {
  const [first, second] = names.filter((name) => isGiven(input[name]))
  if (first === undefined || second === undefined) return []
  return [together(first, { name: second, value: input[second] }, `one of ${names.join(', ')}`)]
}

const together = (first: string, second: Field, allowed: string): Flaw => ({
  field: second.name,
  value: second.value,
  message: `cannot be given together with ${first}`,
  allowed,
})

const plansIn = (input: Input): readonly Given[] =>
  KINDS.flatMap((kind) => {
    const field = findField(input, PLANS[kind])
    return field === null ? [] : [{ kind, ...field, unit: field.name.endsWith('Ms') ? ('ms' as const) : null }]
  })

/** The field that holds the plan; null: there is none. */
export const planIn = (input: Input): Given | null => plansIn(input)[0] ?? null

/** How long the interval of a plan is. */
export const intervalOf = ({ unit, value }: Given): number => Number(value) * (unit === 'ms' ? 1 : 1000)

/**
 * What is wrong between fields that say when. It is asked before and after single fields are found to be right, so it
 * expects anything. `needsPlan`: of a change the plan may be left out, of a whole schedule it may not.
 */
export function timingFlaws(input: Input, needsPlan: boolean): readonly Flaw[] {
  return [
    ...synonymFlaws(input, ZONE_NAMES),
    ...windowFlaws(input),
    ...KINDS.flatMap((kind) => synonymFlaws(input, PLANS[kind])),
    ...synonymFlaws(input, KIND_NAMES),
    ...planFlaws(input, needsPlan),
  ]
}

function windowFlaws({ starts_at: from, ends_at: to }: Input): readonly Flaw[] {
  if (!isGiven(from) || !isGiven(to)) return []
  const [start, end] = [parseMoment('starts_at', from), parseMoment('ends_at', to)]
  if (!start.ok || !end.ok || end.value > start.value) return []
  return [{ field: 'ends_at', value: to, message: 'must be after starts_at', allowed: 'a later time' }]
}

function planFlaws(input: Input, needsPlan: boolean): readonly Flaw[] {
  const [first, second] = plansIn(input)
  const stated = statedKind(input)
  if (first === undefined) {
    if (!needsPlan || stated?.kind === null) return []
    return [
      stated === null ? { field: 'cron', value: undefined, message: 'is missing', allowed: ONE_OF } : missing(stated),
    ]
  }
  if (second !== undefined) return [together(first.name, second, ONE_OF)]
  return [...contradiction(stated, first), ...misplaced(input, first)]
}

/** Fields that belong to plans of another kind, or contradict the plan. */
function misplaced({ anchor, cadence }: Input, plan: Given): readonly Flaw[] {
  const isAnchored = plan.kind === 'every' || plan.kind === 'rrule'
  const message = 'belongs to every_seconds or rrule'
  return [
    ...(isAnchored || !isGiven(anchor) ? [] : [{ field: 'anchor', value: anchor, message, allowed: 'leave it out' }]),
    ...(isGiven(cadence)
      ? plan.kind === 'every'
        ? cadenceFlaws('cadence', cadence, intervalOf(plan))
        : [misplacedCadence(cadence)]
      : []),
  ]
}

interface Stated extends Field {
  /** Null if the word is not known, about which there is a flaw already. */
  readonly kind: Kind | null
}

function statedKind(input: Input): Stated | null {
  const field = findField(input, KIND_NAMES)
  if (field === null) return null
  const word = parseWord(field.name, field.value, KIND_WORDS)
  return { ...field, kind: word.ok ? kindOf(word.value) : null }
}

const kindOf = (word: (typeof KIND_WORDS)[number]): Kind =>
  word === 'once' ? 'at' : word === 'interval' ? 'every' : word

function missing({ kind }: Stated): Flaw {
  const names = PLANS[kind ?? 'cron']
  return { field: names[0] ?? '', value: undefined, message: 'is missing', allowed: names.join(', ') }
}

function contradiction(stated: Stated | null, given: Given): readonly Flaw[] {
  if (stated === null || stated.kind === null || stated.kind === given.kind) return []
  return [{ field: stated.name, value: stated.value, message: `contradicts ${given.name}`, allowed: given.kind }]
}
