import type { LocalizedText } from '../../src/executors/kind.ts'
import type { PlainKey } from '../texts/fill.ts'

/** A text of the console, or one that comes in every language with what it belongs to. */
export type Label = PlainKey | LocalizedText

/** One of a few values; its word is said in the person's language, or stands as it is where it is a name. */
export interface Choice {
  readonly value: string
  readonly label?: Label
  readonly name?: string
}

/**
 * A field of a form, by the path under which the server knows it (`executor.url`). `list` is one entry per line, `json`
 * anything, `pairs` texts by name (`Name: text` per line), `numbers` have spaces between them, `secret` is typed and never shown.
 */
export interface FieldSpec {
  readonly path: string
  readonly label: Label
  readonly kind:
    | 'text'
    | 'code'
    | 'area'
    | 'number'
    | 'flag'
    | 'choice'
    | 'list'
    | 'numbers'
    | 'pairs'
    | 'json'
    | 'secret'
    | 'moment'
  readonly hint?: Label
  /** What stands there while nothing does: an example, or what holds then. */
  readonly example?: string
  readonly choices?: readonly Choice[]
  readonly isRequired?: boolean
  /** Shown, and not to be changed: an id that stands in other places. */
  readonly isFixed?: boolean
  /** Shown only under “More settings”. */
  readonly isFolded?: boolean
  /** What is sent when it is empty: nothing (the usual), or null, which brings back the default. */
  readonly whenEmpty?: 'null'
}

/** What is typed: texts, and switches. */
export type FormValue = string | boolean
/** What is typed into all fields, by path. */
export type FormValues = Readonly<Record<string, FormValue>>

type Json = Readonly<Record<string, unknown>>

/** What is at a path of a thing. */
const valueAt = (thing: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? (at as Json)[name] : undefined), thing)

/** What stands in a field when it is opened on a thing. */
export function typedOf({ path, kind }: FieldSpec, thing: unknown): FormValue {
  const value = valueAt(thing, path)
  if (kind === 'flag') return value === true
  if (kind === 'secret' || value === undefined || value === null) return ''
  if (kind === 'list') return (value as readonly unknown[]).map(String).join('\n')
  if (kind === 'numbers') return (value as readonly number[]).join(' ')
  if (kind === 'pairs')
    return Object.entries(value)
      .map(([name, text]) => `${name}: ${String(text)}`)
      .join('\n')
  if (kind === 'json') return JSON.stringify(value, null, 2)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What is wrong with what was typed, before anybody is asked. */
export type Flaws = Readonly<Record<string, PlainKey>>

/** Reads a form: what is to be sent, or what is wrong with it. */
export function readForm(
  specs: readonly FieldSpec[],
  values: FormValues,
): { readonly body: Json; readonly flaws: Flaws } {
  const body: Record<string, unknown> = {}
  const flaws: Record<string, PlainKey> = {}
  for (const spec of specs) {
    const read = readField(spec, values[spec.path] ?? '')
    if (read.flaw !== undefined) flaws[spec.path] = read.flaw
    else if (read.value !== undefined) put(body, spec.path.split('.'), read.value)
  }
  return { body, flaws }
}

interface Read {
  readonly value?: unknown
  readonly flaw?: PlainKey
}

function readField(spec: FieldSpec, typed: FormValue): Read {
  if (typeof typed === 'boolean') return { value: typed }
  if (spec.kind === 'flag') return { value: false }
  const text = spec.kind === 'area' || spec.kind === 'secret' ? typed : typed.trim()
  if (text.trim() === '') return spec.isRequired === true ? { flaw: 'form.missing' } : emptyOf(spec)
  switch (spec.kind) {
    case 'number':
      return Number.isFinite(Number(text)) ? { value: Number(text) } : { flaw: 'form.noNumber' }
    case 'list':
      return { value: linesOf(text) }
    case 'numbers': {
      const numbers = text.split(/[\s,]+/).map(Number)
      return numbers.every(Number.isFinite) ? { value: numbers } : { flaw: 'form.noNumber' }
    }
    case 'pairs':
      return readPairs(text)
    case 'json':
      return readJson(text)
    case 'moment': {
      const at = Date.parse(text)
      return Number.isNaN(at) ? { flaw: 'form.noMoment' } : { value: new Date(at).toISOString() }
    }
    case 'text':
    case 'code':
    case 'area':
    case 'choice':
    case 'secret':
      return { value: text }
  }
}

function emptyOf({ kind, whenEmpty }: FieldSpec): Read {
  if (whenEmpty === 'null') return { value: null }
  // A list or pairs that were emptied are empty, which is not the same as left alone.
  return kind === 'list' ? { value: [] } : kind === 'pairs' ? { value: {} } : {}
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function readPairs(text: string): Read {
  const pairs = linesOf(text).map((line) => /^([^:]+):(.*)$/.exec(line))
  if (pairs.some((pair) => pair === null)) return { flaw: 'form.noPairs' }
  return { value: Object.fromEntries(pairs.map((pair) => [pair?.[1]?.trim() ?? '', pair?.[2]?.trim() ?? ''])) }
}

function readJson(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { flaw: 'form.noJson' }
  }
}

function put(body: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path
  if (rest.length === 0) body[name] = value
  else put((body[name] ??= {}) as Record<string, unknown>, rest, value)
}

/** Of a form that was opened on a thing: only the fields at the top that are not as they were. */
export function changedOf(after: Json, before: Json): Json {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  )
}
