import { addAll } from '../long-lists.ts'
import { flawed, parsed, parseWord, type Flaw, type Parsed } from '../input.ts'

/**
 * The operators of a comparison. There are no regular expressions, so that a comparison written by a tenant cannot
 * run for long.
 */
export const OPERATORS = [
  '=',
  '!=',
  '>',
  '>=',
  '<',
  '<=',
  'in',
  'contains',
  'starts_with',
  'ends_with',
  'exists',
  'missing',
  'empty',
  'not_empty',
] as const
export type Operator = (typeof OPERATORS)[number]

/** Compares the value at a JSON pointer with a given value. */
export interface Comparison {
  /** A JSON pointer (RFC 6901); empty: the whole answer. */
  readonly path: string
  readonly op: Operator
  readonly value?: unknown
}

/** A condition on a JSON value. */
export type Condition =
  | Comparison
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }

/** Larger conditions belong in a program, which a probe can run. */
export const MAX_CONDITION_DEPTH = 5
export const MAX_COMPARISONS = 32
const MAX_POINTER_LENGTH = 500
const MAX_COMPARED_LENGTH = 4_096

/** Operators without a value to compare with. */
export const UNARY_OPERATORS: readonly Operator[] = ['exists', 'missing', 'empty', 'not_empty']
const ORDER_OPERATORS: readonly Operator[] = ['>', '>=', '<', '<=']
const TEXT_OPERATORS: readonly Operator[] = ['starts_with', 'ends_with']

const CONDITION_FORMS = '{"path", "op", "value"}, {"all": […]}, {"any": […]} or {"not": {…}}'

type Given = Readonly<Record<string, unknown>>

/** Reads a condition and reports all its flaws. */
export function parseCondition(field: string, value: unknown): Parsed<Condition> {
  const count = { clauses: 0 }
  const read = readCondition(field, value, { depth: 1, count })
  if (count.clauses <= MAX_COMPARISONS) return read
  const allowed = `up to ${MAX_COMPARISONS} comparisons`
  return flawed({ field, value: undefined, message: `has ${count.clauses} comparisons`, allowed })
}

interface ConditionPosition {
  readonly depth: number
  readonly count: { clauses: number }
}

function readCondition(field: string, value: unknown, at: ConditionPosition): Parsed<Condition> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be a condition', allowed: CONDITION_FORMS })
  if (at.depth > MAX_CONDITION_DEPTH)
    return flawed({
      field,
      value: undefined,
      message: 'is nested too deeply',
      allowed: `${MAX_CONDITION_DEPTH} levels`,
    })
  const given = value as Given
  const words = ['all', 'any', 'not'].filter((word) => Object.hasOwn(given, word))
  const [word] = words
  if (word === undefined) return readComparison(field, given, at)
  if (Object.keys(given).length > 1)
    return flawed({ field, value: undefined, message: `combines ${word} with other fields`, allowed: CONDITION_FORMS })
  const below: ConditionPosition = { ...at, depth: at.depth + 1 }
  if (word === 'not') {
    const inner = readCondition(`${field}.not`, given['not'], below)
    return inner.ok ? parsed({ not: inner.value }) : inner
  }
  const list = readList(`${field}.${word}`, given[word], below)
  if (!list.ok) return list
  return parsed(word === 'all' ? { all: list.value } : { any: list.value })
}

function readList(field: string, value: unknown, at: ConditionPosition): Parsed<readonly Condition[]> {
  const allowed = `a list of 1 to ${MAX_COMPARISONS} conditions`
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_COMPARISONS)
    return flawed({ field, value: undefined, message: 'must be a list of conditions', allowed })
  const flaws: Flaw[] = []
  const found: Condition[] = []
  for (const [index, one] of (value as readonly unknown[]).entries()) {
    const read = readCondition(`${field}.${index}`, one, at)
    if (read.ok) found.push(read.value)
    else addAll(flaws, read.flaws)
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(found)
}

function readComparison(field: string, given: Given, { count }: ConditionPosition): Parsed<Comparison> {
  count.clauses += 1
  const unknown = Object.keys(given).filter((name) => !['path', 'op', 'value'].includes(name))
  const flaws: Flaw[] = unknown.map((name) => ({
    ...{ field: `${field}.${name}`, value: given[name], message: 'is not a known field', allowed: CONDITION_FORMS },
  }))
  const path = parsePointer(`${field}.path`, given['path'] ?? '')
  const op = parseWord(`${field}.op`, given['op'], OPERATORS)
  if (!path.ok) addAll(flaws, path.flaws)
  if (!op.ok) addAll(flaws, op.flaws)
  else addAll(flaws, valueFlaws(`${field}.value`, op.value, given))
  if (!path.ok || !op.ok || flaws.length > 0) return flawed(flaws)
  return parsed({
    path: path.value,
    op: op.value,
    ...(UNARY_OPERATORS.includes(op.value) ? {} : { value: given['value'] }),
  })
}

function valueFlaws(field: string, op: Operator, given: Given): readonly Flaw[] {
  const { value } = given
  if (UNARY_OPERATORS.includes(op))
    return value === undefined ? [] : [{ field, value, message: `does not apply to ${op}; leave it out` }]
  if (value === undefined) return [{ field, value, message: 'is missing', allowed: 'the value to compare with' }]
  if (((JSON.stringify(value) as string | undefined) ?? '').length > MAX_COMPARED_LENGTH)
    return [{ field, value: undefined, message: 'is too long', allowed: `up to ${MAX_COMPARED_LENGTH} characters` }]
  if (ORDER_OPERATORS.includes(op) && typeof value !== 'number' && typeof value !== 'string')
    return [{ field, value, message: `cannot be compared with ${op}`, allowed: 'a number or a text' }]
  if (TEXT_OPERATORS.includes(op) && typeof value !== 'string')
    return [{ field, value, message: `cannot be compared with ${op}`, allowed: 'a text' }]
  if (op === 'in' && !Array.isArray(value)) return [{ field, value, message: 'must be a list', allowed: 'a list' }]
  return []
}

/** Reads a JSON pointer: empty, or `/` and names with `~0` for `~` and `~1` for `/`. */
export function parsePointer(field: string, value: unknown): Parsed<string> {
  const allowed = 'a JSON pointer such as /items/0/state, or empty for the whole answer'
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a JSON pointer', allowed })
  const isPointer = value === '' || (value.startsWith('/') && !/~(?![01])/.test(value))
  if (!isPointer || value.length > MAX_POINTER_LENGTH)
    return flawed({ field, value, message: isPointer ? 'is too long' : 'is not a JSON pointer', allowed })
  return parsed(value)
}
