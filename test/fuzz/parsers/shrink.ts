/** No more attempts than these: whoever wants it smaller does the rest by hand. */
const MOST_ATTEMPTS = 400
const MOST_MS = 5_000

/** A smaller input of which the same still holds. Takes away pieces as long as that leaves it true. */
export function shrink(input: unknown, holds: (smaller: unknown) => boolean): unknown {
  let left = MOST_ATTEMPTS
  const until = Date.now() + MOST_MS
  const stillHolds = (smaller: unknown): boolean => {
    left -= 1
    return left > 0 && Date.now() < until && holds(smaller)
  }
  let small = input
  for (let found = next(small, stillHolds); found !== null; found = next(small, stillHolds)) small = found.smaller
  return small
}

type Holds = (smaller: unknown) => boolean

function next(input: unknown, holds: Holds): { readonly smaller: unknown } | null {
  for (const smaller of smallerOnes(input)) if (holds(smaller)) return { smaller }
  return null
}

/** Inputs that are a little smaller, the smallest first. */
function* smallerOnes(input: unknown): Generator {
  if (typeof input === 'string') yield* smallerTexts(input)
  else if (Array.isArray(input)) {
    for (let at = 0; at < input.length; at += 1) yield input.toSpliced(at, 1)
    for (let at = 0; at < input.length; at += 1)
      for (const smaller of smallerOnes(input[at])) yield input.with(at, smaller)
  } else if (typeof input === 'object' && input !== null) {
    const fields = Object.entries(input) as [string, unknown][]
    for (let at = 0; at < fields.length; at += 1) yield Object.fromEntries(fields.toSpliced(at, 1))
    for (const [name, value] of fields) for (const smaller of smallerOnes(value)) yield { ...input, [name]: smaller }
  }
}

function* smallerTexts(text: string): Generator {
  for (let size = Math.ceil(text.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < text.length; at += size) yield text.slice(0, at) + text.slice(at + size)
}
