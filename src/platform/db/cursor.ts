import type { Page } from '../../api/page.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { instant, type Instant } from '../../domain/instant.ts'
import type { ListedRows } from './page.ts'

/** The end of a page: time and key of its last item. Opaque to the client. */
export interface Cursor {
  readonly createdAt: Instant
  readonly key: string
}

/** Encodes a cursor for the client. */
export const writeCursor = (cursor: Cursor): string => writeCursorParts([cursor.createdAt, cursor.key])

/** Encodes the parts of a cursor as one opaque text. */
export const writeCursorParts = (parts: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/** Decodes the parts of a cursor; null: not a cursor. */
export function readCursorParts(value: unknown): readonly unknown[] | null {
  if (typeof value !== 'string') return null
  try {
    const text = Buffer.from(value, 'base64url').toString('utf8')
    const read: unknown = JSON.parse(text)
    // PostgreSQL rejects NUL and lone surrogates in text; our cursors never contain them.
    return Array.isArray(read) && !/\\u(?:0000|d[89a-f])/i.test(text) ? (read as readonly unknown[]) : null
  } catch {
    return null
  }
}

/** Parses a cursor; null: none was given. */
export function parseCursor(field: string, value: unknown): Parsed<Cursor | null> {
  if (value === undefined || value === null || value === '') return parsed(null)
  const invalid = flawed({ field, value, message: 'is not a cursor', allowed: 'next_cursor of an earlier response' })
  const parts = readCursorParts(value)
  if (parts?.length !== 2) return invalid
  const [at, key] = parts
  return isTimeText(at) && typeof key === 'string' ? parsed({ createdAt: instant(at as number), key }) : invalid
}

/** Parses the cursor of a list in order of ids; null: none was given. */
export function parseIdCursor(field: string, value: unknown): Parsed<string | null> {
  if (value === undefined || value === null || value === '') return parsed(null)
  const parts = readCursorParts(value)
  const id: unknown = parts?.length === 1 ? parts[0] : undefined
  return typeof id === 'string'
    ? parsed(id)
    : flawed({ field, value, message: 'is not a cursor', allowed: 'next_cursor of an earlier response' })
}

/** Whether a cursor part is a time from 1970 to 9999. */
export const isTimeText = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 253_402_300_799_999

const DEFAULT_PAGE = 20
const MAX_PAGE_TOTAL_BYTES = 200

/** Parses the page size. */
export function parseLimit(field: string, value: unknown): Parsed<number> {
  if (value === undefined || value === null) return parsed(DEFAULT_PAGE)
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_PAGE_TOTAL_BYTES
    ? parsed(value)
    : flawed({ field, value, message: 'is not a page size', allowed: `1 to ${MAX_PAGE_TOTAL_BYTES}` })
}

/**
 * Creates a page from a query for one row more than its size; the extra row shows that there are more.
 */
export const pageOf = <Item, View>(
  found: readonly Item[],
  limit: number,
  of: { readonly view: (item: Item) => View; readonly cursor: (item: Item) => Cursor },
): Page<View> =>
  pageOfListed({ rows: found.slice(0, limit), more: found.length > limit }, of.view, (last) =>
    writeCursor(of.cursor(last)),
  )

/** Creates a page from rows that the byte limit may have cut. */
export function pageOfListed<Item, View>(
  { rows, more }: ListedRows<Item>,
  view: (item: Item) => View,
  cursor: (last: Item) => string,
): Page<View> {
  const last = rows.at(-1)
  return { items: rows.map(view), next_cursor: more && last !== undefined ? cursor(last) : null }
}
