import { invalid } from '../../contract/refusals.ts'
import { addAll } from '../../core/long-lists.ts'
import { AS_CODE_KINDS, type AsCodeKind } from '../../core/as-code/kinds.ts'
import { isFields, type Fields } from '../../core/as-code/same.ts'
import type { Flaw } from '../../core/input.ts'
import { collectFlaws, parseJson, parseObject, textField, unknownFields } from '../../core/input-fields.ts'
import { withDurations } from './durations.ts'

/** One item of a document: what it is made from, which one it says it is, and where it stands. */
export interface Item {
  readonly kind: AsCodeKind
  readonly index: number
  /** Null: it is known by its name. */
  readonly id: string | null
  /** Everything but the id. Durations are numbers. */
  readonly fields: Fields
}

/** The items of a document by kind; a kind that it does not name is not there. */
export type Items = { readonly [Kind in AsCodeKind]?: readonly Item[] }

/** Where an item stands, as flaws say it. */
export const placeOf = ({ kind, index }: Pick<Item, 'kind' | 'index'>): string => `${kind}.${index}`

/** The same as JSON pointer. */
export const pointerOf = ({ kind, index }: Pick<Item, 'kind' | 'index'>): string => `/${kind}/${index}`

/** More than anybody keeps in a file, and as much as one transaction should do. */
const MOST_ITEMS = 2_000

/** Reads a document as a document; what its items say is read later. Refused with every flaw. */
export function readDocument(value: unknown): Items {
  const { flaws, keep } = collectFlaws()
  // A program may hand in what no JSON can hold.
  const plain = keep(parseJson('document', value))
  const object = plain === null ? null : keep(parseObject('document', plain))
  if (object === null) throw invalid(flaws)
  addAll(flaws, [...unknownFields('', object, ['version', ...AS_CODE_KINDS]), ...versionFlaws(object)])
  const items = Object.fromEntries(
    AS_CODE_KINDS.flatMap((kind) => (object[kind] === undefined ? [] : [[kind, readList(kind, object[kind], flaws)]])),
  ) as Items
  const count = Object.values(items).flat().length
  if (count > MOST_ITEMS)
    flaws.push({ field: '', value: count, message: 'the document has too many items', allowed: `up to ${MOST_ITEMS}` })
  if (flaws.length > 0) throw invalid(flaws)
  return items
}

function versionFlaws({ version }: Fields): readonly Flaw[] {
  if (version === 1) return []
  const message = version === undefined ? 'is missing' : 'is not a version of documents that is known here'
  return [{ field: 'version', value: version, message, allowed: '1' }]
}

function readList(kind: AsCodeKind, value: unknown, flaws: Flaw[]): readonly Item[] {
  // An empty list in YAML is often nothing at all.
  if (value === null) return []
  if (!Array.isArray(value)) {
    flaws.push({ field: kind, value: undefined, message: `must be a list of ${kind}` })
    return []
  }
  return value.flatMap((one: unknown, index): readonly Item[] => {
    const field = placeOf({ kind, index })
    if (!isFields(one)) {
      flaws.push({ field, value: one, message: 'must be an object' })
      return []
    }
    const { id: given, ...fields } = one
    const id = given === undefined || given === null ? null : textField({ min: 1, max: 200 })(`${field}.id`, given)
    if (id?.ok === false) addAll(flaws, id.flaws)
    return [{ kind, index, id: id?.ok === true ? id.value : null, fields: withDurations(fields) }]
  })
}
