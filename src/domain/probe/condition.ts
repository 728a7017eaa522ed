import { addAll } from '../long-lists.ts'
import { flawed, parsed, parseWord, type Flaw, type Parsed } from '../input.ts'

/** How a value is compared. There are no regular expressions: nothing that somebody writes here can take long. */
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

/** One comparison: of what stands at a JSON pointer with a value. */
export interface Clause {
  /** A JSON pointer as RFC 6901 has it; empty: the whole answer. */
  readonly path: string
  readonly op: Operator
  readonly value?: unknown
}

/** What has to hold of a JSON value. */
export type Condition =
  Clause | { readonly all: readonly Condition[] } | { readonly any: readonly Condition[] } | { readonly not: Condition }

/** Whoever needs more wants a program of their own, which a probe can call. */
export const DEEPEST = 5
export const MOST_CLAUSES = 32
const LONGEST_PATH = 500
const LONGEST_VALUE = 4_096

/** Those that look at one value and compare it with none. */
export const ALONE: readonly Operator[] = ['exists', 'missing', 'empty', 'not_empty']
const ORDERS: readonly Operator[] = ['>', '>=', '<', '<=']
const TEXTS: readonly Operator[] = ['starts_with', 'ends_with']

const FORMS = '{"path", "op", "value"}, {"all": […]}, {"any": […]} or {"not": {…}}'

type Given = Readonly<Record<string, unknown>>

/** Reads a condition, and says everything that is wrong with it. */
export function parseCondition(field: string, value: unknown): Parsed<Condition> {
  const count = { clauses: 0 }
  const read = readCondition(field, value, { depth: 1, count })
  if (count.clauses <= MOST_CLAUSES) return read
  const allowed = `up to ${MOST_CLAUSES} comparisons`
  return flawed({ field, value: undefined, message: `has ${count.clauses} comparisons`, allowed })
}

interface Reading {
  readonly depth: number
  readonly count: { clauses: number }
}

function readCondition(field: string, value: unknown, at: Reading): Parsed<Condition> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be a condition', allowed: FORMS })
  if (at.depth > DEEPEST)
    return flawed({ field, value: undefined, message: 'is nested too deeply', allowed: `${DEEPEST} levels` })
  const given = value as Given
  const words = ['all', 'any', 'not'].filter((word) => Object.hasOwn(given, word))
  const [word] = words
  if (word === undefined) return readClause(field, given, at)
  if (Object.keys(given).length > 1)
    return flawed({ field, value: undefined, message: `has ${word} and something beside it`, allowed: FORMS })
  const below: Reading = { ...at, depth: at.depth + 1 }
  if (word === 'not') {
    const inner = readCondition(`${field}.not`, given['not'], below)
    return inner.ok ? parsed({ not: inner.value }) : inner
  }
  const list = readList(`${field}.${word}`, given[word], below)
  if (!list.ok) return list
  return parsed(word === 'all' ? { all: list.value } : { any: list.value })
}

function readList(field: string, value: unknown, at: Reading): Parsed<readonly Condition[]> {
  const allowed = `a list of 1 to ${MOST_CLAUSES} conditions`
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_CLAUSES)
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

function readClause(field: string, given: Given, { count }: Reading): Parsed<Clause> {
  count.clauses += 1
  const unknown = Object.keys(given).filter((name) => !['path', 'op', 'value'].includes(name))
  const flaws: Flaw[] = unknown.map((name) => ({
    ...{ field: `${field}.${name}`, value: given[name], message: 'is not a known field', allowed: FORMS },
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
    ...(ALONE.includes(op.value) ? {} : { value: given['value'] }),
  })
}

function valueFlaws(field: string, op: Operator, given: Given): readonly Flaw[] {
  const { value } = given
  if (ALONE.includes(op))
    return value === undefined ? [] : [{ field, value, message: `has no meaning with ${op}; leave it out` }]
  if (value === undefined) return [{ field, value, message: 'is missing', allowed: 'what to compare with' }]
  if (((JSON.stringify(value) as string | undefined) ?? '').length > LONGEST_VALUE)
    return [{ field, value: undefined, message: 'is too long', allowed: `up to ${LONGEST_VALUE} characters` }]
  if (ORDERS.includes(op) && typeof value !== 'number' && typeof value !== 'string')
    return [{ field, value, message: `cannot be compared by ${op}`, allowed: 'a number or a text' }]
  if (TEXTS.includes(op) && typeof value !== 'string')
    return [{ field, value, message: `cannot be compared by ${op}`, allowed: 'a text' }]
  if (op === 'in' && !Array.isArray(value)) return [{ field, value, message: 'must be a list', allowed: 'a list' }]
  return []
}

/** Reads a JSON pointer: empty, or `/` and names with `~0` for `~` and `~1` for `/`. */
export function parsePointer(field: string, value: unknown): Parsed<string> {
  const allowed = 'a JSON pointer such as /items/0/state, or empty for the whole answer'
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a JSON pointer', allowed })
  const isPointer = value === '' || (value.startsWith('/') && !/~(?![01])/.test(value))
  if (!isPointer || value.length > LONGEST_PATH)
    return flawed({ field, value, message: isPointer ? 'is too long' : 'is not a JSON pointer', allowed })
  return parsed(value)
}
