import type { ReactTable, Row as TableRow } from '@tanstack/react-table'
import type { CSSProperties, ReactNode } from 'react'
import type { Column, FEATURES } from './column.ts'
import type { TableCursor } from './use-table-cursor.ts'

interface DataRowProps<Row extends object> {
  readonly table: Pick<ReactTable<typeof FEATURES, Row>, 'FlexRender'>
  readonly row: TableRow<typeof FEATURES, Row>
  readonly columns: readonly Column<Row>[]
  readonly tracks: CSSProperties
  readonly index: number
  readonly top: number
  readonly cursor: TableCursor
  readonly isSelected: boolean
  readonly measure: (element: Element | null) => void
}

/** One row of a table, at its place. */
export function DataRow<Row extends object>(props: DataRowProps<Row>): ReactNode {
  const { table, row, columns, tracks, index, top, cursor, isSelected, measure } = props
  return (
    <div
      {...{ ref: measure, role: 'row', className: 'table-row', 'data-index': index, 'aria-rowindex': index + 2 }}
      data-current={cursor.index === index}
      data-selected={isSelected}
      aria-selected={isSelected}
      style={{ ...tracks, transform: `translateY(${top}px)` }}
      onPointerDown={() => cursor.point(index)}
    >
      {row.getAllCells().map((cell, at) => (
        <div
          key={cell.id}
          role="cell"
          className="table-cell"
          data-column={cell.column.id}
          data-label={columns[at]?.cardLabel}
        >
          <table.FlexRender cell={cell} />
        </div>
      ))}
    </div>
  )
}
