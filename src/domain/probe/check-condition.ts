import { ALONE, type Clause, type Condition, type Operator } from './condition.ts'
import { valueAt } from '../../core/probe/pointer.ts'

/** Whether a condition holds, and the words for it: which comparison decided, and what it found. */
export interface Judgement {
  readonly holds: boolean
  readonly sentence: string
}

/** Judges a JSON value. Whatever the value is there is an answer: what cannot be compared does not hold. */
export function judgeCondition(condition: Condition, of: unknown): Judgement {
  if ('not' in condition) {
    const inner = judgeCondition(condition.not, of)
    return { holds: !inner.holds, sentence: inner.sentence }
  }
  if ('all' in condition) return judgeList(condition.all, of, false)
  if ('any' in condition) return judgeList(condition.any, of, true)
  return judgeClause(condition, valueAt(of, condition.path))
}

/** The first that decides speaks for all; when none does, all have spoken and the last is quoted. */
function judgeList(list: readonly Condition[], of: unknown, deciding: boolean): Judgement {
  let last: Judgement = { holds: !deciding, sentence: 'there was nothing to compare' }
  for (const one of list) {
    last = judgeCondition(one, of)
    if (last.holds === deciding) return last
  }
  return last
}

function judgeClause({ path, op, value }: Clause, found: unknown): Judgement {
  const place = path === '' ? 'the answer' : path
  const is = `${place} is ${shown(found)}`
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
      return judgeContains(found, value, is)
    case 'starts_with':
    case 'ends_with':
      if (typeof found !== 'string' || typeof value !== 'string') return mismatch(is, 'no text')
      return { holds: op === 'starts_with' ? found.startsWith(value) : found.endsWith(value), sentence: is }
    case '>':
    case '>=':
    case '<':
    case '<=':
      return judgeOrder({ op, is }, found, value)
  }
}

const mismatch = (is: string, why: string): Judgement => ({ holds: false, sentence: `${is}, which is ${why}` })

function judgeContains(found: unknown, value: unknown, is: string): Judgement {
  if (typeof found === 'string')
    return typeof value === 'string' ? { holds: found.includes(value), sentence: is } : mismatch(is, 'a text')
  if (Array.isArray(found)) return { holds: found.some((one) => isEqual(one, value)), sentence: is }
  return mismatch(is, 'neither a text nor a list')
}

const orderOf = <T extends number | string>(left: T, right: T): number => (left < right ? -1 : left > right ? 1 : 0)

/** Numbers by size, texts by their characters: moments as RFC 3339 writes them in UTC are in order then. */
function judgeOrder({ op, is }: { readonly op: Operator; readonly is: string }, a: unknown, b: unknown): Judgement {
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

/** Nothing at all, and every text, list or object without anything in it. A number is never empty, nor is `false`. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'string') return value.trim() === ''
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** Equal as JSON is: the order of names does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [a, b] = [one as Fields, other as Fields]
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  )
}

const MOST_SHOWN = 200

/** A value as a sentence quotes it. */
function shown(value: unknown): string {
  const text = (value === undefined ? undefined : (JSON.stringify(value) as string | undefined)) ?? 'missing'
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
}

/** A condition as a person would say it. */
export function sayCondition(condition: Condition): string {
  if ('not' in condition) return `not (${sayCondition(condition.not)})`
  if ('all' in condition) return condition.all.map(sayPart).join(' and ')
  if ('any' in condition) return condition.any.map(sayPart).join(' or ')
  const { path, op, value } = condition
  const place = path === '' ? 'the answer' : path
  return ALONE.includes(op) ? `${place} ${ALONE_WORDS[op] ?? op}` : `${place} ${WORDS[op] ?? op} ${shown(value)}`
}

const sayPart = (condition: Condition): string =>
  'path' in condition ? sayCondition(condition) : `(${sayCondition(condition)})`

const WORDS: Partial<Record<Operator, string>> = {
  '=': 'is',
  '!=': 'is not',
  in: 'is one of',
  starts_with: 'starts with',
  ends_with: 'ends with',
}
const ALONE_WORDS: Partial<Record<Operator, string>> = {
  exists: 'is there',
  missing: 'is missing',
  empty: 'is empty',
  not_empty: 'is not empty',
}
