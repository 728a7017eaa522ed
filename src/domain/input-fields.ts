import { type Flaw, flawed, parsed, type Parsed, unknownFieldsOf } from './input.ts'
import { addAll } from './long-lists.ts'
import { nearestWord } from './nearest-word.ts'

/** The average size of a token in most texts, and the overhead of each message. */
const BYTES_PER_TOKEN = 4
const TOKENS_PER_MESSAGE = 4

/** Estimates the number of tokens of a message. */
export const estimateTokens = (text: string): number =>
  Math.ceil(utf8Length(text) / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE

function utf8Length(text: string): number {
  let bytes = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    // Each half of a surrogate pair counts as two bytes; a pair is four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return bytes
}

/** The default context window in tokens. Only used to limit how much of a conversation is sent. */
const DEFAULT_CONTEXT_WINDOW = 16_384
/** Without `max_tokens`, one part in this many of the window is reserved for the answer. */
const ANSWER_SHARE = 4

/** The maximum number of tokens of a conversation that leaves room for its answer. */
export function maxConversationTokens(window: number | null, maxTokens: number | null): number {
  const whole = window ?? DEFAULT_CONTEXT_WINDOW
  const answer = maxTokens ?? Math.floor(whole / ANSWER_SHARE)
  return Math.max(0, whole - answer)
}

/** An object as the client sent it. */
export type InputObject = Readonly<Record<string, unknown>>

/** Parses an object without validating its fields. */
export function parseObject(field: string, value: unknown): Parsed<InputObject> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return parsed(value as InputObject)
  return flawed({ field, value, message: 'must be an object' })
}

/** One flaw for each unknown field, with a suggestion. */
export function unknownFields(prefix: string, given: InputObject, known: readonly string[]): readonly Flaw[] {
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

/** Matches unpaired surrogates only: with the flag `u`, a pair is one character. */
const UNPAIRED_SURROGATE = /\p{Surrogate}/u

/** Why PostgreSQL cannot store a text; null if it can. */
export function whyUnstorable(text: string): string | null {
  if (text.includes('\u0000')) return 'must not contain NUL'
  return UNPAIRED_SURROGATE.test(text) ? 'must not contain half of a surrogate pair' : null
}

/** Creates a parser of a text with a limited length. */
export const textField =
  (bounds: { readonly min: number; readonly max: number }) =>
  (field: string, value: unknown): Parsed<string> => {
    const allowed = `a text of ${bounds.min} to ${bounds.max} characters`
    if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed })
    const unstorable = whyUnstorable(value)
    if (unstorable !== null) return flawed({ field, value, message: unstorable, allowed })
    const length = value.length
    return length < bounds.min || length > bounds.max
      ? flawed({ field, value, message: length < bounds.min ? 'is too short' : 'is too long', allowed })
      : parsed(value)
  }

/** Parses a boolean. */
export const parseFlag = (field: string, value: unknown): Parsed<boolean> =>
  typeof value === 'boolean'
    ? parsed(value)
    : flawed({ field, value, message: 'must be true or false', allowed: 'true, false' })

/** The maximum length of a session key in bytes of UTF-8. */
const MAX_KEY_BYTES = 512

/** Parses a session key. */
export function parseSessionKey(field: string, value: unknown): Parsed<string> {
  const allowed = `a text of 1 to ${MAX_KEY_BYTES} bytes`
  if (typeof value !== 'string' || value === '')
    return flawed({ field, value, message: 'must be a session key', allowed })
  const unstorable = whyUnstorable(value)
  if (unstorable !== null) return flawed({ field, value, message: unstorable, allowed })
  // Skip counting for short keys: a UTF-16 unit takes at most three bytes.
  return value.length * 3 > MAX_KEY_BYTES && utf8Length(value) > MAX_KEY_BYTES
    ? flawed({ field, value, message: 'is too long', allowed })
    : parsed(value)
}

/** Escapes that JSON allows and `jsonb` does not. `JSON.stringify` never escapes valid surrogate pairs. */
const UNSTORABLE_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i

/** Parses any JSON value, in the form in which the database returns it. */
export function parseJson(field: string, value: unknown): Parsed<unknown> {
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) return parsed(null)
    if (UNSTORABLE_ESCAPE.test(text))
      return flawed({ field, value: undefined, message: 'must not contain NUL or half of a surrogate pair' })
    return parsed(JSON.parse(text) as unknown)
  } catch (error) {
    return flawed({ field, value: undefined, message: `cannot be serialized as JSON (${String(error)})` })
  }
}

/** Collects the flaws of several parsers, so that all are reported at once. */
export interface FlawCollector {
  readonly flaws: Flaw[]
  /** Returns the parsed value, or keeps the flaws and returns null. */
  readonly keep: <T>(answer: Parsed<T>) => T | null
}

export function collectFlaws(): FlawCollector {
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
