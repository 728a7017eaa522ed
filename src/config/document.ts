import { LineCounter, parseDocument, type Document } from 'yaml'
import { doublesIn, withinBounds } from '../yaml/bounds.ts'

/** What stands in a text of JSON or YAML, or what is wrong with it. */
export type ReadDocument =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/** Aliases may not blow up a small file. */
const MOST_ALIASES = 100

/** More than this is not a file of schedules. */
const MOST_TOKENS = 150_000

/** Names that are there twice are found without the library, and only the first mistake is shown: both take it long. */
const documentOf = (text: string, lineCounter: LineCounter): Document =>
  parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error', uniqueKeys: false })

/** Reads one document of YAML, of which JSON is a part. */
export function readDocument(text: string): ReadDocument {
  const lines = new LineCounter()
  const parsed = withinBounds(text, MOST_TOKENS, () => documentOf(text, lines))
  if (!parsed.ok) return { ok: false, message: `it ${parsed.message}` }
  const wrong = firstWrong(parsed.value)
  if (wrong !== null) {
    const { line, col } = lines.linePos(wrong.at)
    return { ok: false, message: `${wrong.message} at line ${Math.max(1, line)}, column ${Math.max(1, col)}` }
  }
  try {
    return { ok: true, value: parsed.value.toJS({ maxAliasCount: MOST_ALIASES }) as unknown }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
}

function firstWrong(document: Document): { readonly message: string; readonly at: number } | null {
  const [broken] = document.errors
  if (broken !== undefined) return { message: broken.message, at: broken.pos[0] }
  return doublesIn(document)[0] ?? null
}
