import { Lexer, visit, isScalar, type Document } from 'yaml'

/** Maximum nesting; at much deeper levels the library overflows the stack and may end the process. */
export const MAX_LEVELS = 100

/** Maximum number of aliases, because the library searches the whole document for each. */
export const MAX_ALIASES = 1_000

/** The parsed value, or an error message that continues "the file". */
export type Bounded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string }

/** Parses a text within limits of tokens, levels and aliases, which bound the parsing time. */
export function withinBounds<T>(text: string, maxTokens: number, parse: () => T): Bounded<T> {
  const message = exceededLimit(text, maxTokens)
  return message === null ? { ok: true, value: withoutStacks(parse) } : { ok: false, message }
}

/** Turns off stack traces, which take most of the time of parsing a text with many errors. */
function withoutStacks<T>(parse: () => T): T {
  const how: { stackTraceLimit?: number } = Error
  const before = how.stackTraceLimit ?? 10
  how.stackTraceLimit = 0
  try {
    return parse()
  } finally {
    how.stackTraceLimit = before
  }
}

/** The token the lexer emits before each scalar. */
const SCALAR_FOLLOWS = '\u001f'

function exceededLimit(text: string, maxTokens: number): string | null {
  const levels = new Levels()
  let [count, aliases, isScalarNext] = [0, 0, false]
  for (const piece of new Lexer().lex(text)) {
    count += 1
    if (count > maxTokens) return `has more than ${maxTokens} tokens`
    if (!isScalarNext && piece.startsWith('*')) aliases += 1
    if (aliases > MAX_ALIASES) return `has more than ${MAX_ALIASES} aliases`
    if (levels.after(isScalarNext ? SCALAR_FOLLOWS : piece) > MAX_LEVELS)
      return `is nested deeper than ${MAX_LEVELS} levels`
    isScalarNext = piece === SCALAR_FOLLOWS
  }
  return null
}

/** Estimates the nesting level from brackets, indentation and block indicators; never too low. */
class Levels {
  readonly #indents: number[] = []
  #brackets = 0
  #signs = 0
  #isLineStart = true

  after(piece: string): number {
    if (piece === '\n' || piece === '\r\n') {
      this.#isLineStart = true
      return 0
    }
    if (this.#isLineStart && this.#brackets === 0) this.#indent(/^ +$/.test(piece) ? piece.length : 0)
    this.#isLineStart = false
    if (piece === '[' || piece === '{') this.#brackets += 1
    else if (piece === ']' || piece === '}') this.#brackets = Math.max(0, this.#brackets - 1)
    else if (this.#brackets === 0 && (piece === '-' || piece === '?' || piece === ':')) this.#signs += 1
    return this.#indents.length + this.#brackets + this.#signs
  }

  #indent(width: number): void {
    this.#signs = 0
    while ((this.#indents.at(-1) ?? -1) >= width) this.#indents.pop()
    this.#indents.push(width)
  }
}

/**
 * The duplicate names in maps, with the position of the second one. Replaces the check of the library, which takes
 * quadratic time.
 */
export function duplicateNamesIn(document: Document): readonly { readonly at: number; readonly message: string }[] {
  const found: { at: number; message: string }[] = []
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<string>()
      for (const { key } of items) {
        // `<<` merges another map, and may occur several times.
        if (!isScalar(key) || typeof key.value === 'symbol') continue
        const name = String(key.value)
        if (names.has(name)) found.push({ at: key.range?.[0] ?? 0, message: `duplicate name "${name}"` })
        names.add(name)
      }
    },
  })
  return found
}

/** Maximum number of reported errors. */
const MAX_REPORTED = 50

/** The first errors, and the number of the others. */
export function firstFlaws<F extends { readonly message: string }>(flaws: readonly F[]): readonly F[] {
  const next = flaws[MAX_REPORTED]
  if (next === undefined) return flaws
  return [
    ...flaws.slice(0, MAX_REPORTED),
    { ...next, message: `more errors follow (${flaws.length - MAX_REPORTED} not shown)` },
  ]
}
