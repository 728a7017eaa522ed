import { flawed, parsed, type Parsed } from '../core/input.ts'
import { instant, type Instant } from '../core/instant.ts'

/** Where a page ended: the moment and the key of its last item. Opaque to whoever carries it. */
export interface Cursor {
  readonly createdAt: Instant
  readonly key: string
}

/** The text that a caller brings back to go on. */
export const writeCursor = (cursor: Cursor): string =>
  Buffer.from(JSON.stringify([cursor.createdAt, cursor.key])).toString('base64url')

/** Reads a cursor; null when none was given. */
export function parseCursor(field: string, value: unknown): Parsed<Cursor | null> {
  if (value === undefined || value === null || value === '') return parsed(null)
  const bad = flawed({ field, value, message: 'is not a cursor', allowed: 'the next_cursor of an earlier answer' })
  if (typeof value !== 'string') return bad
  try {
    const read: unknown = JSON.parse(Buffer.from(value, 'base64url').toString('utf8'))
    if (!Array.isArray(read) || read.length !== 2) return bad
    const [at, key] = read as readonly unknown[]
    return Number.isSafeInteger(at) && typeof key === 'string' && !key.includes('\u0000')
      ? parsed({ createdAt: instant(at as number), key })
      : bad
  } catch {
    return bad
  }
}

export const DEFAULT_PAGE = 20
export const LARGEST_PAGE = 200

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
export function pageOf<Item, View>(
  found: readonly Item[],
  limit: number,
  of: { readonly view: (item: Item) => View; readonly cursor: (item: Item) => Cursor },
): { readonly items: readonly View[]; readonly next_cursor: string | null } {
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const next = found.length > limit && last !== undefined ? writeCursor(of.cursor(last)) : null
  return { items: shown.map(of.view), next_cursor: next }
}
