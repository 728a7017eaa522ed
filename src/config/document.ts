import { parseDocument, type Document } from 'yaml'

/** What stands in a text of JSON or YAML, or what is wrong with it. */
export type ReadDocument =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/** Aliases may not blow up a small file. */
const MOST_ALIASES = 100

/** Reads one document of YAML, of which JSON is a part. */
export function readDocument(text: string): ReadDocument {
  try {
    const document: Document = parseDocument(text, { prettyErrors: true, logLevel: 'error' })
    const [broken] = document.errors
    if (broken !== undefined) return { ok: false, message: broken.message.trimEnd() }
    return { ok: true, value: document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown }
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, message: 'it is nested too deeply to be read' }
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
}
