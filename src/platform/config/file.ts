import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml'
import { CONFIG_KEYS } from './keys.ts'
import { readPartly, type Layer, type ReadLayer } from './tree.ts'
import { describeFlaw, type Flaw } from '../../domain/input.ts'
import { withoutComments } from '../../core/json-comments.ts'
import { doublesIn, firstFlaws, withinBounds } from '../yaml/bounds.ts'

/** Something that is wrong with the file, and where. */
export interface FileFlaw {
  readonly line: number
  readonly message: string
}

export type ReadFile =
  | { readonly ok: true; readonly layer: ReadLayer }
  /** What could be read is only for finding what else is wrong. */
  | { readonly ok: false; readonly flaws: readonly FileFlaw[]; readonly values: Layer }

/** More than this is not a configuration. */
const MOST_CHARACTERS = 1_048_576
const MOST_TOKENS = 50_000

/** More than this is not a file of schedules. */
const MOST_TOKENS_OF_SCHEDULES = 150_000

/** Reads the text of a configuration file, whole or not at all: every flaw is told with its line. */
export function readConfigText(text: string): ReadFile {
  if (text.length > MOST_CHARACTERS)
    return refused([{ line: 1, message: `the file is longer than ${MOST_CHARACTERS} characters` }])
  const lines = new LineCounter()
  const plain = withoutComments(text)
  const parsed = withinBounds(plain, MOST_TOKENS, () => documentOf(plain, lines))
  if (!parsed.ok) return refused([{ line: 1, message: `the file ${parsed.message}` }])
  const document = parsed.value
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line)
  const problems = [...document.errors, ...document.warnings]
  if (problems.length > 0)
    return refused(problems.map(({ message, pos: [at] }) => ({ line: lineAt(at), message: lowered(message) })))
  // Of a name that is there twice, the rest of the file can be read all the same.
  const broken = doublesIn(document).map(({ at, message }) => ({ line: lineAt(at), message }))
  const given = valueOf(document)
  if (!given.ok) return refused([...broken, { line: 1, message: lowered(given.message) }])
  if (given.value === null) return { ok: true, layer: { values: new Map(), kept: [], forgotten: [] } }
  if (!isMap(document.contents))
    return refused([{ line: 1, message: `must hold settings such as "tasks: { max_queue: 500 }"` }])
  const { flaws, ...layer } = readPartly(CONFIG_KEYS, given.value, { durations: true })
  const all = [...broken, ...flaws.map((flaw) => fileFlaw(document, flaw, lineAt))]
  if (all.length === 0) return { ok: true, layer }
  return refused(
    all.sort((a, b) => a.line - b.line),
    layer.values,
  )
}

const refused = (flaws: readonly FileFlaw[], values: Layer = new Map()): ReadFile => ({
  ...{ ok: false, flaws: firstFlaws(flaws), values },
})

/** What stands in a text of JSON or YAML, or what is wrong with it. */
type ReadDocument = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/** Reads one document of YAML, of which JSON is a part. Only the first mistake is shown: to find all takes long. */
export function readDocument(text: string): ReadDocument {
  const lines = new LineCounter()
  const parsed = withinBounds(text, MOST_TOKENS_OF_SCHEDULES, () => documentOf(text, lines))
  if (!parsed.ok) return { ok: false, message: `it ${parsed.message}` }
  const wrong = firstWrong(parsed.value)
  if (wrong === null) return valueOf(parsed.value)
  const { line, col } = lines.linePos(wrong.at)
  return { ok: false, message: `${wrong.message} at line ${Math.max(1, line)}, column ${Math.max(1, col)}` }
}

function firstWrong(document: Document): { readonly message: string; readonly at: number } | null {
  const [broken] = document.errors
  if (broken !== undefined) return { message: broken.message, at: broken.pos[0] }
  return doublesIn(document)[0] ?? null
}

/** Names that are there twice are found without the library: it compares each with each. */
const documentOf = (text: string, lineCounter: LineCounter): Document =>
  parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error', uniqueKeys: false })

/** Aliases may not blow up a small file. */
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

/** Where a setting stands, or as near to it as its path leads. Names may have dots in them. */
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
      // What the path does not lead to stands, as far as anybody can tell, at the name above it.
      return isMap(value) || isSeq(value) ? Math.max(inside, at) : at
    }
  }
  return own
}

const lowered = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1)
