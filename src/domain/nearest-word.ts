/** Converts the type of a wire name to camel case: `max_queue` becomes `maxQueue`. */
export type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

/** Converts the type of a code name to snake case: `maxQueue` becomes `max_queue`. */
export type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${SnakeCase<Rest>}`
    : `_${Lowercase<First>}${SnakeCase<Rest>}`
  : Name

export const camelCase = (name: string): string => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

export const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * The known word that is most similar to a word, or null. Suggests only words that differ by a few typing errors, and
 * none if two are equally similar, because a wrong suggestion is worse than none. Ignores letter case, camel case and
 * dashes. Of words with several parts, such as `cron.add`, only the different parts are compared.
 */
export function nearestWord(word: string, known: readonly string[]): string | null {
  if (word.length < 3 || word.length > 40) return null
  const given = normalizeWord(word)
  let best: { readonly candidate: string; readonly changes: number } | null = null
  let isTie = false
  for (const candidate of known) {
    const changes = typingErrors(given, normalizeWord(candidate))
    if (changes === null || (best !== null && changes > best.changes)) continue
    isTie = best !== null && changes === best.changes && candidate !== best.candidate
    best = { candidate, changes }
  }
  return best === null || isTie ? null : best.candidate
}

const normalizeWord = (word: string): string =>
  word
    .replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()
    .replaceAll(/[\s-]/g, '_')
    .replaceAll(/[[\]'"]/g, '')

/** The number of typing errors between two words; null if there are too many. */
function typingErrors(given: string, known: string): number | null {
  if (given === known) return 0
  const [from, to] = withoutCommonParts(given.split(PART_ENDS), known.split(PART_ENDS))
  const maxErrors = maxTypingErrors(Math.min(from.length, to.length))
  if (Math.abs(from.length - to.length) > maxErrors) return null
  const changes = changesBetween(from, to)
  if (changes > maxErrors) return null
  // The first letter is rarely wrong, so with a different one only a single error is accepted.
  if (changes > 1 && from[0] !== to[0]) return null
  // Prefer words with extra letters, because omitting letters is the more common error.
  return isSubsequence(from, to) ? changes - 0.5 : changes
}

/** Whether removing letters from `long` gives `short`. */
function isSubsequence(short: string, long: string): boolean {
  let at = 0
  for (const letter of long) if (letter === short[at]) at += 1
  return at === short.length
}

const PART_ENDS = /(?<=[.:/])/

/** The maximum number of typing errors in a word of this length. */
const maxTypingErrors = (letters: number): number => (letters < 3 ? 0 : letters < 7 ? 1 : letters < 11 ? 2 : 3)

function withoutCommonParts(from: readonly string[], to: readonly string[]): readonly [string, string] {
  let start = 0
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1
  let end = 0
  const shortest = Math.min(from.length, to.length) - start
  while (end < shortest && from.at(-1 - end) === to.at(-1 - end)) end += 1
  return [from.slice(start, from.length - end).join(''), to.slice(start, to.length - end).join('')]
}

/** The number of letters to add, remove, replace or swap with their neighbor. */
function changesBetween(from: string, to: string): number {
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (from[index] === to[column - 1] ? 0 : 1)
      const isSwapped = column > 1 && from[index] === to[column - 2] && from[index - 1] === to[column - 1]
      const swapped = isSwapped ? (before[column - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}
