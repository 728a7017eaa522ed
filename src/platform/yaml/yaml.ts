import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, visit } from 'yaml'
import { doublesIn, firstFlaws, MOST_ALIASES, withinBounds } from './bounds.ts'
import type { FileFlaw, NamedText, Place } from '../../yaml/place.ts'

/** What files say together, and where each of it stands. */
export interface ReadYaml {
  readonly ok: true
  readonly value: Readonly<Record<string, unknown>>
  /** Where the value of a JSON pointer stands, or as near to it as the pointer leads; null: in no file. */
  readonly placeOf: (pointer: string) => Place | null
}

export type YamlAnswer = ReadYaml | { readonly ok: false; readonly flaws: readonly FileFlaw[] }

/**
 * Reads files as one document: lists of the same name are joined in the order of the files, everything else must be said
 * alike wherever it is said. Whole or not at all: every flaw is told with its place.
 */
export function readYaml(files: readonly NamedText[]): YamlAnswer {
  const parsed = files.map(parseYaml)
  const flaws = parsed.flatMap((file) => file.flaws)
  const documents = parsed.flatMap((file) => file.documents)
  if (flaws.length > 0) return { ok: false, flaws: firstFlaws(flaws) }
  return join(documents, files)
}

/** Whose the items of a list are, or the value of a name. */
type Origin =
  | { readonly kind: 'list'; readonly items: { readonly of: YamlDocument; readonly at: number }[] }
  | { readonly kind: 'value'; readonly of: YamlDocument }

function join(documents: readonly YamlDocument[], files: readonly NamedText[]): YamlAnswer {
  const joined = new Map<string, unknown>()
  const origins = new Map<string, Origin>()
  const flaws: FileFlaw[] = []
  for (const document of documents)
    for (const [name, value] of Object.entries(document.value)) {
      const before = origins.get(name)
      // A name with nothing behind it takes nothing away from what is said elsewhere.
      if (before !== undefined && value === null) continue
      if (before === undefined || joined.get(name) === null) {
        joined.set(name, Array.isArray(value) ? [...(value as unknown[])] : value)
        origins.set(name, originOf(document, value))
      } else if (before.kind === 'list' && Array.isArray(value)) {
        const list = joined.get(name) as unknown[]
        for (const item of value as unknown[]) list.push(item)
        for (const item of itemsOf(document, value)) before.items.push(item)
      } else if (before.kind === 'list' || JSON.stringify(joined.get(name)) !== JSON.stringify(value))
        flaws.push({ ...document.placeOf([name]), message: `"${name}" was said before, and differently` })
    }
  if (flaws.length > 0) return { ok: false, flaws: firstFlaws(flaws) }
  const start = files[0] === undefined ? null : { file: files[0].name, line: 1, column: 1 }
  return {
    ok: true,
    value: Object.fromEntries(joined),
    placeOf: (pointer) => placeIn(origins, stepsOf(pointer)) ?? documents[0]?.placeOf([]) ?? start,
  }
}

const originOf = (of: YamlDocument, value: unknown): Origin =>
  Array.isArray(value) ? { kind: 'list', items: itemsOf(of, value) } : { kind: 'value', of }

const itemsOf = (of: YamlDocument, list: readonly unknown[]): { readonly of: YamlDocument; readonly at: number }[] =>
  list.map((_, at) => ({ of, at }))

function placeIn(origins: ReadonlyMap<string, Origin>, [name = '', index, ...rest]: readonly string[]): Place | null {
  const origin = origins.get(name)
  if (origin === undefined) return null
  if (origin.kind === 'value') return origin.of.placeOf([name, ...(index === undefined ? [] : [index]), ...rest])
  const item = origin.items[Number.parseInt(index ?? '', 10)] ?? origin.items[0]
  if (item === undefined) return null
  return item.of.placeOf(index === undefined ? [name] : [name, String(item.at), ...rest])
}

const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** One document of a file: what it says, and where it says it. */
interface YamlDocument {
  readonly value: Readonly<Record<string, unknown>>
  /** Where the value of a path stands, or as near to it as the path leads. */
  readonly placeOf: (path: readonly string[]) => Place
}

interface ParsedFile {
  readonly documents: readonly YamlDocument[]
  readonly flaws: readonly FileFlaw[]
}

/** About what a server takes at once: 20,000 fields, with the signs around them. */
const MOST_TOKENS = 150_000

/** Reads the documents of a file. Every flaw has its place; a document with a flaw is left out. */
function parseYaml({ name, text }: NamedText): ParsedFile {
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
