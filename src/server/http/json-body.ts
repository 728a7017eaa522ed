import { isUtf8 } from 'node:buffer'
import { invalid, Refusal } from '../../api/refusals.ts'
import { MAX_LISTED_FLAWS, type Flaw } from '../../domain/input.ts'
import { excessIn, MAX_DEPTH, parseJsonText } from '../../domain/json.ts'

/** Escapes that JSON allows and the database does not: NUL, and possibly half of a surrogate pair. */
const SUSPICIOUS = /\\u(?:0000|d[89a-f])/i

/** With the flag `u` a whole pair is one character, so this only matches halves. */
const HALF_CHARACTER = /\p{Surrogate}/u

/**
 * Parses a JSON body of any transport. A value that cannot be stored unchanged is rejected: nothing is truncated,
 * rounded to infinity or dropped silently. Runs in linear time.
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
  const checksTexts = SUSPICIOUS.test(text)
  if (isStorable(value, checksTexts, 0)) return value
  const flaws: Flaw[] = []
  collectStorageFlaws(value, { field: '', depth: 0, flaws, texts: checksTexts })
  throw invalid(flaws)
}

function parse(text: string): unknown {
  const read = parseJsonText(text)
  if ('flaw' in read) throw new Refusal('MALFORMED', `The body is not JSON: ${read.flaw}`)
  return read.value
}

/** Whether the value has no flaws. A fast check without field paths, because nearly every body passes. */
function isStorable(value: unknown, texts: boolean, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return !texts || textFlaw(value) === null
  if (typeof value !== 'object' || value === null) return true
  if (depth >= MAX_DEPTH) return false
  if (Array.isArray(value)) return value.every((inner) => isStorable(inner, texts, depth + 1))
  for (const name of Object.keys(value)) {
    if (name === '__proto__' || (texts && textFlaw(name) !== null)) return false
    if (!isStorable((value as Readonly<Record<string, unknown>>)[name], texts, depth + 1)) return false
  }
  return true
}

interface FieldContext {
  readonly field: string
  readonly depth: number
  readonly flaws: Flaw[]
  /** Whether texts must be checked; a quick search of the whole body usually rules it out. */
  readonly texts: boolean
}

function collectStorageFlaws(value: unknown, context: FieldContext): void {
  // The maximum number of flaws is reached.
  if (context.flaws.length >= MAX_LISTED_FLAWS) return
  if (typeof value === 'object') {
    if (value !== null) collectFieldFlaws(value, context)
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) addFlaw(context, 'is too large a number', 'a number up to 1.7e308')
  } else if (context.texts && typeof value === 'string') {
    const flaw = textFlaw(value)
    if (flaw !== null) addFlaw(context, flaw)
  }
}

function collectFieldFlaws(value: object, context: FieldContext): void {
  if (context.depth >= MAX_DEPTH) {
    addFlaw(context, 'is nested too deeply', `${MAX_DEPTH} levels`)
    return
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__' || (context.texts && textFlaw(name) !== null)) {
      addFlaw(context, 'has a field whose name cannot be stored', 'names without NUL, other than __proto__')
    } else {
      const field = context.field === '' ? name : `${context.field}.${name}`
      collectStorageFlaws((value as Readonly<Record<string, unknown>>)[name], {
        ...context,
        field,
        depth: context.depth + 1,
      })
    }
  }
}

function textFlaw(text: string): string | null {
  if (text.includes('\u0000')) return 'must not contain NUL'
  return HALF_CHARACTER.test(text) ? 'must not contain half of a surrogate pair' : null
}

function addFlaw({ field, flaws }: FieldContext, message: string, allowed?: string): void {
  if (flaws.length >= MAX_LISTED_FLAWS) return
  flaws.push({ field, value: undefined, message, ...(allowed === undefined ? {} : { allowed }) })
}
