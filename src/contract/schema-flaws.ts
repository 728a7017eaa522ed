import { z } from 'zod'
import { firstOf, MAX_LISTED_FLAWS, type Flaw } from '../domain/input.ts'
import { nearestWord } from '../domain/nearest-word.ts'
import { HIDDEN, insteadOf, isConfidential, type RuleFound } from '../api/fields.ts'
import { nodeAt, phraseFor } from './schema-phrases.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** A flaw with how it was found. */
interface Found {
  readonly flaw: Flaw
  /** A rule has the better words for a field that the shape refuses too. */
  readonly by: 'rule' | 'shape' | 'missing' | 'name'
  /** The field that a misspelt name probably means. */
  readonly meant?: string
}

/** What zod found, in the words that all our parsers use: the field, the value, what is wrong and what is allowed. */
export function flawsOf(error: z.ZodError, given: unknown, schema: z.ZodType): readonly Flaw[] {
  const found = error.issues.slice(0, MAX_LISTED_FLAWS).flatMap((issue) => foundIn(issue, given, schema))
  const listed = inOrder(withoutSame(found), schema)
  const more = error.issues.length - MAX_LISTED_FLAWS
  return more > 0 ? [...listed, { field: '', value: undefined, message: `and ${more} more flaws` }] : listed
}

/** Every fault once: in the words of a rule if there are any, and not as missing what is only misspelt. */
function withoutSame(found: readonly Found[]): readonly Found[] {
  const ruled = new Set(found.flatMap(({ by, flaw }) => (by === 'rule' ? [flaw.field] : [])))
  const misspelt = new Set(found.flatMap(({ meant }) => meant ?? []))
  const told = new Set<string>()
  return found.filter(({ by, flaw: { field } }) => {
    if (by === 'rule') return true
    if (ruled.has(field) || (by === 'missing' && misspelt.has(field))) return false
    // A list where a text should be is also too short for one.
    if (by !== 'name' && told.has(field)) return false
    told.add(field)
    return true
  })
}

/** Misspelt names first, because others follow from them; then as the schema has its fields. */
function inOrder(found: readonly Found[], schema: z.ZodType): readonly Flaw[] {
  if (found.length < 2) return found.map(({ flaw }) => flaw)
  const placed = found.map((one) => ({ flaw: one.flaw, places: placesOf(one, schema) }))
  return placed.toSorted((one, other) => firstDifference(one.places, other.places)).map(({ flaw }) => flaw)
}

/** Where a field stands: its place in the schema, then its place in what is there, and so on. */
function placesOf({ by, meant, flaw: { field } }: Found, schema: z.ZodType): readonly number[] {
  const path = field === '' ? [] : field.split('.')
  if (by === 'name' && meant !== undefined && path.length === 1) return [-1]
  return path.map((name, depth) => {
    const node = nodeAt(schema, path.slice(0, depth))
    if (!(node instanceof z.ZodObject)) return Number(name) || 0
    const names = Object.keys(node.shape)
    const place = names.indexOf(name)
    return place === -1 ? names.length : place
  })
}

/** What is said of a whole and of its parts stays in the order in which it was found. */
function firstDifference(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((place, depth) => depth < other.length && place !== other[depth])
  return at === -1 ? 0 : (one[at] ?? 0) - (other[at] ?? 0)
}

/** The name of a field inside another. Parsers that are called without a name put a dot before the names of parts. */
export const fieldAt = (at: string, name: string): string =>
  name === '' ? at : at === '' ? name.replace(/^\./, '') : name.startsWith('.') ? at + name : `${at}.${name}`

function foundIn(issue: Issue, given: unknown, schema: z.ZodType): readonly Found[] {
  const field = issue.path.map(String).join('.')
  const value = valueAt(given, issue.path)
  const ruled = foundBy(issue)
  if (ruled !== null)
    return ruled.flaws.map((flaw) => ({ flaw: { ...flaw, field: fieldAt(field, flaw.field) }, by: 'rule' }))
  const node = nodeAt(schema, issue.path)
  if (issue.code === 'unrecognized_keys') return unknownNames(issue.keys, { field, value, node })
  if (value === undefined && issue.path.length > 0 && issue.code !== 'custom')
    return [{ flaw: { field, value, message: 'is missing' }, by: 'missing' }]
  if (issue.code === 'invalid_union') return foundInUnion(issue, given, schema)
  const shown = node !== null && isConfidential(node) ? HIDDEN : value
  return [{ flaw: { field, value: shown, ...wordsFor(issue, value), ...phraseFor(node) }, by: 'shape' }]
}

/** What a rule found; null: the issue is of the shape itself, as the API describes it. */
export const foundBy = (issue: Issue): RuleFound | null =>
  issue.code === 'custom' && issue.params !== undefined && 'found' in issue.params
    ? (issue.params['found'] as RuleFound)
    : null

/** Of the choices of a union the one that got farthest is what was meant; where none did, all are named. */
function foundInUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  given: unknown,
  schema: z.ZodType,
): readonly Found[] {
  if ('options' in issue && issue.errors.length === 0) return [{ flaw: unknownKind(issue, given), by: 'shape' }]
  const [nearest] = issue.errors.filter(isInside).toSorted((one, other) => one.length - other.length)
  if (nearest !== undefined)
    return nearest.flatMap((inner) => foundIn({ ...inner, path: [...issue.path, ...inner.path] }, given, schema))
  const field = issue.path.map(String).join('.')
  const flaw = {
    ...{ field, value: valueAt(given, issue.path), message: 'has the wrong form' },
    ...phraseFor(nodeAt(schema, issue.path)),
  }
  return [{ flaw, by: 'shape' }]
}

/** Whether a choice fits as a whole, and only single fields do not. */
const isInside = (issues: readonly Issue[]): boolean =>
  issues.length > 0 && issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys')

/** The word that says which choice is meant is none of them. */
function unknownKind(issue: Extract<Issue, { code: 'invalid_union' }>, given: unknown): Flaw {
  const value = valueAt(given, issue.path)
  const values = 'options' in issue ? issue.options : []
  const words = wordsFor({ code: 'invalid_value', values: [...values], path: issue.path, message: '' }, value)
  return { field: issue.path.map(String).join('.'), value, ...words }
}

export function valueAt(given: unknown, path: Path): unknown {
  let value = given
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[name]
  }
  return value
}

interface Place {
  readonly field: string
  readonly value: unknown
  readonly node: z.ZodType | null
}

/** Names that the object does not have: each is misspelt, never changes, or nobody knows it. */
function unknownNames(names: readonly string[], { field: at, value, node }: Place): readonly Found[] {
  const known = node instanceof z.ZodObject ? Object.keys(node.shape) : []
  const meant = new Map<string, string>()
  const flaws = firstOf(names, {
    at,
    describe: (name) => {
      const field = fieldAt(at, name)
      const flaw = { field, value: valueAt(value, [name]) }
      const instead = node === null ? undefined : insteadOf(node, name)
      const near = instead === undefined ? nearestWord(name, known) : name
      if (near !== null) meant.set(field, fieldAt(at, near))
      if (instead !== undefined) return { ...flaw, message: 'never changes', allowed: instead }
      return {
        ...{ ...flaw, message: `is not a known field${near === null ? '' : `; did you mean ${near}?`}` },
        ...(known.length === 0 ? {} : { allowed: known.join(', ') }),
      }
    },
  })
  return flaws.map((flaw): Found => {
    const near = meant.get(flaw.field)
    return { flaw, by: 'name', ...(near === undefined ? {} : { meant: near }) }
  })
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function wordsFor(issue: Issue, value: unknown): Pick<Flaw, 'message' | 'allowed'> {
  switch (issue.code) {
    case 'invalid_type': {
      // A schema that has words of its own says it better than the type does.
      const message = issue.message.startsWith('Invalid') ? null : issue.message
      return { message: message ?? `must be ${KINDS[issue.expected] ?? issue.expected}` }
    }
    case 'invalid_value': {
      const allowed = issue.values.map(String).join(', ')
      return { message: typeof value === 'string' ? 'is not a known value' : 'must be a word', allowed }
    }
    case 'too_small':
      return issue.origin === 'string' ? { message: 'is too short' } : outOfRange(issue.origin, `from ${issue.minimum}`)
    case 'too_big':
      return issue.origin === 'string' ? { message: 'is too long' } : outOfRange(issue.origin, `up to ${issue.maximum}`)
    case 'invalid_format':
      return { message: issue.format === 'datetime' ? 'is not a time' : 'has the wrong form', ...formatHint(issue) }
    case 'invalid_union':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return { message: issue.message === 'Invalid input' ? 'has the wrong form' : issue.message }
  }
}

const outOfRange = (origin: string, bound: string): Pick<Flaw, 'message' | 'allowed'> => ({
  message: 'is out of range',
  ...(origin === 'array' ? { allowed: `${bound} entries` } : { allowed: bound }),
})

const formatHint = ({ format }: { readonly format: string }): Pick<Flaw, 'allowed'> =>
  format === 'datetime' ? { allowed: 'RFC 3339, as 2026-05-01T09:00:00Z' } : {}
