import type { Page } from '../../api/page.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { instant, type Instant } from '../../domain/instant.ts'
import type { Listed } from './page.ts'

/** Where a page ended: the moment and the key of its last item. Opaque to whoever carries it. */
export interface Cursor {
  readonly createdAt: Instant
  readonly key: string
}

/** The text that a caller brings back to go on. */
export const writeCursor = (cursor: Cursor): string => writeCursorParts([cursor.createdAt, cursor.key])

/** Makes one opaque text of what a cursor has to remember. */
export const writeCursorParts = (parts: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/** What a cursor remembers, or null when the text is none. */
export function readCursorParts(value: unknown): readonly unknown[] | null {
  if (typeof value !== 'string') return null
  try {
    const text = Buffer.from(value, 'base64url').toString('utf8')
    const read: unknown = JSON.parse(text)
    // PostgreSQL takes no NUL in a text, and none that we wrote has one.
    return Array.isArray(read) && !/\\u(?:0000|d[89a-f])/i.test(text) ? (read as readonly unknown[]) : null
  } catch {
    return null
  }
}

/** Reads a cursor; null when none was given. */
export function parseCursor(field: string, value: unknown): Parsed<Cursor | null> {
  if (value === undefined || value === null || value === '') return parsed(null)
  const bad = flawed({ field, value, message: 'is not a cursor', allowed: 'the next_cursor of an earlier answer' })
  const parts = readCursorParts(value)
  if (parts?.length !== 2) return bad
  const [at, key] = parts
  return isMoment(at) && typeof key === 'string' ? parsed({ createdAt: instant(at as number), key }) : bad
}

/** Reads the cursor of a list that is in the order of its ids; null when none was given. */
export function parseIdCursor(field: string, value: unknown): Parsed<string | null> {
  if (value === undefined || value === null || value === '') return parsed(null)
  const parts = readCursorParts(value)
  const id: unknown = parts?.length === 1 ? parts[0] : undefined
  return typeof id === 'string'
    ? parsed(id)
    : flawed({ field, value, message: 'is not a cursor', allowed: 'the next_cursor of an earlier answer' })
}

/** Whether a cursor can have come from a moment of ours: 1970 to 9999. */
export const isMoment = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 253_402_300_799_999

const DEFAULT_PAGE = 20
const LARGEST_PAGE = 200

/** Reads how long a page is to be. */
export function parseLimit(field: string, value: unknown): Parsed<number> {
  if (value === undefined || value === null) return parsed(DEFAULT_PAGE)
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= LARGEST_PAGE
    ? parsed(value)
    : flawed({ field, value, message: 'is not the length of a page', allowed: `1 to ${LARGEST_PAGE}` })
}

/**
 * Makes a page of what was asked for with one more than its length: that one is not shown, and says that there is more.
 */
export const pageOf = <Item, View>(
  found: readonly Item[],
  limit: number,
  of: { readonly view: (item: Item) => View; readonly cursor: (item: Item) => Cursor },
): Page<View> =>
  pageOfListed({ rows: found.slice(0, limit), more: found.length > limit }, of.view, (last) =>
    writeCursor(of.cursor(last)),
  )

/** Makes a page of rows that may be large, and so fewer than were asked for. */
export function pageOfListed<Item, View>(
  { rows, more }: Listed<Item>,
  view: (item: Item) => View,
  cursor: (last: Item) => string,
): Page<View> {
  const last = rows.at(-1)
  return { items: rows.map(view), next_cursor: more && last !== undefined ? cursor(last) : null }
}
