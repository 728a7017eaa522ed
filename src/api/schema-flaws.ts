import { z } from 'zod'
import { HIDDEN, replacementFor, isConfidential, type RuleFlaws } from './fields.ts'
import { firstNameFlaws, type Flaw, MAX_LISTED_FLAWS } from '../domain/input.ts'
import { nearestWord } from '../domain/nearest-word.ts'

/** The schema at a path inside another schema; null if it is not known. */
function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | null {
  let node = unwrapSchema(schema)
  for (const name of path) {
    const child = childSchemaOf(node, name)
    if (child === null) return null
    node = child
  }
  return node
}

function childSchemaOf(node: z.ZodType, name: PropertyKey): z.ZodType | null {
  if (node instanceof z.ZodObject) {
    const field: unknown = Object.hasOwn(node.shape, name) ? node.shape[String(name)] : undefined
    return field instanceof z.ZodType ? unwrapSchema(field) : null
  }
  if (node instanceof z.ZodArray) return unwrapSchema(node.element as z.ZodType)
  if (node instanceof z.ZodRecord) return unwrapSchema(node.valueType as z.ZodType)
  if (!(node instanceof z.ZodUnion)) return null
  for (const choice of node.options) {
    const child = childSchemaOf(unwrapSchema(choice as z.ZodType), name)
    if (child !== null) return child
  }
  return null
}

/** Unwraps optional, nullable and default. */
function unwrapSchema(schema: z.ZodType): z.ZodType {
  let node = schema
  while (node instanceof z.ZodOptional || node instanceof z.ZodNullable || node instanceof z.ZodDefault)
    node = node.unwrap() as z.ZodType
  return node
}

/** The values a schema accepts, as a phrase; empty if there is no useful phrase. */
function allowedFor(node: z.ZodType | null): Pick<Flaw, 'allowed'> {
  const allowed = node === null ? null : allowedPhrase(node)
  return allowed === null ? {} : { allowed }
}

function allowedPhrase(node: z.ZodType): string | null {
  if (node instanceof z.ZodEnum || node instanceof z.ZodLiteral)
    return [...('options' in node ? node.options : node.values)].map(String).join(', ')
  if (node instanceof z.ZodBoolean) return 'true, false'
  if (node instanceof z.ZodString) return textPhrase(node)
  if (node instanceof z.ZodNumber) return numberPhrase(node)
  if (node instanceof z.ZodObject) return `an object with ${Object.keys(node.shape).join(', ')}`
  if (node instanceof z.ZodUnion) {
    const phrases = node.options.map((choice) => allowedPhrase(unwrapSchema(choice as z.ZodType)))
    return phrases.includes(null) ? null : phrases.join(', or ')
  }
  return null
}

function textPhrase({ minLength, maxLength }: z.ZodString): string | null {
  if (maxLength === null) return minLength === null ? null : `a text of at least ${minLength} characters`
  return `a text of ${minLength ?? 0} to ${maxLength} characters`
}

/** Zod adds these bounds to every integer, so they are not shown. */
const INTEGER_BOUND = Number.MAX_SAFE_INTEGER

function numberPhrase(node: z.ZodNumber): string | null {
  const kind = node.format?.includes('int') === true ? 'a whole number' : 'a number'
  const low = node.minValue === null || node.minValue <= -INTEGER_BOUND ? null : node.minValue
  const high = node.maxValue === null || node.maxValue >= INTEGER_BOUND ? null : node.maxValue
  if (low !== null && !node.safeParse(low).success)
    return high === null ? `${kind} above ${low}` : `${kind} above ${low}, up to ${high}`
  if (low === null) return high === null ? null : `${kind} up to ${high}`
  return high === null ? `${kind} from ${low} on` : `${kind} from ${low} to ${high}`
}

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** A flaw and the check that found it. */
interface FoundFlaw {
  readonly flaw: Flaw
  /** A rule has the better message for a field that the schema rejects too. */
  readonly by: 'rule' | 'shape' | 'missing' | 'name'
  /** The field that a misspelled name probably means. */
  readonly intended?: string
}

/**
 * Translates zod issues to flaws like those of the parsers: the field, the value, what is wrong and what is allowed.
 */
export function flawsOf(error: z.ZodError, given: unknown, schema: z.ZodType): readonly Flaw[] {
  const found = error.issues.slice(0, MAX_LISTED_FLAWS).flatMap((issue) => flawsOfIssue(issue, given, schema))
  const listed = inSchemaOrder(withoutDuplicates(found), schema)
  const more = error.issues.length - MAX_LISTED_FLAWS
  return more > 0 ? [...listed, { field: '', value: undefined, message: `and ${more} more flaws` }] : listed
}

/** Keeps each flaw once: a rule's message wins, and a field is not missing if it was only misspelled. */
function withoutDuplicates(found: readonly FoundFlaw[]): readonly FoundFlaw[] {
  const ruleFields = new Set(found.flatMap(({ by, flaw }) => (by === 'rule' ? [flaw.field] : [])))
  const misspelled = new Set(found.flatMap(({ intended: meant }) => meant ?? []))
  const reported = new Set<string>()
  return found.filter(({ by, flaw: { field } }) => {
    if (by === 'rule') return true
    if (ruleFields.has(field) || (by === 'missing' && misspelled.has(field))) return false
    // A list given for a text is also reported as too short.
    if (by !== 'name' && reported.has(field)) return false
    reported.add(field)
    return true
  })
}

/** Misspelled names first, because they cause other flaws; then in the field order of the schema. */
function inSchemaOrder(found: readonly FoundFlaw[], schema: z.ZodType): readonly Flaw[] {
  if (found.length < 2) return found.map(({ flaw }) => flaw)
  const positioned = found.map((one) => ({ flaw: one.flaw, places: fieldPositions(one, schema) }))
  return positioned.toSorted((one, other) => firstDifference(one.places, other.places)).map(({ flaw }) => flaw)
}

/** The sort key of a field: its index in the schema at each depth. */
function fieldPositions({ by, intended: meant, flaw: { field } }: FoundFlaw, schema: z.ZodType): readonly number[] {
  const path = field === '' ? [] : field.split('.')
  if (by === 'name' && meant !== undefined && path.length === 1) return [-1]
  return path.map((name, depth) => {
    const node = schemaAt(schema, path.slice(0, depth))
    if (!(node instanceof z.ZodObject)) return Number(name) || 0
    const names = Object.keys(node.shape)
    const position = names.indexOf(name)
    return position === -1 ? names.length : position
  })
}

/** Flaws of an object and of its fields keep the order in which they were found. */
function firstDifference(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((position, depth) => depth < other.length && position !== other[depth])
  return at === -1 ? 0 : (one[at] ?? 0) - (other[at] ?? 0)
}

/** Joins field names. Parsers that are called without a name start the names of nested fields with a dot. */
export const fieldAt = (at: string, name: string): string =>
  name === '' ? at : at === '' ? name.replace(/^\./, '') : name.startsWith('.') ? at + name : `${at}.${name}`

function flawsOfIssue(issue: Issue, given: unknown, schema: z.ZodType): readonly FoundFlaw[] {
  const field = issue.path.map(String).join('.')
  const value = valueAt(given, issue.path)
  const ruleFields = ruleFlawsOf(issue)
  if (ruleFields !== null)
    return ruleFields.flaws.map((flaw) => ({ flaw: { ...flaw, field: fieldAt(field, flaw.field) }, by: 'rule' }))
  const node = schemaAt(schema, issue.path)
  if (issue.code === 'unrecognized_keys') return unknownFieldFlaws(issue.keys, { field, value, node })
  if (value === undefined && issue.path.length > 0 && issue.code !== 'custom')
    return [{ flaw: { field, value, message: 'is missing' }, by: 'missing' }]
  if (issue.code === 'invalid_union') return flawsOfUnion(issue, given, schema)
  const shown = node !== null && isConfidential(node) ? HIDDEN : value
  return [{ flaw: { field, value: shown, ...messageFor(issue, value), ...allowedFor(node) }, by: 'shape' }]
}

/** The flaws that a rule reported; null if the issue comes from the schema itself. */
export const ruleFlawsOf = (issue: Issue): RuleFlaws | null =>
  issue.code === 'custom' && issue.params !== undefined && 'found' in issue.params
    ? (issue.params['found'] as RuleFlaws)
    : null

/** Reports the union member that matched best; if none did, names all of them. */
function flawsOfUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  given: unknown,
  schema: z.ZodType,
): readonly FoundFlaw[] {
  if ('options' in issue && issue.errors.length === 0)
    return [{ flaw: unknownDiscriminator(issue, given), by: 'shape' }]
  const [nearest] = issue.errors.filter(matchesExceptFields).toSorted((one, other) => one.length - other.length)
  if (nearest !== undefined)
    return nearest.flatMap((inner) => flawsOfIssue({ ...inner, path: [...issue.path, ...inner.path] }, given, schema))
  const field = issue.path.map(String).join('.')
  const flaw = {
    ...{ field, value: valueAt(given, issue.path), message: 'has an invalid format' },
    ...allowedFor(schemaAt(schema, issue.path)),
  }
  return [{ flaw, by: 'shape' }]
}

/** Whether the value has the type of this union member and only single fields are wrong. */
const matchesExceptFields = (issues: readonly Issue[]): boolean =>
  issues.length > 0 && issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys')

/** The discriminator is not one of the allowed values. */
function unknownDiscriminator(issue: Extract<Issue, { code: 'invalid_union' }>, given: unknown): Flaw {
  const value = valueAt(given, issue.path)
  const values = 'options' in issue ? issue.options : []
  const words = messageFor({ code: 'invalid_value', values: [...values], path: issue.path, message: '' }, value)
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

interface ObjectAtPath {
  readonly field: string
  readonly value: unknown
  readonly node: z.ZodType | null
}

/** Fields that the object does not have: each is misspelled, immutable or unknown. */
function unknownFieldFlaws(names: readonly string[], { field: at, value, node }: ObjectAtPath): readonly FoundFlaw[] {
  const known = node instanceof z.ZodObject ? Object.keys(node.shape) : []
  const meant = new Map<string, string>()
  const flaws = firstNameFlaws(names, {
    at,
    describe: (name) => {
      const field = fieldAt(at, name)
      const flaw = { field, value: valueAt(value, [name]) }
      const instead = node === null ? undefined : replacementFor(node, name)
      const near = instead === undefined ? nearestWord(name, known) : name
      if (near !== null) meant.set(field, fieldAt(at, near))
      if (instead !== undefined) return { ...flaw, message: 'never changes', allowed: instead }
      return {
        ...{ ...flaw, message: `is not a known field${near === null ? '' : `; did you mean ${near}?`}` },
        ...(known.length === 0 ? {} : { allowed: known.join(', ') }),
      }
    },
  })
  return flaws.map((flaw): FoundFlaw => {
    const near = meant.get(flaw.field)
    return { flaw, by: 'name', ...(near === undefined ? {} : { intended: near }) }
  })
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function messageFor(issue: Issue, value: unknown): Pick<Flaw, 'message' | 'allowed'> {
  switch (issue.code) {
    case 'invalid_type': {
      // A custom message of the schema is better than the type.
      const message = issue.message.startsWith('Invalid') ? null : issue.message
      return { message: message ?? `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}` }
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
      return { message: issue.format === 'datetime' ? 'is not a time' : 'has an invalid format', ...formatHint(issue) }
    case 'invalid_union':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return { message: issue.message === 'Invalid input' ? 'has an invalid format' : issue.message }
  }
}

const outOfRange = (origin: string, bound: string): Pick<Flaw, 'message' | 'allowed'> => ({
  message: 'is out of range',
  ...(origin === 'array' ? { allowed: `${bound} entries` } : { allowed: bound }),
})

const formatHint = ({ format }: { readonly format: string }): Pick<Flaw, 'allowed'> =>
  format === 'datetime' ? { allowed: 'RFC 3339, as 2026-05-01T09:00:00Z' } : {}
