import { addAll } from '../domain/long-lists.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../domain/input.ts'
import { toPointer } from '../core/pointer.ts'
import { parsePointer } from '../domain/probe/condition.ts'
import { valueAt } from '../core/probe/pointer.ts'

/** What has to hold of an answer for it to be a success. All that is said has to. */
export interface SuccessWhen {
  /** Left out: every status from 200 to 299. */
  readonly status?: readonly number[]
  /** Where in the answer to look: a JSON pointer, or names with dots between. Empty: the answer itself. */
  readonly path?: string
  readonly equals?: unknown
  /** The text there contains this, or the list there has it. */
  readonly contains?: unknown
  /** Whether there is anything there but null. */
  readonly exists?: boolean
}

const FIELDS = ['status', 'path', 'equals', 'contains', 'exists'] as const

/** Reads what makes an answer a success. */
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
      ...{ field: `${field}.path`, value: path, message: 'says where to look and not what for' },
      allowed: 'with equals, contains or exists',
    })
  if (exists === false && (given['equals'] !== undefined || given['contains'] !== undefined))
    flaws.push({
      ...{ field: `${field}.exists`, value: exists, message: 'can never hold together with equals or contains' },
      allowed: 'true, or leave one of them out',
    })
  if (Object.keys(given).length === 0) flaws.push({ field, value, message: 'says nothing', allowed })
  return flaws.length > 0 ? flawed(flaws) : parsed(given as SuccessWhen)
}

/** What no answer can ever have at a path: most of it is the notation of something else. */
function pathFlaws(field: string, path: unknown): readonly Flaw[] {
  const allowed = 'a JSON pointer such as /items/0/state'
  if (typeof path !== 'string' || path === '' || path.startsWith('/')) {
    const read = parsePointer(field, path)
    return read.ok ? [] : read.flaws
  }
  const [first = '', ...rest] = path.split('.')
  const isForeign = first === '$' || first.startsWith('$[') || /\[(?:\d+|\*|'[^']*'|"[^"]*")\]/.test(path)
  if (isForeign || [first, ...rest].includes('') || path.length > MOST_PATH)
    return [{ field, value: path, message: 'can never match', allowed: `${allowed}, or names with dots between` }]
  return []
}

const MOST_PATH = 1_000

const isStatuses = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => typeof one === 'number' && Number.isInteger(one) && one >= 200 && one <= 599)

/** Whether a status is one of those that count. */
export const isExpectedStatus = (status: number, when: SuccessWhen | null): boolean =>
  when?.status === undefined ? status >= 200 && status < 300 : when.status.includes(status)

/** What does not hold of the answer, in words; null: it is a success. */
export function unmet(body: unknown, when: SuccessWhen): string | null {
  const { path = '', equals, contains, exists } = when
  const found = lookUp(body, path)
  const place = path === '' ? 'the answer' : path
  if (exists !== undefined && (found !== null && found !== undefined) !== exists)
    return exists ? `${place} is not there` : `${place} is there`
  if (equals !== undefined && !isEqual(found, equals)) return `${place} is ${shown(found)}, not ${shown(equals)}`
  if (contains !== undefined && !has(found, contains)) return `${place} does not contain ${shown(contains)}`
  return null
}

const lookUp = (body: unknown, path: string): unknown =>
  valueAt(body, path === '' || path.startsWith('/') ? path : toPointer(path.split('.')))

const has = (found: unknown, wanted: unknown): boolean => {
  if (typeof found === 'string') return typeof wanted === 'string' && found.includes(wanted)
  return Array.isArray(found) && found.some((entry) => isEqual(entry, wanted))
}

/** Equal as JSON is: the order of names does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [a, b] = [one as Readonly<Record<string, unknown>>, other as Readonly<Record<string, unknown>>]
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  )
}

const MOST_SHOWN = 200

function shown(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value)
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
}
