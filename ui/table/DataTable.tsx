import { useTable, type DisplayColumnDef } from '@tanstack/react-table'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, type ReactNode } from 'react'
import { FEATURES, type Column } from './column.ts'
import { DataRow } from './DataRow.tsx'
import type { TableCursor } from './use-table-cursor.ts'
import './table.css'

interface DataTableProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly cursor: TableCursor
  readonly isSelected?: (row: Row) => boolean
  /** Called when the end comes near: there may be more to read. */
  readonly onEnd?: () => void
}

const USUAL_HEIGHT = 53
const AHEAD = 12

/** A table of any length: only what is on screen is drawn, and in small windows each row is a card. */
export function DataTable<Row extends object>(props: DataTableProps<Row>): ReactNode {
  const { label, rows, idOf, columns, cursor, isSelected, onEnd } = props
  const list = useRef<HTMLDivElement>(null)
  const table = useTable({
    features: FEATURES,
    data: rows,
    columns: columns.map((column): DisplayColumnDef<typeof FEATURES, Row> => ({
      ...{ id: column.id, header: () => column.header, cell: ({ row }) => column.cell(row.original) },
    })),
    getRowId: idOf,
  })
  const virtualizer = useWindowVirtualizer({
    ...{ count: rows.length, estimateSize: () => USUAL_HEIGHT, overscan: 8 },
    scrollMargin: list.current?.offsetTop ?? 0,
    getItemKey: (index) => table.getRowModel().rows[index]?.id ?? index,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - AHEAD) onEnd?.()
  }, [last, rows.length, onEnd])
  useEffect(() => {
    if (cursor.byKeys && cursor.index >= 0) virtualizer.scrollToIndex(cursor.index, { align: 'auto' })
  }, [cursor.byKeys, cursor.index, virtualizer])
  const tracks = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') }
  return (
    <div className="table" role="table" aria-label={label} aria-rowcount={rows.length + 1}>
      {table.getHeaderGroups().map((group) => (
        <div key={group.id} className="table-head" role="row" aria-rowindex={1} style={tracks}>
          {group.headers.map((header) => (
            <div key={header.id} role="columnheader" className="table-cell" data-column={header.id}>
              <table.FlexRender header={header} />
            </div>
          ))}
        </div>
      ))}
      <div ref={list} role="rowgroup" className="table-body" style={{ height: virtualizer.getTotalSize() }}>
        {items.map((item) => {
          const row = table.getRowModel().rows[item.index]
          return row === undefined ? null : (
            <DataRow
              key={item.key}
              {...{ table, row, columns, tracks, cursor, index: item.index, measure: virtualizer.measureElement }}
              top={item.start - virtualizer.options.scrollMargin}
              isSelected={isSelected?.(row.original) === true}
            />
          )
        })}
      </div>
    </div>
  )
}
