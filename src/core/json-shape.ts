/** How deep a body may be nested: what walks over it must not run out of stack. */
export const MAX_DEPTH = 64

/** How many fields the objects of a body may have together, at every level. */
export const MAX_FIELDS = 20_000

/** How many values a body may have: fields, and entries of lists. */
export const MAX_VALUES = 200_000

/** A field takes at least `"":0,`, so a shorter text cannot have too many of anything. */
const SMALLEST_EXCESS = MAX_FIELDS * 5

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c]
const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d]

/** What a text of JSON has too many of, and how many it may have; null: it has few enough. */
export type Excess = { readonly of: 'fields' | 'values'; readonly allowed: number } | null

/**
 * Counts fields and values before anything is made of them: an object of many fields costs more to make than to count.
 * Takes no time for a small body, and one pass over the bytes for a large one.
 */
export function excessIn(bytes: Uint8Array): Excess {
  if (bytes.length < SMALLEST_EXCESS) return null
  const { fields, values } = countIn(bytes)
  if (fields > MAX_FIELDS) return { of: 'fields', allowed: MAX_FIELDS }
  return values > MAX_VALUES ? { of: 'values', allowed: MAX_VALUES } : null
}

function countIn(bytes: Uint8Array): { readonly fields: number; readonly values: number } {
  let fields = 0
  let values = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfText(bytes, at)
    else if (byte === COLON) fields += 1
    // Each value but the first of its list or object stands behind a comma.
    else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values += 1
  }
  return { fields, values }
}

/**
 * Whether a text of JSON is nested deeper. Asked before anything is made of it: a million brackets cost a hundred times more
 * to read than to count. What is no JSON is counted as far as it looks like JSON.
 */
export function isDeeperText(bytes: Uint8Array, levels: number): boolean {
  let level = 0
  for (let at = 0; at < bytes.length && level <= levels; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfText(bytes, at)
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) level += 1
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) level -= 1
  }
  return level > levels
}

/** Where the text that begins at a quote ends. */
function endOfText(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}
