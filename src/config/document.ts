import { parseDocument, type Document } from 'yaml'
import { doublesIn, withinBounds } from '../yaml/bounds.ts'

/** What stands in a text of JSON or YAML, or what is wrong with it. */
export type ReadDocument =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/** Aliases may not blow up a small file. */
const MOST_ALIASES = 100

/** More than this is not a file of schedules. */
const MOST_TOKENS = 150_000

/** Names that are there twice are found without the library: it compares each with each. */
const documentOf = (text: string): Document =>
  parseDocument(text, { prettyErrors: true, logLevel: 'error', uniqueKeys: false })

/** Reads one document of YAML, of which JSON is a part. */
export function readDocument(text: string): ReadDocument {
  const parsed = withinBounds(text, MOST_TOKENS, () => documentOf(text))
  if (!parsed.ok) return { ok: false, message: `it ${parsed.message}` }
  const [broken] = [...parsed.value.errors, ...doublesIn(parsed.value)]
  if (broken !== undefined) return { ok: false, message: broken.message.trimEnd() }
  try {
    return { ok: true, value: parsed.value.toJS({ maxAliasCount: MOST_ALIASES }) as unknown }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
}
