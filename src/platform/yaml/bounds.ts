import { Lexer, visit, isScalar, type Document } from 'yaml'

/** Deeper than this nobody writes a file; the library would run out of stack far below, and sometimes end the process. */
export const MOST_LEVELS = 100

/** The library looks for what an alias stands for in the whole document. */
export const MOST_ALIASES = 1_000

/** What came of parsing a text, or why it is not parsed: reads on after "the file". */
export type Bounded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string }

/** Parses a text, unless it has more tokens or levels than a file of its kind has: each takes microseconds. */
export function withinBounds<T>(text: string, mostTokens: number, parse: () => T): Bounded<T> {
  const message = excessIn(text, mostTokens)
  return message === null ? { ok: true, value: withoutStacks(parse) } : { ok: false, message }
}

/** Each mistake is an error to the library, and the stack in it, which is never shown, takes most of the time. */
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

/** What the lexer puts before each scalar, which may look like a sign. */
const SCALAR_FOLLOWS = '\u001f'

function excessIn(text: string, mostTokens: number): string | null {
  const levels = new Levels()
  let [count, aliases, isScalarNext] = [0, 0, false]
  for (const piece of new Lexer().lex(text)) {
    count += 1
    if (count > mostTokens) return `has more than ${mostTokens} words and signs`
    if (!isScalarNext && piece.startsWith('*')) aliases += 1
    if (aliases > MOST_ALIASES) return `has more than ${MOST_ALIASES} aliases`
    if (levels.after(isScalarNext ? SCALAR_FOLLOWS : piece) > MOST_LEVELS)
      return `is nested deeper than ${MOST_LEVELS} levels`
    isScalarNext = piece === SCALAR_FOLLOWS
  }
  return null
}

/** Counts how deep a piece of the text stands, or a little more: brackets, signs that open a level in the same line, indentation. */
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
 * Names that are said twice in a map, and where for the second time. The library looks for them too, but compares each
 * with each, which takes long in a long map.
 */
export function doublesIn(document: Document): readonly { readonly at: number; readonly message: string }[] {
  const found: { at: number; message: string }[] = []
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<string>()
      for (const { key } of items) {
        // `<<` brings in the fields of another map, and a map may do that more than once.
        if (!isScalar(key) || typeof key.value === 'symbol') continue
        const name = String(key.value)
        if (names.has(name)) found.push({ at: key.range?.[0] ?? 0, message: `"${name}" is said twice` })
        names.add(name)
      }
    },
  })
  return found
}

/** So many mistakes are told: enough to see what is wrong, and few enough to be read. */
const MOST_TOLD = 50

/** The first mistakes, and how many more there are. */
export function firstFlaws<F extends { readonly message: string }>(flaws: readonly F[]): readonly F[] {
  const next = flaws[MOST_TOLD]
  if (next === undefined) return flaws
  return [...flaws.slice(0, MOST_TOLD), { ...next, message: `and ${flaws.length - MOST_TOLD} more mistakes` }]
}
