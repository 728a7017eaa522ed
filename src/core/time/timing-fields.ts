import { addAll } from '../long-lists.ts'
import type { Flaw } from '../input.ts'
import { parseWord } from '../input.ts'
import type { Timing } from './timing.ts'

/**
 * Which fields say when a schedule fires, under all the names they are accepted by. A flaw speaks of the name the
 * user wrote.
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

const NAMES: Readonly<Record<Kind, readonly string[]>> = {
  at: ['at', 'run_at', 'atMs'],
  every: ['every_seconds', 'interval_seconds', 'everyMs'],
  cron: ['cron', 'cron_expr', 'expr'],
  rrule: ['rrule'],
}
const KINDS: readonly Kind[] = ['at', 'every', 'cron', 'rrule']

/** The words for the kinds of timing, with those of the seeds. */
export const KIND_WORDS = ['at', 'once', 'every', 'interval', 'cron', 'rrule'] as const

const ONE_OF = 'exactly one of at, every_seconds, cron, rrule'

/** The one field of several that mean the same, or null if none is given. Null counts as not given. */
export function findField(input: Input, names: readonly string[], flaws: Flaw[]): Field | null {
  const [first, second] = names.filter((name) => input[name] !== undefined && input[name] !== null)
  if (first === undefined) return null
  if (second !== undefined)
    flaws.push(together(first, { name: second, value: input[second] }, `one of ${names.join(', ')}`))
  return { name: first, value: input[first] }
}

const together = (first: string, second: Field, allowed: string): Flaw => ({
  field: second.name,
  value: second.value,
  message: `cannot be given together with ${first}`,
  allowed,
})

/** The field that holds the plan. Contradictions and its absence are added to the flaws. */
export function findKind(input: Input, flaws: Flaw[]): Given | null {
  const given = KINDS.flatMap((kind) => {
    const field = findField(input, NAMES[kind], flaws)
    return field === null ? [] : [{ kind, ...field, unit: field.name.endsWith('Ms') ? ('ms' as const) : null }]
  })
  const stated = statedKind(input, flaws)
  const [first, second] = given
  if (first === undefined) {
    if (stated?.kind !== undefined) flaws.push(missing(stated.kind))
    else if (stated === null) flaws.push({ field: 'cron', value: undefined, message: 'is missing', allowed: ONE_OF })
    return null
  }
  if (second !== undefined) flaws.push(together(first.name, second, ONE_OF))
  else if (stated?.kind !== undefined && stated.kind !== first.kind) flaws.push(contradiction(stated, first))
  return first
}

interface Stated extends Field {
  /** Undefined if the word is not known, about which there is a flaw already. */
  readonly kind: Kind | undefined
}

function statedKind(input: Input, flaws: Flaw[]): Stated | null {
  const field = findField(input, ['kind', 'schedule_type'], flaws)
  if (field === null) return null
  const word = parseWord(field.name, field.value, KIND_WORDS)
  if (!word.ok) addAll(flaws, word.flaws)
  return { ...field, kind: word.ok ? kindOf(word.value) : undefined }
}

const kindOf = (word: (typeof KIND_WORDS)[number]): Kind =>
  word === 'once' ? 'at' : word === 'interval' ? 'every' : word

const missing = (kind: Kind): Flaw => ({
  field: NAMES[kind][0] ?? kind,
  value: undefined,
  message: 'is missing',
  allowed: NAMES[kind].join(', '),
})

const contradiction = (stated: Stated, given: Given): Flaw => ({
  field: stated.name,
  value: stated.value,
  message: `contradicts ${given.name}`,
  allowed: given.kind,
})
