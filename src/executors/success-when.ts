import { addAll } from '../domain/long-lists.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../domain/input.ts'
import { toJsonPointer, valueAtPointer } from '../domain/json.ts'
import { parsePointer } from '../domain/probe/condition.ts'

/** The conditions for an answer to be a success; all given ones must hold. */
export interface SuccessWhen {
  /** Omitted: every status from 200 to 299. */
  readonly status?: readonly number[]
  /** A JSON pointer into the answer, or names separated by dots; empty: the whole answer. */
  readonly path?: string
  readonly equals?: unknown
  /** A substring of the text there, or an entry of the list there. */
  readonly contains?: unknown
  /** Whether the value there is present and not null. */
  readonly exists?: boolean
}

const FIELDS = ['status', 'path', 'equals', 'contains', 'exists'] as const

/** Reads success_when. */
export function parseSuccessWhen(field: string, value: unknown): Parsed<SuccessWhen> {
  const allowed = `an object with ${FIELDS.join(', ')}`
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be an object', allowed })
  const given = value as Readonly<Record<string, unknown>>
  const flaws: Flaw[] = Object.keys(given)
    .filter((name) => !FIELDS.some((known) => known === name))
    .map((name) => ({ field: `${field}.${name}`, value: given[name], message: 'is not a known field', allowed }))
  const { status, path, exists } = given
  if (status !== undefined && !isStatuses(status))
    flaws.push({
      ...{ field: `${field}.status`, value: status, message: 'must be a list of HTTP statuses' },
      allowed: 'a list of whole numbers from 200 to 599',
    })
  if (path !== undefined) addAll(flaws, pathFlaws(`${field}.path`, path))
  if (exists !== undefined && typeof exists !== 'boolean')
    flaws.push({ field: `${field}.exists`, value: exists, message: 'must be true or false', allowed: 'true, false' })
  if (path !== undefined && !['equals', 'contains', 'exists'].some((name) => given[name] !== undefined))
    flaws.push({
      ...{ field: `${field}.path`, value: path, message: 'requires a comparison' },
      allowed: 'with equals, contains or exists',
    })
  if (exists === false && (given['equals'] !== undefined || given['contains'] !== undefined))
    flaws.push({
      ...{ field: `${field}.exists`, value: exists, message: 'cannot be combined with equals or contains' },
      allowed: 'true, or leave one of them out',
    })
  if (Object.keys(given).length === 0) flaws.push({ field, value, message: 'is empty', allowed })
  return flaws.length > 0 ? flawed(flaws) : parsed(given as SuccessWhen)
}

/** Flaws of a path that can never match, usually in the notation of another language. */
function pathFlaws(field: string, path: unknown): readonly Flaw[] {
  const allowed = 'a JSON pointer such as /items/0/state'
  if (typeof path !== 'string' || path === '' || path.startsWith('/')) {
    const read = parsePointer(field, path)
    return read.ok ? [] : read.flaws
  }
  const [first = '', ...rest] = path.split('.')
  const isForeign = first === '$' || first.startsWith('$[') || /\[(?:\d+|\*|'[^']*'|"[^"]*")\]/.test(path)
  if (isForeign || [first, ...rest].includes('') || path.length > MAX_PATH)
    return [{ field, value: path, message: 'can never match', allowed: `${allowed}, or names with dots between` }]
  return []
}

const MAX_PATH = 1_000

const isStatuses = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => typeof one === 'number' && Number.isInteger(one) && one >= 200 && one <= 599)

/** Whether a status counts as a success. */
export const isExpectedStatus = (status: number, when: SuccessWhen | null): boolean =>
  when?.status === undefined ? status >= 200 && status < 300 : when.status.includes(status)

/** The first condition that the answer does not meet, as a sentence; null: it is a success. */
export function unmetCondition(body: unknown, when: SuccessWhen): string | null {
  const { path = '', equals, contains, exists } = when
  const found = valueAtPath(body, path)
  const subject = path === '' ? 'the answer' : path
  if (exists !== undefined && (found !== null && found !== undefined) !== exists)
    return exists ? `${subject} is missing` : `${subject} is present`
  if (equals !== undefined && !isEqual(found, equals)) return `${subject} is ${shown(found)}, not ${shown(equals)}`
  if (contains !== undefined && !containsValue(found, contains)) return `${subject} does not contain ${shown(contains)}`
  return null
}

const valueAtPath = (body: unknown, path: string): unknown =>
  valueAtPointer(body, path === '' || path.startsWith('/') ? path : toJsonPointer(path.split('.')))

const containsValue = (found: unknown, wanted: unknown): boolean => {
  if (typeof found === 'string') return typeof wanted === 'string' && found.includes(wanted)
  return Array.isArray(found) && found.some((entry) => isEqual(entry, wanted))
}

/** Deep equality of JSON values; the order of names does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [a, b] = [one as Readonly<Record<string, unknown>>, other as Readonly<Record<string, unknown>>]
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  )
}

const MAX_REPORTED_LENGTH = 200

function shown(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value)
  return text.length > MAX_REPORTED_LENGTH ? `${text.slice(0, MAX_REPORTED_LENGTH)}…` : text
}
