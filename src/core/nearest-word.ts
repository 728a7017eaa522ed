/** The known word that takes the fewest changes, if it takes few: what somebody probably meant. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  if (word.length < 3 || word.length > 40) return null
  const [best] = known
    .map((candidate) => ({ candidate, changes: changesBetween(word, candidate) }))
    .sort((a, b) => a.changes - b.changes)
  // With half of its letters changed, any word becomes any other.
  const most = Math.min(3, Math.floor(word.length / 2))
  return best !== undefined && best.changes <= most ? best.candidate : null
}

function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (from[index] === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
