import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Row, SqlValue } from './database.ts'
import { column, columns } from './table.ts'

/** The row after which a page starts. */
export interface PagePosition {
  readonly createdAt: Instant
  readonly id: string
}

/** A page of objects of an org; `after` null: the first page. */
export interface OrgPage {
  readonly orgId: OrgId
  readonly after: PagePosition | null
  readonly limit: number
}

/** Maximum total size of the rows of a page, which has at least one row. */
const MAX_PAGE_BYTES = 4 << 20

/** Lists leave out larger payloads, which are returned with the single object. */
const MAX_LISTED_PAYLOAD_BYTES = 16 << 10

/** The rows of a page, and whether more follow. */
export interface ListedRows<Item> {
  readonly rows: readonly Item[]
  readonly more: boolean
}

/** A query for the rows of a page in order, plus one row that shows whether more follow. */
export interface PageQuery {
  readonly text: string
  readonly values: readonly SqlValue[]
  /** Properties that may be large; the others are limited in size. */
  readonly large: readonly string[]
  /** An expression on `page` for the size of other data that is read per row. */
  readonly extraBytes?: string
  readonly limit: number
}

const sized = columns({ page_rows: column.bigint() })

/**
 * Reads a page limited by rows and bytes. The database sums up the sizes, so that rows beyond the limit are not
 * transferred.
 */
export async function readPage<Item>(
  connection: Connection,
  { text, values, large, extraBytes, limit }: PageQuery,
  { read }: { readonly read: (rows: readonly Row[]) => readonly Item[] },
): Promise<ListedRows<Item>> {
  const sizes = large.map((column) => `coalesce(octet_length(page."${column}"::text), 0)`)
  const bytes = [...sizes, ...(extraBytes === undefined ? [] : [extraBytes])].join(' + ')
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

/** An expression for the size of a payload without a size column. */
export const bytesOf = (column: string): string => `octet_length(${column}::text)`

/** A condition: whether lists leave out a payload of this size. */
export const isLargePayload = (bytes: string): string => `coalesce(${bytes}, 0) > ${MAX_LISTED_PAYLOAD_BYTES}`

/** The columns of a payload in a list: the payload, or its size if it is left out. */
export const listedPayload = (payload: string, { bytes, isLeftOut }: Readonly<Record<'bytes' | 'isLeftOut', string>>) =>
  ({
    payload: column.json(`case when ${isLeftOut} then null else ${payload} end`),
    payloadBytes: column.int<number | null>(`case when ${isLeftOut} then ${bytes} end`),
  }) as const
