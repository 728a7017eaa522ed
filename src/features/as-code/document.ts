import { parseDuration } from '../../domain/duration.ts'
import { setImmediate } from 'node:timers/promises'
import { invalid } from '../../api/refusals.ts'
import { AS_CODE_KINDS, type AsCodeKind } from '../../domain/as-code/compare.ts'
import { parseJson } from '../../domain/input-fields.ts'
import { type JsonFields, isJsonFields } from '../../domain/json.ts'
import type { AsCodeDocument, UnreadDocument } from './schema.ts'

/** The number of items processed before yielding to the event loop. */
const BATCH_SIZE = 20

/** Yields to the event loop, so that other requests are served during long work. */
export const yieldToEventLoop = (): Promise<void> => setImmediate(undefined)

/** Processes items one after the other, yielding to the event loop in between. */
export async function mapInBatches<Item, Found>(
  items: readonly Item[],
  visit: (item: Item, index: number) => Found | Promise<Found>,
): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const [index, item] of items.entries()) {
    if (index % BATCH_SIZE === BATCH_SIZE - 1) await yieldToEventLoop()
    found.push(await visit(item, index))
  }
  return found
}

/** The content of these fields is free: a duration there stays text. */
const FREE_FORM_FIELDS = ['payload', 'executor', 'settings', 'headers', 'body', 'env', 'when']

/**
 * Turns duration texts into numbers: `timeout_seconds: 5m` becomes 300. Other texts stay and are reported when the
 * field is validated.
 */
function withDurations(fields: JsonFields): JsonFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withPlainDuration(name, value)]))
}

function withPlainDuration(name: string, value: unknown): unknown {
  if (FREE_FORM_FIELDS.includes(name)) return value
  if (isJsonFields(value)) return withDurations(value)
  const unit = name.endsWith('_seconds') ? 'seconds' : /(?:_ms|[a-z]Ms)$/.test(name) ? 'ms' : null
  if (unit === null) return value
  const read = (one: unknown): unknown => (typeof one === 'string' ? (parseDuration(one, unit) ?? one) : one)
  return Array.isArray(value) ? value.map(read) : read(value)
}

/** One item of a document, with its position. */
export interface Item {
  readonly kind: AsCodeKind
  readonly index: number
  /** Null: the item is identified by its name. */
  readonly id: string | null
  /** All fields but the id, with durations as numbers. */
  readonly fields: JsonFields
}

/** The items of a document by kind; absent kinds are not changed. */
export type Items = { readonly [Kind in AsCodeKind]?: readonly Item[] }

type ItemPosition = Pick<Item, 'kind' | 'index'>

/** The position of an item, as used in flaws. */
export const fieldPathOf = ({ kind, index }: ItemPosition): string => `${kind}.${index}`

/** The position of an item as a JSON pointer. */
export const pointerOf = ({ kind, index }: ItemPosition): string => `/${kind}/${index}`

/** The items of a document. Their fields are validated later. */
export function itemsOf(document: AsCodeDocument): Items {
  // A program can pass values that JSON cannot represent.
  const json = parseJson('document', document)
  if (!json.ok) throw invalid(json.flaws)
  const lists = json.value as UnreadDocument
  return Object.fromEntries(
    AS_CODE_KINDS.flatMap((kind) => {
      const list = lists[kind]
      return list === undefined ? [] : [[kind, (list ?? []).map((one, index) => itemOf(one, { kind, index }))]]
    }),
  )
}

function itemOf({ id, ...fields }: JsonFields & { readonly id?: string | null | undefined }, at: ItemPosition): Item {
  return { ...at, id: id ?? null, fields: withDurations(fields) }
}
