import { firstFlaws } from './bounds.ts'
import { parseYaml, type YamlDocument } from './parse.ts'
import type { FileFlaw, NamedText, Place } from './place.ts'

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
