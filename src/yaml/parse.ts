import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, visit, type Document, type Node } from 'yaml'
import { doublesIn, MOST_ALIASES, withinBounds } from './bounds.ts'
import type { FileFlaw, NamedText, Place } from './place.ts'

/** One document of a file: what it says, and where it says it. */
export interface YamlDocument {
  readonly value: Readonly<Record<string, unknown>>
  /** Where the value of a path stands, or as near to it as the path leads. */
  readonly placeOf: (path: readonly string[]) => Place
}

export interface ParsedFile {
  readonly documents: readonly YamlDocument[]
  readonly flaws: readonly FileFlaw[]
}

/** About what a server takes at once: 20,000 fields, with the signs around them. */
const MOST_TOKENS = 150_000

/** Reads the documents of a file. Every flaw has its place; a document with a flaw is left out. */
export function parseYaml({ name, text }: NamedText): ParsedFile {
  const lines = new LineCounter()
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file: name, line: Math.max(1, line), column: Math.max(1, col) }
  }
  const parsed = withinBounds(text, MOST_TOKENS, () => documentsIn(text, lines))
  if (!parsed.ok) return { documents: [], flaws: [{ ...placeAt(0), message: `the file ${parsed.message}` }] }
  const flaws: FileFlaw[] = []
  const documents: YamlDocument[] = []
  for (const document of parsed.value) {
    const read = readOne(document, placeAt)
    // One by one: as arguments of a call, a hundred thousand would overflow the stack.
    if ('flaws' in read) for (const flaw of read.flaws) flaws.push(flaw)
    else if (read.document !== null) documents.push(read.document)
  }
  return { documents, flaws }
}

function documentsIn(text: string, lineCounter: LineCounter): readonly Document.Parsed[] {
  // Names that are said twice are found below: the library compares each with each, which takes long in a long map.
  const how = { prettyErrors: false, logLevel: 'error', merge: true, uniqueKeys: false } as const
  const parsed = parseAllDocuments(text, { lineCounter, ...how })
  return Array.isArray(parsed) ? parsed : []
}

type PlaceAt = (offset: number) => Place
type ReadOne = { readonly flaws: readonly FileFlaw[] } | { readonly document: YamlDocument | null }

function readOne(document: Document.Parsed, placeAt: PlaceAt): ReadOne {
  const broken = [...document.errors, ...document.warnings]
  if (broken.length > 0)
    return { flaws: broken.map(({ message, pos: [at] }) => ({ ...placeAt(at), message: lowered(message) })) }
  const { contents } = document
  if (contents === null || isNothing(contents)) return { document: null }
  const start = contents.range[0]
  if (!isMap(contents)) return { flaws: [{ ...placeAt(start), message: SHAPE }] }
  const strange = strangeIn(document)
  if (strange.length > 0) return { flaws: strange.map(({ at, message }) => ({ ...placeAt(at), message })) }
  const value = valueOf(document)
  if (!value.ok) return { flaws: [{ ...placeAt(start), message: value.message }] }
  return {
    document: { value: value.value, placeOf: (path) => placeAt(offsetOf({ document, path }, contents, start)) },
  }
}

const SHAPE = 'must hold lists such as "schedules:" with items below it'

const isNothing = (contents: Node): boolean => isScalar(contents) && (contents.value === null || contents.value === '')

interface Strange {
  readonly at: number
  readonly message: string
}

/** What YAML can say and JSON cannot, and names that are said twice. */
function strangeIn(document: Document.Parsed): readonly Strange[] {
  const found: Strange[] = []
  // In the order of the document, so that an alias finds the last anchor before it without a walk of its own.
  const anchors = new Map<string, Node>()
  visit(document, {
    Node: (_, node, path) => {
      const message = strangenessOf(node, path, anchors)
      if (message !== null) found.push({ at: node.range?.[0] ?? 0, message })
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Pair: (_, { key }) => {
      if (isMap(key) || isSeq(key)) found.push({ at: key.range?.[0] ?? 0, message: 'a name must be a text' })
    },
  })
  return [...found, ...doublesIn(document)]
}

function strangenessOf(node: Node, path: readonly unknown[], anchors: ReadonlyMap<string, Node>): string | null {
  if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value))
    return 'must be a number that can be written with digits'
  if (isAlias(node) && path.includes(anchors.get(node.source)))
    return `"*${node.source}" is inside of what it stands for`
  return null
}

type Value =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly message: string }

function valueOf(document: Document.Parsed): Value {
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: MOST_ALIASES }) as Record<string, unknown> }
  } catch (error) {
    return { ok: false, message: lowered(error instanceof Error ? error.message : String(error)) }
  }
}

interface Sought {
  readonly document: Document.Parsed
  readonly path: readonly string[]
}

/** Of a field its name, of an item its beginning. What an alias stands for stands where the anchor is. */
function offsetOf({ document, path }: Sought, node: unknown, own: number): number {
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
