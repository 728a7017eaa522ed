import { addAll } from './long-lists.ts'

/**
 * An error in the input, as returned by all parsers of the domain. It has the field, the given value and the allowed
 * values, so that the API, the CLI and the console can show it without knowing the rule.
 */
export interface Flaw {
  /** The field as the user wrote it, nested with dots: `retry_policy.base_ms`. */
  readonly field: string
  readonly value: unknown
  /** Continues a sentence that starts with the field name: "must be at least 1". */
  readonly message: string
  /** The accepted values, as a phrase or a list. */
  readonly allowed?: string
  /** Character offset of the error in a text value, from 0. */
  readonly position?: number
  /** Set for a valid rule that is too dense to evaluate: the response is 422 instead of 400. */
  readonly isTooDense?: true
}

export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly flaws: readonly Flaw[] }

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value })

/** Takes a list instead of rest arguments, because 100,000 arguments would overflow the stack. */
export const flawed = (flaws: Flaw | readonly Flaw[]): Parsed<never> => ({
  ok: false,
  flaws: 'field' in flaws ? [flaws] : flaws,
})

/** The maximum number of flaws in a response. */
export const MAX_LISTED_FLAWS = 20

/** A flaw as one line of text: `cron "61 * * * *": minute 61 is above 59 (allowed: 0-59)`. */
export function describeFlaw(flaw: Flaw): string {
  const given = flaw.value === undefined ? '' : ` ${showValue(flaw.value)}`
  const at = flaw.position === undefined ? '' : ` at position ${flaw.position + 1}`
  const allowed = flaw.allowed === undefined ? '' : ` (allowed: ${flaw.allowed})`
  // A flaw of the whole input has no field.
  const what = `${flaw.field}${given}`.trim()
  return `${what === '' ? '' : `${what}: `}${flaw.message}${at}${allowed}`
}

/** Longer values are truncated in messages. */
const MAX_SHOWN_VALUE = 200

function showValue(value: unknown): string {
  const shown = writeValue(value)
  return shown.length > MAX_SHOWN_VALUE ? `${shown.slice(0, MAX_SHOWN_VALUE)}…` : shown
}

/** Formats any value. A library user can pass values that JSON cannot represent, and this must not throw. */
function writeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      // Only the shown part is escaped, because escaping a very long text is slow.
      return JSON.stringify(value.slice(0, MAX_SHOWN_VALUE))
    case 'boolean':
    case 'number':
    case 'bigint':
      return String(value)
    case 'object':
      try {
        return JSON.stringify(value)
      } catch {
        return 'an object'
      }
    case 'function':
    case 'symbol':
    case 'undefined':
      return `a ${typeof value}`
  }
}

/** Parses a whole number within bounds. */
export function parseInteger(
  field: string,
  value: unknown,
  bounds: { readonly min: number; readonly max?: number },
): Parsed<number> {
  const { min, max = Number.MAX_SAFE_INTEGER } = bounds
  const allowed = bounds.max === undefined ? `a whole number from ${min} on` : `a whole number from ${min} to ${max}`
  if (typeof value !== 'number' || !Number.isSafeInteger(value))
    return flawed({ field, value, message: 'must be a whole number', allowed })
  if (value < min || value > max) return flawed({ field, value, message: 'is out of range', allowed })
  // Replace -0 by 0, because comparisons of stored settings distinguish them.
  return parsed(value === 0 ? 0 : value)
}

/** Parses one of a list of words in any letter case, and returns it in its canonical case. */
export function parseWord<W extends string>(field: string, value: unknown, words: readonly W[]): Parsed<W> {
  const allowed = words.join(', ')
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a word', allowed })
  const given = value.toLowerCase()
  const word = words.find((candidate) => candidate.toLowerCase() === given)
  return word === undefined ? flawed({ field, value, message: 'is not a known value', allowed }) : parsed(word)
}

/** The first flaws of a list, plus one with the number of the remaining flaws. */
export function firstFlaws(field: string, flaws: readonly Flaw[]): readonly Flaw[] {
  const more = flaws.length - MAX_LISTED_FLAWS
  if (more <= 0) return flaws
  return [...flaws.slice(0, MAX_LISTED_FLAWS), { field, value: undefined, message: `and ${more} more mistakes` }]
}

/** A flaw with the number of further unknown fields. */
const moreUnknownFlaw = (at: string, count: number): Flaw => ({
  field: at,
  value: undefined,
  message: `and ${count} more unknown fields`,
})

/** Flaws of the first names, plus one with the number of the remaining names. */
export function firstNameFlaws(
  names: readonly string[],
  { at, describe }: { readonly at: string; readonly describe: (name: string) => Flaw },
): readonly Flaw[] {
  const listed = names.slice(0, MAX_LISTED_FLAWS).map(describe)
  return names.length === listed.length ? listed : [...listed, moreUnknownFlaw(at, names.length - listed.length)]
}

/**
 * The flaws of unknown fields of an object. Suggestions are computed only for the first ones, so that the time is
 * linear in the size of the input.
 */
export function unknownFieldsOf(
  { given, known, at }: { readonly given: object; readonly known: readonly string[]; readonly at: string },
  describe: (name: string) => Flaw,
): readonly Flaw[] {
  const isKnown = new Set(known)
  const unknown = Object.keys(given).filter((name) => !isKnown.has(name))
  return firstNameFlaws(unknown, { at, describe })
}

type FieldParser = (field: string, value: unknown) => Parsed<unknown>

/** The result of a table of field parsers; fields that were not given are missing. */
export type FieldsOf<Fields extends Readonly<Record<string, FieldParser>>> = {
  readonly [Name in keyof Fields]?: ReturnType<Fields[Name]> extends Parsed<infer Value> ? Value : never
}

/**
 * Parses an object with a table of field parsers. Reports all flaws, not only the first. A field that is not in the
 * table is a flaw, because silently ignoring a misspelled setting is worse than an error.
 */
export function parseFields<Fields extends Readonly<Record<string, FieldParser>>>(
  prefix: string,
  value: unknown,
  fields: Fields,
): Parsed<FieldsOf<Fields>> {
  const allowed = Object.keys(fields).join(', ')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field: prefix, value, message: 'must be an object', allowed: `an object with ${allowed}` })
  const found: Record<string, unknown> = {}
  const flaws: Flaw[] = []
  let unknown = 0
  for (const [name, given] of Object.entries(value)) {
    const field = prefix === '' ? name : `${prefix}.${name}`
    const parse = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (parse === undefined) {
      unknown += 1
      if (unknown <= MAX_LISTED_FLAWS)
        flaws.push({ field, value: given as unknown, message: 'is not a known field', allowed })
      continue
    }
    if (given === undefined) continue
    const result = parse(field, given)
    if (result.ok) found[name] = result.value
    else addAll(flaws, result.flaws)
  }
  if (unknown > MAX_LISTED_FLAWS) flaws.push(moreUnknownFlaw(prefix, unknown - MAX_LISTED_FLAWS))
  return flaws.length > 0 ? flawed(flaws) : parsed(found as FieldsOf<Fields>)
}

/** Creates a parser of whole numbers within bounds, for a table of fields. */
export const integerField =
  (bounds: { readonly min: number; readonly max?: number }) =>
  (field: string, value: unknown): Parsed<number> =>
    parseInteger(field, value, bounds)

/** Creates a parser of one of a list of words, for a table of fields. */
export const wordField =
  <W extends string>(words: readonly W[]) =>
  (field: string, value: unknown): Parsed<W> =>
    parseWord(field, value, words)

/** Extends a parser to accept null, which means "none" or "the default". */
export const orNull =
  <T>(parse: (field: string, value: unknown) => Parsed<T>) =>
  (field: string, value: unknown): Parsed<T | null> =>
    value === null ? parsed(null) : parse(field, value)
