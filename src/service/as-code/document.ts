import type { AsCodeDocument, UnreadDocument } from '../../features/as-code/schema.ts'
import { invalid } from '../../api/refusals.ts'
import { AS_CODE_KINDS, type AsCodeKind } from '../../core/as-code/kinds.ts'
import type { Fields } from '../../core/as-code/same.ts'
import { parseJson } from '../../domain/input-fields.ts'
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

type Place = Pick<Item, 'kind' | 'index'>

/** Where an item stands, as flaws say it. */
export const placeOf = ({ kind, index }: Place): string => `${kind}.${index}`

/** The same as JSON pointer. */
export const pointerOf = ({ kind, index }: Place): string => `/${kind}/${index}`

/** The items of a document; what they say is read later. */
export function itemsOf(document: AsCodeDocument): Items {
  // A program may hand in what no JSON can hold.
  const plain = parseJson('document', document)
  if (!plain.ok) throw invalid(plain.flaws)
  const lists = plain.value as UnreadDocument
  return Object.fromEntries(
    AS_CODE_KINDS.flatMap((kind) => {
      const list = lists[kind]
      return list === undefined ? [] : [[kind, (list ?? []).map((one, index) => itemOf(one, { kind, index }))]]
    }),
  )
}

function itemOf({ id, ...fields }: Fields & { readonly id?: string | null | undefined }, at: Place): Item {
  return { ...at, id: id ?? null, fields: withDurations(fields) }
}
