import { utf8Length } from '../core/chat/tokens.ts'
import { addAll } from './long-lists.ts'
import { flawed, parsed, unknownFieldsOf, type Flaw, type Parsed } from './input.ts'
import { nearestWord } from './nearest-word.ts'

/** An object as somebody sent it. */
export type Given = Readonly<Record<string, unknown>>

/** Reads an object at all; what is inside is not looked at. */
export function parseObject(field: string, value: unknown): Parsed<Given> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return parsed(value as Given)
  return flawed({ field, value, message: 'must be an object' })
}

/** One flaw for each field that nobody knows, with the field that was probably meant. */
export function unknownFields(prefix: string, given: Given, known: readonly string[]): readonly Flaw[] {
  return unknownFieldsOf({ given, known, at: prefix }, (name) => {
    const near = nearestWord(name, known)
    return {
      field: prefix === '' ? name : `${prefix}.${name}`,
      value: given[name],
      message: `is not a known field${near === null ? '' : `; did you mean ${near}?`}`,
      allowed: known.join(', '),
    }
  })
}

/** With the flag `u` a whole pair is one character, so this finds halves only. */
const HALF_CHARACTER = /\p{Surrogate}/u

/** Why PostgreSQL cannot keep a text; null: it can. */
export function unstorableIn(text: string): string | null {
  if (text.includes('\u0000')) return 'must not contain NUL'
  return HALF_CHARACTER.test(text) ? 'must not contain half of a surrogate pair' : null
}

/** Reads a text of a limited length. */
export const textField =
  (bounds: { readonly min: number; readonly max: number }) =>
  (field: string, value: unknown): Parsed<string> => {
    const allowed = `a text of ${bounds.min} to ${bounds.max} characters`
    if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed })
    const unstorable = unstorableIn(value)
    if (unstorable !== null) return flawed({ field, value, message: unstorable, allowed })
    const length = value.length
    return length < bounds.min || length > bounds.max
      ? flawed({ field, value, message: length < bounds.min ? 'is too short' : 'is too long', allowed })
      : parsed(value)
  }

/** Reads true or false. */
export const parseFlag = (field: string, value: unknown): Parsed<boolean> =>
  typeof value === 'boolean'
    ? parsed(value)
    : flawed({ field, value, message: 'must be true or false', allowed: 'true, false' })

/** Session keys are at most this long, in bytes of UTF-8. */
const MAX_KEY_BYTES = 512

/** Reads a session key. */
export function parseSessionKey(field: string, value: unknown): Parsed<string> {
  const allowed = `a text of 1 to ${MAX_KEY_BYTES} bytes`
  if (typeof value !== 'string' || value === '')
    return flawed({ field, value, message: 'must be a session key', allowed })
  const unstorable = unstorableIn(value)
  if (unstorable !== null) return flawed({ field, value, message: unstorable, allowed })
  // Most keys are short: no character takes more than three bytes for each of its units.
  return value.length * 3 > MAX_KEY_BYTES && utf8Length(value) > MAX_KEY_BYTES
    ? flawed({ field, value, message: 'is too long', allowed })
    : parsed(value)
}

/** Escapes that JSON may hold and `jsonb` may not. Whole surrogate pairs are never written as escapes. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i

/** Reads anything JSON can hold, as it will be read back from the database. */
export function parseJson(field: string, value: unknown): Parsed<unknown> {
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) return parsed(null)
    if (UNSTORABLE.test(text))
      return flawed({ field, value: undefined, message: 'must not contain NUL or half of a surrogate pair' })
    return parsed(JSON.parse(text) as unknown)
  } catch (error) {
    return flawed({ field, value: undefined, message: `cannot be written as JSON (${String(error)})` })
  }
}

/** Collects flaws of several readings, so that all are told at once. */
export interface Collector {
  readonly flaws: Flaw[]
  /** What was read, or null with its flaws kept. */
  readonly keep: <T>(answer: Parsed<T>) => T | null
}

export function collectFlaws(): Collector {
  const flaws: Flaw[] = []
  return {
    flaws,
    keep: (answer) => {
      if (answer.ok) return answer.value
      addAll(flaws, answer.flaws)
      return null
    },
  }
}
