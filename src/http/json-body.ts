import { isUtf8 } from 'node:buffer'
import { invalid, Refusal } from '../contract/refusals.ts'
import type { Flaw } from '../core/input.ts'
import { readJson } from '../core/json.ts'

/** Nobody nests deeper on purpose, and what walks over it must not run out of stack. */
const MOST_DEEP = 64

/** Escapes that JSON may hold and the database may not: NUL, and perhaps half of a surrogate pair. */
const SUSPICIOUS = /\\u(?:0000|d[89a-f])/i

/** With the flag `u` a whole pair is one character, so this finds halves only. */
const HALF_CHARACTER = /\p{Surrogate}/u

/** Reads a body. What cannot be kept as it is, is refused: nothing is cut, rounded to infinity or left out in silence. */
export function readJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new Refusal('MALFORMED', 'The body is not UTF-8')
  const text = bytes.toString('utf8')
  const value = parse(text)
  const flaws: Flaw[] = []
  walk(value, { field: '', depth: 0, flaws, texts: SUSPICIOUS.test(text) })
  if (flaws.length > 0) throw invalid(flaws)
  return value
}

function parse(text: string): unknown {
  const read = readJson(text)
  if ('flaw' in read) throw new Refusal('MALFORMED', `The body is not JSON: ${read.flaw}`)
  return read.value
}

interface Place {
  readonly field: string
  readonly depth: number
  readonly flaws: Flaw[]
  /** Whether texts have to be looked at; the escapes in question are rare, and the body as a whole is quickly searched. */
  readonly texts: boolean
}

function walk(value: unknown, place: Place): void {
  if (typeof value === 'object') {
    if (value !== null) walkInto(value, place)
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) complain(place, 'is too large a number', 'a number up to 1.7e308')
  } else if (place.texts && typeof value === 'string') {
    const flaw = textFlaw(value)
    if (flaw !== null) complain(place, flaw)
  }
}

function walkInto(value: object, place: Place): void {
  if (place.depth >= MOST_DEEP) {
    complain(place, 'is nested too deeply', `${MOST_DEEP} levels`)
    return
  }
  for (const name of Object.keys(value)) {
    const inner = (value as Readonly<Record<string, unknown>>)[name]
    const isPlain = typeof inner === 'string' ? !place.texts : typeof inner === 'boolean'
    if (name === '__proto__' || (place.texts && textFlaw(name) !== null)) {
      complain(place, 'has a field whose name cannot be kept', 'names without NUL, other than __proto__')
    } else if (!isPlain) {
      const field = place.field === '' ? name : `${place.field}.${name}`
      walk(inner, { ...place, field, depth: place.depth + 1 })
    }
  }
}

function textFlaw(text: string): string | null {
  if (text.includes('\u0000')) return 'must not contain NUL'
  return HALF_CHARACTER.test(text) ? 'must not contain half of a surrogate pair' : null
}

function complain({ field, flaws }: Place, message: string, allowed?: string): void {
  if (flaws.length < 20) flaws.push({ field, value: undefined, message, ...(allowed === undefined ? {} : { allowed }) })
}
