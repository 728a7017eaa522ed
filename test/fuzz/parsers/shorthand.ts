/**
 * Long texts in the corpus are written short: `{"$times": ["[", 100000]}` is that many brackets, and `{"$join": […]}` puts
 * texts together.
 */
export function expand(kept: unknown): unknown {
  if (typeof kept !== 'object' || kept === null) return kept
  if (Array.isArray(kept)) return kept.map(expand)
  const fields = kept as Readonly<Record<string, unknown>>
  const { $times: times, $join: pieces } = fields
  if (Array.isArray(times)) return String(times[0]).repeat(Number(times[1]))
  if (Array.isArray(pieces)) return pieces.map((piece) => String(expand(piece))).join('')
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, expand(value)]))
}

const LONG = 200

/** The same the other way round, where a long text is one piece again and again, and perhaps something at its ends. */
export function abbreviate(input: unknown): unknown {
  if (typeof input === 'string') return input.length > LONG ? shortText(input) : input
  if (typeof input !== 'object' || input === null) return input
  if (Array.isArray(input)) return input.map(abbreviate)
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, abbreviate(value)]))
}

function shortText(text: string): unknown {
  const middle = Math.floor(text.length / 2)
  for (let size = 1; size <= 16; size += 1) {
    const piece = text.slice(middle, middle + size)
    let from = middle
    while (from >= size && text.slice(from - size, from) === piece) from -= size
    let to = middle
    while (text.slice(to, to + size) === piece) to += size
    if (to - from > text.length - LONG)
      return { $join: [text.slice(0, from), { $times: [piece, (to - from) / size] }, text.slice(to)] }
  }
  return text
}
