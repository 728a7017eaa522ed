/** What came of reading a text as JSON. */
export type ReadJson = { readonly value: unknown } | { readonly flaw: string }

/**
 * Reads JSON. What is wrong with it is told by its place alone: the messages of the engine quote the text, and the text may
 * begin with a secret.
 */
export function readJson(text: string): ReadJson {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const [, position] = /at position (\d+)/.exec(message) ?? []
    if (position !== undefined) return { flaw: `there is a mistake ${placeOf(text, Number(position))}` }
    return { flaw: /^Unexpected end/.test(message) ? 'it ends too early' : 'it has a character where none is allowed' }
  }
}

function placeOf(text: string, position: number): string {
  const before = text.slice(0, position).split('\n')
  return `at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

/** How deep an answer of an agent may be nested. PostgreSQL takes a few thousand levels, and nobody needs a hundred. */
export const MAX_ANSWER_DEPTH = 1_000

/** Whether something is nested deeper. Asked without recursion, which would run out of stack itself. */
export function isDeeper(value: unknown, levels: number): boolean {
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
