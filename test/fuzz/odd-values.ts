import type { Random } from '../simulation/random.ts'

/** Texts that have broken somebody's parser before. */
export const ODD_TEXTS: readonly string[] = [
  ...['', ' ', '\t', '\n', '\r\n', '\u0000', '\u00a0', '\u2028', '\ufeff', '\u200b', '\u202e', '\u0085', '\u1680'],
  ...['\ud83d', '\ude00', '😀', 'e\u0301', 'İ', 'ß', 'ﬁ', 'ſ', '٣', '５', '߁', '१', '²', '½', '𝟗', 'Ⅷ', '−1', '١٢'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'],
  ...['0', '-0', '00', '1e9', '1e999', '0x10', '0b1', '.5', '5.', '+1', '-1', 'NaN', 'Infinity', '1_000'],
  ...['9007199254740993', '99999999999999999999', '2147483648', '4294967296', '-2147483649', '1e-320'],
  ...['null', 'true', 'undefined', '[object Object]', '{}', '[]', '""', "'", '"', '\\', '/', '//', '%', '%00', '%zz'],
  ...['{{', '}}', '{{payload.x}}', '{{secret:A}}', '${a}', '$&', '$1', '<!--', '-->', '<b>', '../..', '@', '#', ';'],
  ...['1970-01-01T00:00:00Z', '9999-12-31T23:59:60Z', '2026-02-30T00:00:00Z', '0000-00-00', '+292278994-08-17'],
]

/** Characters of which a lot can be a trap for whoever looks back. */
const REPEATED = [
  ...[' ', '\t', '\n', '\r', 'a', 'A', '0', '9', '-', '_', '*', '/', ',', ';', ':', '.', '=', '"', "'", '\\', '%'],
  ...['[', ']', '{', '}', '(', ')', '<', '>', '<@', '`', '~', '#', '[{', '{"a":', '[[', '- ', '> ', '\u200b', '😀'],
  ...['<!--', '{{', '}}', 'HEARTBEAT_OK', 'data:', 'data: x\n', '0,', '1-2,', '\\u0000', 'é', '\ud800', ' =', '@a'],
]

/** Sizes of which the largest are drawn seldom. */
const SIZES = [3, 10, 64, 65, 500, 2_001, 20_000, 100_000, 1_000_000]

/** A text that is one thing again and again, and perhaps something at its ends. */
export function longText(random: Random, most = 1_000_000): string {
  const times = Math.min(most, random.one(SIZES.slice(0, random.chance(0.15) ? SIZES.length : 6)))
  const piece = random.one(REPEATED)
  const begin = random.chance(0.5) ? '' : random.one(ODD_TEXTS)
  const end = random.chance(0.5) ? '' : random.one([...ODD_TEXTS, 'x', '!', '>'])
  return begin + piece.repeat(Math.min(times, Math.ceil(most / piece.length))) + end
}

/** Any JSON, often not what anybody expects. */
export function oddValue(random: Random, depth = 3): unknown {
  const kind = random.int(0, depth > 0 ? 9 : 6)
  if (kind <= 1) return random.one(ODD_TEXTS)
  if (kind === 2) return random.one([0, -0, -1, 1, 0.5, 1e15, 2 ** 53, 1e300, -1e300, 5e-324, 59, 60, 86_400, 1_000])
  if (kind === 3) return random.one([null, true, false])
  if (kind === 4) return random.int(-10, 100)
  if (kind <= 6) return random.chance(0.1) ? longText(random, 20_000) : random.one(ODD_TEXTS)
  if (kind === 7) return Array.from({ length: random.int(0, 4) }, () => oddValue(random, depth - 1))
  if (kind === 8 && random.chance(0.1)) return nested(random.one([63, 64, 65, 200, 1_001]))
  return Object.fromEntries(
    Array.from({ length: random.int(0, 4) }, () => [random.one(ODD_TEXTS), oddValue(random, depth - 1)]),
  )
}

/** A list in a list in a list. Nothing reads deeper values than those of answers, 1,000 levels; deeper texts are refused. */
function nested(depth: number): unknown {
  let value: unknown = 'x'
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}
