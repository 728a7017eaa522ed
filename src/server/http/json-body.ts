import { isUtf8 } from 'node:buffer'
import { invalid, Refusal } from '../../api/refusals.ts'
import { MAX_LISTED_FLAWS, type Flaw } from '../../domain/input.ts'
import { readJson } from '../../core/json.ts'
import { excessIn, MAX_DEPTH } from '../../core/json-shape.ts'

/** Escapes that JSON may hold and the database may not: NUL, and perhaps half of a surrogate pair. */
const SUSPICIOUS = /\\u(?:0000|d[89a-f])/i

/** With the flag `u` a whole pair is one character, so this finds halves only. */
const HALF_CHARACTER = /\p{Surrogate}/u

/**
 * Reads a body, whichever door it came through. What cannot be kept as it is, is refused: nothing is cut, rounded to
 * infinity or left out in silence. It takes time linear in the body.
 */
export function readJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new Refusal('MALFORMED', 'The body is not UTF-8')
  const excess = excessIn(bytes)
  if (excess !== null)
    throw invalid([
      {
        field: '',
        value: undefined,
        message: `the body has too many ${excess.of}`,
        allowed: `up to ${excess.allowed}`,
      },
    ])
  const text = bytes.toString('utf8')
  const value = parse(text)
  const looksAtTexts = SUSPICIOUS.test(text)
  if (isKeepable(value, looksAtTexts, 0)) return value
  const flaws: Flaw[] = []
  walk(value, { field: '', depth: 0, flaws, texts: looksAtTexts })
  throw invalid(flaws)
}

function parse(text: string): unknown {
  const read = readJson(text)
  if ('flaw' in read) throw new Refusal('MALFORMED', `The body is not JSON: ${read.flaw}`)
  return read.value
}

/** Whether there is nothing to complain of. Nearly every body is such, and where things stand in it does not matter. */
function isKeepable(value: unknown, texts: boolean, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return !texts || textFlaw(value) === null
  if (typeof value !== 'object' || value === null) return true
  if (depth >= MAX_DEPTH) return false
  if (Array.isArray(value)) return value.every((inner) => isKeepable(inner, texts, depth + 1))
  for (const name of Object.keys(value)) {
    if (name === '__proto__' || (texts && textFlaw(name) !== null)) return false
    if (!isKeepable((value as Readonly<Record<string, unknown>>)[name], texts, depth + 1)) return false
  }
  return true
}

interface Place {
  readonly field: string
  readonly depth: number
  readonly flaws: Flaw[]
  /** Whether texts have to be looked at; the escapes in question are rare, and the body as a whole is quickly searched. */
  readonly texts: boolean
}

function walk(value: unknown, place: Place): void {
  // Enough is known.
  if (place.flaws.length >= MAX_LISTED_FLAWS) return
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
  if (place.depth >= MAX_DEPTH) {
    complain(place, 'is nested too deeply', `${MAX_DEPTH} levels`)
    return
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__' || (place.texts && textFlaw(name) !== null)) {
      complain(place, 'has a field whose name cannot be kept', 'names without NUL, other than __proto__')
    } else {
      const field = place.field === '' ? name : `${place.field}.${name}`
      walk((value as Readonly<Record<string, unknown>>)[name], { ...place, field, depth: place.depth + 1 })
    }
  }
}

function textFlaw(text: string): string | null {
  if (text.includes('\u0000')) return 'must not contain NUL'
  return HALF_CHARACTER.test(text) ? 'must not contain half of a surrogate pair' : null
}

function complain({ field, flaws }: Place, message: string, allowed?: string): void {
  if (flaws.length >= MAX_LISTED_FLAWS) return
  flaws.push({ field, value: undefined, message, ...(allowed === undefined ? {} : { allowed }) })
}
