import { addAll } from './long-lists.ts'
/**
 * How every parser of the core answers. A flaw says which field is wrong, what was given and what would have been
 * right, so that each surface (HTTP problem, CLI message, field in the editor) can show it without knowing the rule.
 */
export interface Flaw {
  /** The field as the user wrote it, nested with dots: `retry_policy.base_ms`. */
  readonly field: string
  readonly value: unknown
  /** Reads on after the field's name: "must be at least 1". */
  readonly message: string
  /** What would be accepted, as a phrase or as the list of words. */
  readonly allowed?: string
  /** Character offset of the fault inside a text value, counted from 0. */
  readonly position?: number
  /** It is well formed, and only more than is worked out: answered 422 instead of 400. */
  readonly isTooDense?: true
}

export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly flaws: readonly Flaw[] }

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value })

/** A list is not spread into arguments: a hundred thousand flaws would overflow the stack. */
export const flawed = (flaws: Flaw | readonly Flaw[]): Parsed<never> => ({
  ok: false,
  flaws: 'field' in flaws ? [flaws] : flaws,
})

/** So many flaws are listed: enough to see what is wrong, and few enough to be read. */
export const MAX_LISTED_FLAWS = 20

/** One line for people: `cron "61 * * * *": minute 61 is above 59 (allowed: 0-59)`. */
export function describeFlaw(flaw: Flaw): string {
  const given = flaw.value === undefined ? '' : ` ${showValue(flaw.value)}`
  const at = flaw.position === undefined ? '' : ` at position ${flaw.position + 1}`
  const allowed = flaw.allowed === undefined ? '' : ` (allowed: ${flaw.allowed})`
  // What is wrong as a whole has no name.
  const what = `${flaw.field}${given}`.trim()
  return `${what === '' ? '' : `${what}: `}${flaw.message}${at}${allowed}`
}

/** Longer values are cut: a complaint about a megabyte must not be a megabyte. */
const MOST_SHOWN = 200

function showValue(value: unknown): string {
  const shown = writeValue(value)
  return shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN)}…` : shown
}

/** A program may hand in what no JSON can hold; saying what is wrong with it must not fail because of that. */
function writeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      // Only what is shown is written: escaping all of a long text takes longer than anything else that reads it.
      return JSON.stringify(value.slice(0, MOST_SHOWN))
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

/** Reads a whole number inside bounds. */
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
  // Not -0: it passes for 0 everywhere but in a comparison of stored settings.
  return parsed(value === 0 ? 0 : value)
}

/** Reads one of a closed list of words, in any case, and answers with the word as we spell it. */
export function parseWord<W extends string>(field: string, value: unknown, words: readonly W[]): Parsed<W> {
  const allowed = words.join(', ')
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a word', allowed })
  const given = value.toLowerCase()
  const word = words.find((candidate) => candidate.toLowerCase() === given)
  return word === undefined ? flawed({ field, value, message: 'is not a known value', allowed }) : parsed(word)
}

/** The first flaws of a list, and one that says how many more there are. */
export function firstFlaws(field: string, flaws: readonly Flaw[]): readonly Flaw[] {
  const more = flaws.length - MAX_LISTED_FLAWS
  if (more <= 0) return flaws
  return [...flaws.slice(0, MAX_LISTED_FLAWS), { field, value: undefined, message: `and ${more} more mistakes` }]
}

/** How many more fields there are with names that are not known. */
const moreUnknown = (at: string, count: number): Flaw => ({
  field: at,
  value: undefined,
  message: `and ${count} more unknown fields`,
})

/** Flaws of the first names, and one that says how many more there are. */
export function firstOf(
  names: readonly string[],
  { at, describe }: { readonly at: string; readonly describe: (name: string) => Flaw },
): readonly Flaw[] {
  const listed = names.slice(0, MAX_LISTED_FLAWS).map(describe)
  return names.length === listed.length ? listed : [...listed, moreUnknown(at, names.length - listed.length)]
}

/**
 * The flaws of the fields of an object with names that are not known. What is said about each (the name that was
 * probably meant) is worked out only for the first ones, so that it takes time linear in what was given.
 */
export function unknownFieldsOf(
  { given, known, at }: { readonly given: object; readonly known: readonly string[]; readonly at: string },
  describe: (name: string) => Flaw,
): readonly Flaw[] {
  const isKnown = new Set(known)
  const unknown = Object.keys(given).filter((name) => !isKnown.has(name))
  return firstOf(unknown, { at, describe })
}

type FieldParser = (field: string, value: unknown) => Parsed<unknown>

/** What a table of field parsers reads: each field, if it was given. */
export type FieldsOf<Fields extends Readonly<Record<string, FieldParser>>> = {
  readonly [Name in keyof Fields]?: ReturnType<Fields[Name]> extends Parsed<infer Value> ? Value : never
}

/**
 * Reads an object by a table of field parsers. Says everything that is wrong with it, not only the first thing; a field
 * that is not in the table is a flaw, because a misspelt setting that does nothing is worse than an error.
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
  if (unknown > MAX_LISTED_FLAWS) flaws.push(moreUnknown(prefix, unknown - MAX_LISTED_FLAWS))
  return flaws.length > 0 ? flawed(flaws) : parsed(found as FieldsOf<Fields>)
}

/** A parser of whole numbers inside bounds, for a table of fields. */
export const integerField =
  (bounds: { readonly min: number; readonly max?: number }) =>
  (field: string, value: unknown): Parsed<number> =>
    parseInteger(field, value, bounds)

/** A parser of one of a list of words, for a table of fields. */
export const wordField =
  <W extends string>(words: readonly W[]) =>
  (field: string, value: unknown): Parsed<W> =>
    parseWord(field, value, words)

/** Lets a parser also take null, where null means "none" or "the default". */
export const orNull =
  <T>(parse: (field: string, value: unknown) => Parsed<T>) =>
  (field: string, value: unknown): Parsed<T | null> =>
    value === null ? parsed(null) : parse(field, value)
