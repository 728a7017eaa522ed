/**
 * The known word that was probably meant, or null. A wrong suggestion costs more than none: a candidate counts only as a
 * typing error of the word, and two candidates that are equally near cancel each other out. Upper case, camel case and
 * dashes are no differences; of words in parts, such as `cron.add`, only the parts that differ are compared.
 */
export function nearestWord(word: string, known: readonly string[]): string | null {
  if (word.length < 3 || word.length > 40) return null
  const given = plain(word)
  let best: { readonly candidate: string; readonly changes: number } | null = null
  let isTie = false
  for (const candidate of known) {
    const changes = typingErrors(given, plain(candidate))
    if (changes === null || (best !== null && changes > best.changes)) continue
    isTie = best !== null && changes === best.changes && candidate !== best.candidate
    best = { candidate, changes }
  }
  return best === null || isTie ? null : best.candidate
}

const plain = (word: string): string =>
  word
    .replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()
    .replaceAll(/[\s-]/g, '_')
    .replaceAll(/[[\]'"]/g, '')

/** How many typing errors lead from one word to the other; null: too many for one to be the other. */
function typingErrors(given: string, known: string): number | null {
  if (given === known) return 0
  const [from, to] = withoutCommonParts(given.split(PART_ENDS), known.split(PART_ENDS))
  const most = errorsIn(Math.min(from.length, to.length))
  if (Math.abs(from.length - to.length) > most) return null
  const changes = changesBetween(from, to)
  if (changes > most) return null
  // The first letter is seldom the wrong one: with it, more than one letter makes another word.
  if (changes > 1 && from[0] !== to[0]) return null
  // Letters are left out more often than they are added.
  return isWithin(from, to) ? changes - 0.5 : changes
}

/** Whether leaving out letters of one word makes the other. */
function isWithin(short: string, long: string): boolean {
  let at = 0
  for (const letter of long) if (letter === short[at]) at += 1
  return at === short.length
}

const PART_ENDS = /(?<=[.:/])/

/** In so many letters a person makes at most so many errors. */
const errorsIn = (letters: number): number => (letters < 3 ? 0 : letters < 7 ? 1 : letters < 11 ? 2 : 3)

function withoutCommonParts(from: readonly string[], to: readonly string[]): readonly [string, string] {
  let start = 0
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1
  let end = 0
  const shortest = Math.min(from.length, to.length) - start
  while (end < shortest && from.at(-1 - end) === to.at(-1 - end)) end += 1
  return [from.slice(start, from.length - end).join(''), to.slice(start, to.length - end).join('')]
}

/** Letters to add, leave out, replace, or swap with their neighbor. */
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
