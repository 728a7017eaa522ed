import type { z } from 'zod'
import { firstOf, MAX_LISTED_FLAWS, type Flaw } from '../core/input.ts'
import { nearestWord } from '../core/nearest-word.ts'

type Issue = z.core.$ZodIssue

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

/** What zod found, in the words that all our parsers use. `known` are the fields there are at the top. */
export function flawsOf(error: z.ZodError, given: unknown, known: readonly string[]): readonly Flaw[] {
  const listed = error.issues.slice(0, MAX_LISTED_FLAWS).flatMap((issue) => flawsOfIssue(issue, given, known))
  const more = error.issues.length - MAX_LISTED_FLAWS
  return more > 0 ? [...listed, { field: '', value: undefined, message: `and ${more} more flaws` }] : listed
}

function flawsOfIssue(issue: Issue, given: unknown, known: readonly string[]): readonly Flaw[] {
  const field = issue.path.map(String).join('.')
  const value = valueAt(given, issue.path)
  if (issue.code === 'unrecognized_keys')
    return firstOf(issue.keys, {
      at: field,
      describe: (name) => unknownField({ name, field, value, known: field === '' ? known : [] }),
    })
  if (value === undefined && issue.path.length > 0 && issue.code !== 'custom')
    return [{ field, value, message: 'is missing' }]
  return [{ field, value, ...wordsFor(issue) }]
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
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

function wordsFor(issue: Issue): Pick<Flaw, 'message' | 'allowed'> {
  switch (issue.code) {
    case 'invalid_type':
      return { message: `must be ${KINDS[issue.expected] ?? issue.expected}` }
    case 'invalid_value':
      return { message: 'is not a known value', allowed: issue.values.map(String).join(', ') }
    case 'too_small':
      return { message: issue.origin === 'string' ? 'is too short' : 'is out of range', allowed: least(issue) }
    case 'too_big':
      return { message: issue.origin === 'string' ? 'is too long' : 'is out of range', allowed: most(issue) }
    case 'invalid_format':
      return {
        message: issue.format === 'datetime' ? 'is not a time' : 'has the wrong form',
        ...formatHint(issue.format),
      }
    case 'invalid_union':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return { message: issue.message === 'Invalid input' ? 'has the wrong form' : issue.message }
  }
}

const formatHint = (format: string): Pick<Flaw, 'allowed'> =>
  format === 'datetime' ? { allowed: 'RFC 3339, as 2026-05-01T09:00:00Z' } : {}

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' }

const least = (issue: Extract<Issue, { code: 'too_small' }>): string =>
  `from ${issue.minimum}${UNITS[issue.origin] ?? ''} on`

const most = (issue: Extract<Issue, { code: 'too_big' }>): string =>
  `up to ${issue.maximum}${UNITS[issue.origin] ?? ''}`
