import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Row, SqlValue } from '../../store/database.ts'
import { column, columns } from './table.ts'

/** The row that a page of a list begins behind. */
export interface PagePlace {
  readonly createdAt: Instant
  readonly id: string
}

/** A page of what an org has; `after` null: the first one. */
export interface OrgPage {
  readonly orgId: OrgId
  readonly after: PagePlace | null
  readonly limit: number
}

/** A page ends before its rows are larger than this together, though it has at least one. */
const MAX_PAGE_BYTES = 4 << 20

/** In lists, a payload that is larger is left out: it is read with the one thing it belongs to. */
const MAX_LISTED_PAYLOAD_BYTES = 16 << 10

/** Rows of a page, and whether there are more behind the last of them. */
export interface Listed<Item> {
  readonly rows: readonly Item[]
  readonly more: boolean
}

/** A statement for the rows of a page in order, and one more than the page has: that one says that there is more. */
export interface PageQuery {
  readonly text: string
  readonly values: readonly SqlValue[]
  /** The properties of a row that may be large; the others have limits of their own. */
  readonly large: readonly string[]
  /** What else is read for a row, as an expression about `page`: its bytes. */
  readonly besides?: string
  readonly limit: number
}

const sized = columns({ page_rows: column.bigint() })

/**
 * Reads a page that ends by its length or by its bytes, whichever comes first. How large rows are is added up in the
 * database, so that those that have no room in the page are not read.
 */
export async function readPage<Item>(
  connection: Connection,
  { text, values, large, besides, limit }: PageQuery,
  { read }: { readonly read: (rows: readonly Row[]) => readonly Item[] },
): Promise<Listed<Item>> {
  const sizes = large.map((column) => `coalesce(octet_length(page."${column}"::text), 0)`)
  const bytes = [...sizes, ...(besides === undefined ? [] : [besides])].join(' + ')
  const rows = await connection.query(
    `select * from (
       select page.*, count(*) over () as page_rows, row_number() over () as page_row,
              sum(${bytes}) over (rows unbounded preceding) as page_bytes
         from (${text}) page) sized
      where page_row = 1 or page_bytes <= ${MAX_PAGE_BYTES}
      order by page_row`,
    values,
  )
  const found = sized.first(rows)?.page_rows ?? 0
  const shown = rows.slice(0, limit).map(({ page_rows: _rows, page_row: _row, page_bytes: _bytes, ...row }) => row)
  return { rows: read(shown), more: found > shown.length }
}

/** The bytes of a payload of which no column says it. */
export const bytesOf = (column: string): string => `octet_length(${column}::text)`

/** Whether a payload of so many bytes is left out of lists, as a condition. */
export const isLargePayload = (bytes: string): string => `coalesce(${bytes}, 0) > ${MAX_LISTED_PAYLOAD_BYTES}`

/** The columns that stand for a payload in a list: itself, or where it is left out, how large it is. */
export const listedPayload = (payload: string, { bytes, isLeftOut }: Readonly<Record<'bytes' | 'isLeftOut', string>>) =>
  ({
    payload: column.json(`case when ${isLeftOut} then null else ${payload} end`),
    payloadBytes: column.int<number | null>(`case when ${isLeftOut} then ${bytes} end`),
  }) as const
