import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml'
import { CONFIG_KEYS } from './keys.ts'
import { readPartly, type Layer, type ReadLayer } from './tree.ts'
import { describeFlaw, type Flaw } from '../../domain/input.ts'
import { withoutComments } from '../../domain/json.ts'
import { duplicateNamesIn, firstFlaws, withinBounds } from '../yaml/bounds.ts'

/** An error in the file, with its line. */
export interface FileFlaw {
  readonly line: number
  readonly message: string
}

export type ReadFile =
  | { readonly ok: true; readonly layer: ReadLayer }
  /** `values` holds the valid settings, to check them together with the other layers. */
  | { readonly ok: false; readonly flaws: readonly FileFlaw[]; readonly values: Layer }

/** Limits of a configuration file. */
const MAX_CHARACTERS = 1_048_576
const MAX_SETTING_TOKENS = 50_000

/** Limit of a file of schedules. */
const MAX_SCHEDULE_TOKENS = 150_000

/** Reads the text of a configuration file; reports all flaws with their lines. */
export function readConfigText(text: string): ReadFile {
  if (text.length > MAX_CHARACTERS)
    return refusedFile([{ line: 1, message: `the file is longer than ${MAX_CHARACTERS} characters` }])
  const lines = new LineCounter()
  const plain = withoutComments(text)
  const parsed = withinBounds(plain, MAX_SETTING_TOKENS, () => documentOf(plain, lines))
  if (!parsed.ok) return refusedFile([{ line: 1, message: `the file ${parsed.message}` }])
  const document = parsed.value
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line)
  const problems = [...document.errors, ...document.warnings]
  if (problems.length > 0)
    return refusedFile(problems.map(({ message, pos: [at] }) => ({ line: lineAt(at), message: lowered(message) })))
  // A duplicate name does not prevent reading the rest of the file.
  const duplicates = duplicateNamesIn(document).map(({ at, message }) => ({ line: lineAt(at), message }))
  const content = valueOf(document)
  if (!content.ok) return refusedFile([...duplicates, { line: 1, message: lowered(content.message) }])
  if (content.value === null) return { ok: true, layer: { values: new Map(), kept: [], removed: [] } }
  if (!isMap(document.contents))
    return refusedFile([{ line: 1, message: `must contain settings such as "tasks: { max_queue: 500 }"` }])
  const { flaws, ...layer } = readPartly(CONFIG_KEYS, content.value, { durations: true })
  const all = [...duplicates, ...flaws.map((flaw) => fileFlaw(document, flaw, lineAt))]
  if (all.length === 0) return { ok: true, layer }
  return refusedFile(
    all.sort((a, b) => a.line - b.line),
    layer.values,
  )
}

const refusedFile = (flaws: readonly FileFlaw[], values: Layer = new Map()): ReadFile => ({
  ...{ ok: false, flaws: firstFlaws(flaws), values },
})

/** The value of a JSON or YAML text, or its error. */
type ReadDocument = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/** Reads one YAML (or JSON) document. Reports only the first error, because finding all of them is slow. */
export function readDocument(text: string): ReadDocument {
  const lines = new LineCounter()
  const parsed = withinBounds(text, MAX_SCHEDULE_TOKENS, () => documentOf(text, lines))
  if (!parsed.ok) return { ok: false, message: `it ${parsed.message}` }
  const firstError = firstErrorIn(parsed.value)
  if (firstError === null) return valueOf(parsed.value)
  const { line, col } = lines.linePos(firstError.at)
  return { ok: false, message: `${firstError.message} at line ${Math.max(1, line)}, column ${Math.max(1, col)}` }
}

function firstErrorIn(document: Document): { readonly message: string; readonly at: number } | null {
  const [duplicates] = document.errors
  if (duplicates !== undefined) return { message: duplicates.message, at: duplicates.pos[0] }
  return duplicateNamesIn(document)[0] ?? null
}

/** Parses without the duplicate check of the library, which takes quadratic time; `doublesIn` replaces it. */
const documentOf = (text: string, lineCounter: LineCounter): Document =>
  parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error', uniqueKeys: false })

/** Converts to plain values; limits aliases, which can expand a small file enormously. */
function valueOf(document: Document): ReadDocument {
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: 100 }) as unknown }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
}

const fileFlaw = (document: Document, flaw: Flaw, lineAt: (offset: number) => number): FileFlaw => ({
  line: lineAt(offsetOf(document.contents, flaw.field)),
  message: describeFlaw(flaw),
})

/** The offset of a setting, or of the nearest group on its path. Names may contain dots. */
function offsetOf(node: Node | null, field: string): number {
  const own = node?.range?.[0] ?? 0
  if (isSeq(node)) {
    const item = node.items[Number.parseInt(field, 10)] as Node | undefined
    return item?.range?.[0] ?? own
  }
  if (!isMap(node)) return own
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : ''
    const at = isScalar(key) ? (key.range?.[0] ?? own) : own
    if (field === name) return at
    if (field.startsWith(`${name}.`)) {
      const inside = offsetOf(value as Node | null, field.slice(name.length + 1))
      // A path that ends inside of a value without position points to the name above it.
      return isMap(value) || isSeq(value) ? Math.max(inside, at) : at
    }
  }
  return own
}

const lowered = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1)
