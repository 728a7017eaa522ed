import { z } from 'zod'
import { firstOf, MAX_LISTED_FLAWS, type Flaw } from '../core/input.ts'
import { nearestWord } from '../core/nearest-word.ts'
import { HIDDEN, isConfidential, type RuleFound } from './fields.ts'
import { nodeAt, phraseFor } from './schema-phrases.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** What zod found, in the words that all our parsers use: the field, the value, what is wrong and what is allowed. */
export function flawsOf(error: z.ZodError, given: unknown, schema: z.ZodType): readonly Flaw[] {
  const issues = oncePerValue(error.issues)
  const listed = issues.slice(0, MAX_LISTED_FLAWS).flatMap((issue) => flawsOfIssue(issue, given, schema))
  const more = issues.length - MAX_LISTED_FLAWS
  return more > 0 ? [...listed, { field: '', value: undefined, message: `and ${more} more flaws` }] : listed
}

const OF_TYPE_AND_SIZE: readonly Issue['code'][] = ['invalid_type', 'too_small', 'too_big']

/** A list in place of a text is also short as a text, and what is above all numbers also above the largest: said is the first. */
function oncePerValue(issues: readonly Issue[]): readonly Issue[] {
  const told = new Set<string>()
  return issues.filter(({ code, path }) => {
    if (!OF_TYPE_AND_SIZE.includes(code)) return true
    const at = JSON.stringify(path)
    const isFirst = !told.has(at)
    told.add(at)
    return isFirst
  })
}

/** The name of a field inside another. Parsers that are called without a name put a dot before the names of parts. */
export const fieldAt = (at: string, name: string): string =>
  name === '' ? at : at === '' ? name.replace(/^\./, '') : name.startsWith('.') ? at + name : `${at}.${name}`

function flawsOfIssue(issue: Issue, given: unknown, schema: z.ZodType): readonly Flaw[] {
  const field = issue.path.map(String).join('.')
  const value = valueAt(given, issue.path)
  const found = foundBy(issue)
  if (found !== null) return found.flaws.map((flaw) => ({ ...flaw, field: fieldAt(field, flaw.field) }))
  const node = nodeAt(schema, issue.path)
  if (issue.code === 'unrecognized_keys') {
    const known = node instanceof z.ZodObject ? Object.keys(node.shape) : []
    return firstOf(issue.keys, { at: field, describe: (name) => unknownField({ name, field, value, known }) })
  }
  if (value === undefined && issue.path.length > 0 && issue.code !== 'custom')
    return [{ field, value, message: 'is missing' }]
  if (issue.code === 'invalid_union') return flawsOfUnion(issue, given, schema)
  const shown = node !== null && isConfidential(node) ? HIDDEN : value
  return [{ field, value: shown, ...wordsFor(issue, value), ...phraseFor(node) }]
}

/** What a rule found; null: the issue is of the shape itself, as the API describes it. */
export const foundBy = (issue: Issue): RuleFound | null =>
  issue.code === 'custom' && issue.params !== undefined && 'found' in issue.params
    ? (issue.params['found'] as RuleFound)
    : null

/** Of the choices of a union the one that got farthest is what was meant; where none did, all are named. */
function flawsOfUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  given: unknown,
  schema: z.ZodType,
): readonly Flaw[] {
  const nearest = issue.errors.find((issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0))
  if (nearest !== undefined)
    return nearest.flatMap((inner) => flawsOfIssue({ ...inner, path: [...issue.path, ...inner.path] }, given, schema))
  const field = issue.path.map(String).join('.')
  return [
    {
      ...{ field, value: valueAt(given, issue.path), message: 'has the wrong form' },
      ...phraseFor(nodeAt(schema, issue.path)),
    },
  ]
}

export function valueAt(given: unknown, path: Path): unknown {
  let value = given
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[name]
  }
  return value
}

function unknownField(about: {
  readonly name: string
  readonly field: string
  readonly value: unknown
  readonly known: readonly string[]
}): Flaw {
  const { name, field, known } = about
  const near = nearestWord(name, known)
  return {
    field: field === '' ? name : `${field}.${name}`,
    value: valueAt(about.value, [name]),
    message: `is not a known field${near === null ? '' : `; did you mean ${near}?`}`,
    ...(known.length === 0 ? {} : { allowed: known.join(', ') }),
  }
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
