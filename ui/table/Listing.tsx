import type { ReactNode } from 'react'
import { ErrorState } from '../parts/ErrorState.tsx'
import { Lines } from '../parts/Lines.tsx'
import type { Column } from './column.ts'
import { DataTable } from './DataTable.tsx'
import { useTableCursor } from './use-table-cursor.ts'

interface ListingProps<Row> {
  readonly list: { readonly isPending: boolean; readonly error: unknown; readonly refetch: () => unknown }
  readonly rows: readonly Row[]
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  /** What is shown where there is nothing. */
  readonly empty: ReactNode
  readonly onEnd?: () => void
  /** What keys do with the row they have come to. */
  readonly keys?: Readonly<Record<string, (row: Row) => void>>
}

const NO_KEYS = {}

/** A list in whatever state it is: on its way, not to be had, empty, or a table. */
export function Listing<Row>(props: ListingProps<Row>): ReactNode {
  const { list, rows, label, columns, idOf, empty, onEnd, keys = NO_KEYS } = props
  const cursor = useTableCursor(rows, keys)
  if (list.isPending) return <Lines count={6} height={28} />
  if (list.error !== null && rows.length === 0)
    return <ErrorState error={list.error} retry={() => void list.refetch()} />
  if (rows.length === 0) return empty
  return <DataTable {...{ label, rows, columns, idOf, cursor }} {...(onEnd === undefined ? {} : { onEnd })} />
}
