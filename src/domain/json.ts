/** A JSON object. */
export type JsonFields = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object (not a list or null). */
export const isJsonFields = (value: unknown): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Serializes a value with sorted keys, because the database does not preserve their order. */
export function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (!isJsonFields(value)) return JSON.stringify(value ?? null)
  const names = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted()
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedJson(value[name])}`).join(',')}}`
}

/** Whether two values are deeply equal. A missing value equals null. */
export const isSameJson = (one: unknown, other: unknown): boolean => sortedJson(one) === sortedJson(other)

/** The given fields that exist, in the given order. */
export const pickFields = (fields: JsonFields, names: readonly string[]): JsonFields =>
  Object.fromEntries(names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]))

/** Compares texts by code units, so that the order does not depend on the locale. */
export const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/**
 * A string or a comment; matching strings keeps comment-like text inside them. The end of both is optional, so that
 * unterminated ones do not cause quadratic search time.
 */
const TEXT_OR_COMMENT = /"(?:[^"\\\n]+|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g

/**
 * Replaces comments in JSON with spaces, so that positions stay the same. Text that does not start like JSON, such as
 * YAML, is returned unchanged.
 */
export const withoutComments = (text: string): string =>
  /^\s*(?:[[{]|\/[/*])/.test(text)
    ? text.replaceAll(TEXT_OR_COMMENT, (found) => (found.startsWith('"') ? found : found.replaceAll(/[^\n]/g, ' ')))
    : text

/** The maximum nesting depth of a body. It protects recursive functions from stack overflow. */
export const MAX_DEPTH = 64

/** The maximum total number of fields in a body, across all levels. */
export const MAX_FIELDS = 20_000

/** The maximum total number of values in a body: fields and list items. */
const MAX_VALUES = 200_000

/** A field takes at least 5 bytes (`"":0,`), so a shorter body cannot exceed the limits. */
const MIN_EXCESS_BYTES = MAX_FIELDS * 5

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c]
const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d]

/** The exceeded limit of a JSON text; null if it is within the limits. */
type Excess = { readonly of: 'fields' | 'values'; readonly allowed: number } | null

/**
 * Counts fields and values before parsing, because counting is cheaper than creating large objects. Takes no time for a
 * small body, and one pass over the bytes of a large one.
 */
export function excessIn(bytes: Uint8Array): Excess {
  if (bytes.length < MIN_EXCESS_BYTES) return null
  const { fields, values } = countIn(bytes)
  if (fields > MAX_FIELDS) return { of: 'fields', allowed: MAX_FIELDS }
  return values > MAX_VALUES ? { of: 'values', allowed: MAX_VALUES } : null
}

function countIn(bytes: Uint8Array): { readonly fields: number; readonly values: number } {
  let fields = 0
  let values = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === COLON) fields += 1
    // Each value except the first of a list or object follows a comma.
    else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values += 1
  }
  return { fields, values }
}

/**
 * Whether a JSON text is nested deeper than `levels`. Called before parsing, because parsing a million brackets takes
 * about 100 times longer than counting them. The text may be invalid JSON.
 */
export function isTextDeeperThan(bytes: Uint8Array, levels: number): boolean {
  let level = 0
  for (let at = 0; at < bytes.length && level <= levels; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) level += 1
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) level -= 1
  }
  return level > levels
}

/** The end of the string that starts at a quote. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/** The JSON pointer (RFC 6901) of a path. */
export const toJsonPointer = (path: readonly string[]): string =>
  path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** The value at a valid JSON pointer; undefined if there is none. */
export function valueAtPointer(value: unknown, pointer: string): unknown {
  if (pointer === '') return value
  let found = value
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    // Only indexes are valid in lists, not properties such as `length`.
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}

/** The result of parsing a JSON text. */
export type JsonResult = { readonly value: unknown } | { readonly flaw: string }

/**
 * Parses JSON. A flaw has only the position of the error, because the messages of the JavaScript engine quote the text,
 * which can contain secrets.
 */
export function parseJsonText(text: string): JsonResult {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const [, position] = /at position (\d+)/.exec(message) ?? []
    if (position !== undefined) return { flaw: `syntax error ${positionText(text, Number(position))}` }
    return { flaw: /^Unexpected end/.test(message) ? 'unexpected end of input' : 'unexpected character' }
  }
}

function positionText(text: string, position: number): string {
  const before = text.slice(0, position).split('\n')
  return `at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

/** The maximum nesting depth of an agent's answer. PostgreSQL supports a few thousand levels. */
export const MAX_ANSWER_DEPTH = 1_000

/** Whether a value is nested deeper than `levels`. Does not recurse, because recursion could overflow the stack. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  const waiting: (readonly [object, number])[] = [[value, 1]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [object, level] = next
    if (level > levels) return true
    for (const inner of Object.values(object) as readonly unknown[])
      if (typeof inner === 'object' && inner !== null) waiting.push([inner, level + 1])
  }
  return false
}
