import { UNARY_OPERATORS, type Comparison, type Condition, type Operator } from './condition.ts'
import { valueAtPointer } from '../json.ts'

/** Whether a condition holds, and a sentence with the deciding comparison and the value it found. */
export interface ConditionResult {
  readonly holds: boolean
  readonly sentence: string
}

/** Checks a condition against a JSON value. Values that cannot be compared do not satisfy it. */
export function checkCondition(condition: Condition, of: unknown): ConditionResult {
  if ('not' in condition) {
    const inner = checkCondition(condition.not, of)
    return { holds: !inner.holds, sentence: inner.sentence }
  }
  if ('all' in condition) return checkList(condition.all, of, false)
  if ('any' in condition) return checkList(condition.any, of, true)
  return checkComparison(condition, valueAtPointer(of, condition.path))
}

/** Returns the first condition that decides the list, or the last one when none does. */
function checkList(list: readonly Condition[], of: unknown, deciding: boolean): ConditionResult {
  let last: ConditionResult = { holds: !deciding, sentence: 'there was nothing to compare' }
  for (const one of list) {
    last = checkCondition(one, of)
    if (last.holds === deciding) return last
  }
  return last
}

function checkComparison({ path, op, value }: Comparison, found: unknown): ConditionResult {
  const subject = path === '' ? 'the answer' : path
  const is = `${subject} is ${quotedJson(found)}`
  switch (op) {
    case 'exists':
      return { holds: found !== undefined && found !== null, sentence: is }
    case 'missing':
      return { holds: found === undefined || found === null, sentence: is }
    case 'empty':
      return { holds: isEmpty(found), sentence: is }
    case 'not_empty':
      return { holds: !isEmpty(found), sentence: is }
    case '=':
      return { holds: isEqual(found, value), sentence: is }
    case '!=':
      return { holds: !isEqual(found, value), sentence: is }
    case 'in':
      return { holds: Array.isArray(value) && value.some((one) => isEqual(found, one)), sentence: is }
    case 'contains':
      return checkContains(found, value, is)
    case 'starts_with':
    case 'ends_with':
      if (typeof found !== 'string' || typeof value !== 'string') return mismatch(is, 'not a text')
      return { holds: op === 'starts_with' ? found.startsWith(value) : found.endsWith(value), sentence: is }
    case '>':
    case '>=':
    case '<':
    case '<=':
      return checkOrder({ op, is }, found, value)
  }
}

const mismatch = (is: string, why: string): ConditionResult => ({ holds: false, sentence: `${is}, which is ${why}` })

function checkContains(found: unknown, value: unknown, is: string): ConditionResult {
  if (typeof found === 'string')
    return typeof value === 'string' ? { holds: found.includes(value), sentence: is } : mismatch(is, 'a text')
  if (Array.isArray(found)) return { holds: found.some((one) => isEqual(one, value)), sentence: is }
  return mismatch(is, 'neither a text nor a list')
}

const orderOf = <T extends number | string>(left: T, right: T): number => (left < right ? -1 : left > right ? 1 : 0)

/** Orders numbers by value and texts by character codes, which orders RFC 3339 times in UTC correctly. */
function checkOrder(
  { op, is }: { readonly op: Operator; readonly is: string },
  a: unknown,
  b: unknown,
): ConditionResult {
  const order =
    typeof a === 'number' && typeof b === 'number'
      ? orderOf(a, b)
      : typeof a === 'string' && typeof b === 'string'
        ? orderOf(a, b)
        : null
  if (order === null) return mismatch(is, `not a ${typeof b === 'number' ? 'number' : 'text'}`)
  const holds = op === '>' ? order > 0 : op === '>=' ? order >= 0 : op === '<' ? order < 0 : order <= 0
  return { holds, sentence: is }
}

type Fields = Readonly<Record<string, unknown>>

/** Null, a missing value, or a text, list or object without content. Numbers and `false` are never empty. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'string') return value.trim() === ''
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** Deep equality of JSON values; the order of names does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [a, b] = [one as Fields, other as Fields]
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  )
}

const MAX_SHOWN_LENGTH = 200

/** A value as JSON, shortened for a sentence. */
function quotedJson(value: unknown): string {
  const text = (value === undefined ? undefined : (JSON.stringify(value) as string | undefined)) ?? 'missing'
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}

/** A condition as a phrase. */
export function describeCondition(condition: Condition): string {
  if ('not' in condition) return `not (${describeCondition(condition.not)})`
  if ('all' in condition) return condition.all.map(describePart).join(' and ')
  if ('any' in condition) return condition.any.map(describePart).join(' or ')
  const { path, op, value } = condition
  const subject = path === '' ? 'the answer' : path
  return UNARY_OPERATORS.includes(op)
    ? `${subject} ${UNARY_TEXTS[op] ?? op}`
    : `${subject} ${OPERATOR_TEXTS[op] ?? op} ${quotedJson(value)}`
}

const describePart = (condition: Condition): string =>
  'path' in condition ? describeCondition(condition) : `(${describeCondition(condition)})`

const OPERATOR_TEXTS: Partial<Record<Operator, string>> = {
  '=': 'is',
  '!=': 'is not',
  in: 'is one of',
  starts_with: 'starts with',
  ends_with: 'ends with',
}
const UNARY_TEXTS: Partial<Record<Operator, string>> = {
  exists: 'exists',
  missing: 'is missing',
  empty: 'is empty',
  not_empty: 'is not empty',
}
