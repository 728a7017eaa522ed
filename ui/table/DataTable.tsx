import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, type ReactNode } from 'react'
import type { Column } from './column.ts'
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

/**
 * A table of any length: only what is on screen is drawn, and in small windows each row is a card. Order, filters and
 * pages are the server's.
 */
export function DataTable<Row>(props: DataTableProps<Row>): ReactNode {
  const { label, rows, idOf, columns, cursor, isSelected, onEnd } = props
  const list = useRef<HTMLDivElement>(null)
  const virtualizer = useWindowVirtualizer({
    ...{ count: rows.length, estimateSize: () => USUAL_HEIGHT, overscan: 8 },
    scrollMargin: list.current?.offsetTop ?? 0,
    getItemKey: (index) => {
      const row = rows[index]
      return row === undefined ? index : idOf(row)
    },
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
      <div className="table-head" role="row" aria-rowindex={1} style={tracks}>
        {columns.map(({ id, header }) => (
          <div key={id} role="columnheader" className="table-cell" data-column={id}>
            {header}
          </div>
        ))}
      </div>
      <div ref={list} role="rowgroup" className="table-body" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ key, index, start }) => {
          const row = rows[index]
          return row === undefined ? null : (
            <DataRow
              key={key}
              {...{ row, columns, tracks, cursor, index, measure: virtualizer.measureElement }}
              top={start - virtualizer.options.scrollMargin}
              isSelected={isSelected?.(row) === true}
            />
          )
        })}
      </div>
    </div>
  )
}
