import {
  Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  Scalar,
  visit,
} from 'yaml'
import { duplicateNamesIn, firstFlaws, MAX_ALIASES, withinBounds } from './bounds.ts'

interface WriteYamlOptions {
  /** Comment lines at the top, without `#`. */
  readonly comment?: readonly string[]
}

/**
 * Writes a readable document that parses to exactly the same value: literal blocks for multi-line texts, no folding, no
 * aliases, and empty lines between lists and their items. Quotes texts that YAML 1.1 parsers would read as another type.
 */
export function writeYaml(value: Readonly<Record<string, unknown>>, { comment = [] }: WriteYamlOptions = {}): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1', version: '1.2' })
  addBlankLines(document)
  quoteByteOrderMarks(document)
  const head = comment.map((line) => `# ${line}\n`).join('')
  return `${head}${document.toString({ lineWidth: 0, blockQuote: 'literal', indentSeq: true })}`
}

function addBlankLines({ contents }: Document): void {
  if (!isMap(contents)) return
  for (const { key, value } of contents.items) {
    if (!isSeq(value)) continue
    if (isSpaced(key)) key.spaceBefore = true
    for (const item of value.items.slice(1)) if (isCollection(item)) item.spaceBefore = true
  }
}

/** Quotes texts with a leading byte order mark, which would otherwise be read as the start of a document. */
function quoteByteOrderMarks(document: Document): void {
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && node.value.startsWith('\ufeff')) node.type = Scalar.QUOTE_DOUBLE
    },
  })
}

const isSpaced = (key: unknown): key is { spaceBefore?: boolean } => typeof key === 'object' && key !== null

/** The text of a file, with its name. */
interface NamedText {
  readonly name: string
  readonly text: string
}

/** A position in a file; lines and columns count from 1. */
interface FilePosition {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** An error in a file, with its position. */
interface PositionedFlaw extends FilePosition {
  readonly message: string
}

/** `deploy/nightly.yaml:12:5`, the format that editors and terminals can open. */
export const positionText = ({ file, line, column }: FilePosition): string => `${file}:${line}:${column}`

/** The merged content of files, with positions. */
export interface ReadYaml {
  readonly ok: true
  readonly value: Readonly<Record<string, unknown>>
  /** The position of a JSON pointer, or of its nearest parent; null: there is no file. */
  readonly positionOf: (pointer: string) => FilePosition | null
}

type YamlAnswer = ReadYaml | { readonly ok: false; readonly flaws: readonly PositionedFlaw[] }

/**
 * Reads files as one document: concatenates lists of the same name in the order of the files; other values must be equal
 * in all files. Fails with all errors and their positions.
 */
export function readYaml(files: readonly NamedText[]): YamlAnswer {
  const parsed = files.map(parseYaml)
  const flaws = parsed.flatMap((file) => file.flaws)
  const documents = parsed.flatMap((file) => file.documents)
  if (flaws.length > 0) return { ok: false, flaws: firstFlaws(flaws) }
  return joinDocuments(documents, files)
}

/** The documents that the items of a list, or the value of a name, come from. */
type Origin =
  | { readonly kind: 'list'; readonly items: { readonly of: YamlDocument; readonly at: number }[] }
  | { readonly kind: 'value'; readonly of: YamlDocument }

function joinDocuments(documents: readonly YamlDocument[], files: readonly NamedText[]): YamlAnswer {
  const joined = new Map<string, unknown>()
  const origins = new Map<string, Origin>()
  const flaws: PositionedFlaw[] = []
  for (const document of documents)
    for (const [name, value] of Object.entries(document.value)) {
      const before = origins.get(name)
      // A name without a value does not override another file.
      if (before !== undefined && value === null) continue
      if (before === undefined || joined.get(name) === null) {
        joined.set(name, Array.isArray(value) ? [...(value as unknown[])] : value)
        origins.set(name, originOf(document, value))
      } else if (before.kind === 'list' && Array.isArray(value)) {
        const list = joined.get(name) as unknown[]
        for (const item of value as unknown[]) list.push(item)
        for (const item of itemsOf(document, value)) before.items.push(item)
      } else if (before.kind === 'list' || JSON.stringify(joined.get(name)) !== JSON.stringify(value))
        flaws.push({ ...document.positionOf([name]), message: `"${name}" was already set to a different value` })
    }
  if (flaws.length > 0) return { ok: false, flaws: firstFlaws(flaws) }
  const start = files[0] === undefined ? null : { file: files[0].name, line: 1, column: 1 }
  return {
    ok: true,
    value: Object.fromEntries(joined),
    positionOf: (pointer) => positionIn(origins, stepsOf(pointer)) ?? documents[0]?.positionOf([]) ?? start,
  }
}

const originOf = (of: YamlDocument, value: unknown): Origin =>
  Array.isArray(value) ? { kind: 'list', items: itemsOf(of, value) } : { kind: 'value', of }

const itemsOf = (of: YamlDocument, list: readonly unknown[]): { readonly of: YamlDocument; readonly at: number }[] =>
  list.map((_, at) => ({ of, at }))

function positionIn(
  origins: ReadonlyMap<string, Origin>,
  [name = '', index, ...rest]: readonly string[],
): FilePosition | null {
  const origin = origins.get(name)
  if (origin === undefined) return null
  if (origin.kind === 'value') return origin.of.positionOf([name, ...(index === undefined ? [] : [index]), ...rest])
  const item = origin.items[Number.parseInt(index ?? '', 10)] ?? origin.items[0]
  if (item === undefined) return null
  return item.of.positionOf(index === undefined ? [name] : [name, String(item.at), ...rest])
}

const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** A document of a file, with positions. */
interface YamlDocument {
  readonly value: Readonly<Record<string, unknown>>
  /** The position of a path, or of its nearest parent. */
  readonly positionOf: (path: readonly string[]) => FilePosition
}

interface ParsedFile {
  readonly documents: readonly YamlDocument[]
  readonly flaws: readonly PositionedFlaw[]
}

/** About 20,000 fields, the maximum of a server. */
const MAX_SETTING_TOKENS = 150_000

/** Reads the documents of a file; leaves out documents with errors. */
function parseYaml({ name, text }: NamedText): ParsedFile {
  const lines = new LineCounter()
  const positionAt = (offset: number): FilePosition => {
    const { line, col } = lines.linePos(offset)
    return { file: name, line: Math.max(1, line), column: Math.max(1, col) }
  }
  const parsed = withinBounds(text, MAX_SETTING_TOKENS, () => documentsIn(text, lines))
  if (!parsed.ok) return { documents: [], flaws: [{ ...positionAt(0), message: `the file ${parsed.message}` }] }
  const flaws: PositionedFlaw[] = []
  const documents: YamlDocument[] = []
  for (const document of parsed.value) {
    const read = readOne(document, positionAt)
    // One by one, because spreading a hundred thousand arguments would overflow the stack.
    if ('flaws' in read) for (const flaw of read.flaws) flaws.push(flaw)
    else if (read.document !== null) documents.push(read.document)
  }
  return { documents, flaws }
}

function documentsIn(text: string, lineCounter: LineCounter): readonly Document.Parsed[] {
  // `doublesIn` finds duplicate names; the check of the library takes quadratic time.
  const how = { prettyErrors: false, logLevel: 'error', merge: true, uniqueKeys: false } as const
  const parsed = parseAllDocuments(text, { lineCounter, ...how })
  return Array.isArray(parsed) ? parsed : []
}

type PositionAt = (offset: number) => FilePosition
type ReadOne = { readonly flaws: readonly PositionedFlaw[] } | { readonly document: YamlDocument | null }

function readOne(document: Document.Parsed, positionAt: PositionAt): ReadOne {
  const syntaxErrors = [...document.errors, ...document.warnings]
  if (syntaxErrors.length > 0)
    return { flaws: syntaxErrors.map(({ message, pos: [at] }) => ({ ...positionAt(at), message: lowered(message) })) }
  const { contents } = document
  if (contents === null || isNothing(contents)) return { document: null }
  const start = contents.range[0]
  if (!isMap(contents)) return { flaws: [{ ...positionAt(start), message: SHAPE }] }
  const issues = yamlIssuesIn(document)
  if (issues.length > 0) return { flaws: issues.map(({ at, message }) => ({ ...positionAt(at), message })) }
  const value = valueOf(document)
  if (!value.ok) return { flaws: [{ ...positionAt(start), message: value.message }] }
  return {
    document: { value: value.value, positionOf: (path) => positionAt(offsetOf({ document, path }, contents, start)) },
  }
}

const SHAPE = 'must contain lists such as "schedules:" with items below'

const isNothing = (contents: Node): boolean => isScalar(contents) && (contents.value === null || contents.value === '')

interface YamlIssue {
  readonly at: number
  readonly message: string
}

/** Finds YAML that JSON cannot represent, and duplicate names. */
function yamlIssuesIn(document: Document.Parsed): readonly YamlIssue[] {
  const found: YamlIssue[] = []
  // Filled in document order, so that an alias finds the last anchor before it.
  const anchors = new Map<string, Node>()
  visit(document, {
    Node: (_, node, path) => {
      const message = nodeIssueOf(node, path, anchors)
      if (message !== null) found.push({ at: node.range?.[0] ?? 0, message })
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Pair: (_, { key }) => {
      if (isMap(key) || isSeq(key)) found.push({ at: key.range?.[0] ?? 0, message: 'a name must be a string' })
    },
  })
  return [...found, ...duplicateNamesIn(document)]
}

function nodeIssueOf(node: Node, path: readonly unknown[], anchors: ReadonlyMap<string, Node>): string | null {
  if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value)) return 'must be a finite number'
  if (isAlias(node) && path.includes(anchors.get(node.source)))
    return `"*${node.source}" refers to a value that contains it`
  return null
}

type Value =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly message: string }

function valueOf(document: Document.Parsed): Value {
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: MAX_ALIASES }) as Record<string, unknown> }
  } catch (error) {
    return { ok: false, message: lowered(error instanceof Error ? error.message : String(error)) }
  }
}

interface OffsetQuery {
  readonly document: Document.Parsed
  readonly path: readonly string[]
}

/** The offset of a path: the name of a field, the start of an item, or the anchor of an alias. */
function offsetOf({ document, path }: OffsetQuery, node: unknown, own: number): number {
  const [step, ...rest] = path
  const here = isAlias(node) ? node.resolve(document) : (node as Node | null | undefined)
  if (step === undefined) return own
  if (isSeq(here)) {
    const item = here.items[Number.parseInt(step, 10)] as Node | undefined
    return item === undefined ? own : offsetOf({ document, path: rest }, item, item.range?.[0] ?? own)
  }
  if (!isMap(here)) return own
  for (const { key, value } of here.items)
    if (isScalar(key) && String(key.value) === step)
      return offsetOf({ document, path: rest }, value, key.range?.[0] ?? own)
  return own
}

const lowered = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1)
