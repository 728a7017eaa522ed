import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, visit, type Document, type Node } from 'yaml'
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

/** Aliases may not blow up a small file. */
const MOST_ALIASES = 1_000

/** Reads the documents of a file. Every flaw has its place; a document with a flaw is left out. */
export function parseYaml({ name, text }: NamedText): ParsedFile {
  const lines = new LineCounter()
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file: name, line: Math.max(1, line), column: Math.max(1, col) }
  }
  const parsed = documentsIn(text, lines)
  if (parsed === null) return { documents: [], flaws: [{ ...placeAt(0), message: 'is nested too deeply to be read' }] }
  const flaws: FileFlaw[] = []
  const documents: YamlDocument[] = []
  for (const document of parsed) {
    const read = readOne(document, placeAt)
    // One by one: as arguments of a call, a hundred thousand would overflow the stack.
    if ('flaws' in read) for (const flaw of read.flaws) flaws.push(flaw)
    else if (read.document !== null) documents.push(read.document)
  }
  return { documents, flaws }
}

/** Null when it is nested so deeply that whoever reads it runs out of stack. */
function documentsIn(text: string, lineCounter: LineCounter): readonly Document.Parsed[] | null {
  try {
    // Names that are said twice are found below: the library compares each with each, which takes long in a long map.
    const how = { prettyErrors: false, logLevel: 'error', merge: true, uniqueKeys: false } as const
    const parsed = parseAllDocuments(text, { lineCounter, ...how })
    return Array.isArray(parsed) ? parsed : []
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
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

/** What brings in the fields of another map; a map may do that more than once. */
const MERGED = '<<'

const SHAPE = 'must hold lists such as "schedules:" with items below it'

const isNothing = (contents: Node): boolean => isScalar(contents) && (contents.value === null || contents.value === '')

/** What YAML can say and JSON cannot, and names that are said twice. */
function strangeIn(document: Document.Parsed): readonly { readonly at: number; readonly message: string }[] {
  const found: { at: number; message: string }[] = []
  visit(document, {
    Scalar: (_, { value, range }) => {
      if (typeof value === 'number' && !Number.isFinite(value))
        found.push({ at: range?.[0] ?? 0, message: 'must be a number that can be written with digits' })
    },
    Alias: (_, alias, path) => {
      const meant = alias.resolve(document)
      if (meant !== undefined && path.includes(meant))
        found.push({ at: alias.range?.[0] ?? 0, message: `"*${alias.source}" is inside of what it stands for` })
    },
    Map: (_, { items }) => {
      const names = new Set<string>()
      for (const { key } of items) {
        if (isMap(key) || isSeq(key)) found.push({ at: key.range?.[0] ?? 0, message: 'a name must be a text' })
        if (!isScalar(key)) continue
        const name = String(key.value)
        if (names.has(name) && name !== MERGED)
          found.push({ at: key.range?.[0] ?? 0, message: `"${name}" is said twice` })
        names.add(name)
      }
    },
  })
  return found
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
