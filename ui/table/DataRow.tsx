import { memo, type CSSProperties, type ReactNode } from 'react'
import type { Column } from './column.ts'
import type { TableCursor } from './use-table-cursor.ts'

interface DataRowProps<Row> {
  readonly row: Row
  readonly columns: readonly Column<Row>[]
  readonly tracks: CSSProperties
  readonly index: number
  readonly top: number
  readonly cursor: TableCursor
  readonly isSelected: boolean
  readonly measure: (element: Element | null) => void
}

/** One row of a table, at its place. */
export function DataRow<Row>(props: DataRowProps<Row>): ReactNode {
  const { row, columns, tracks, index, top, cursor, isSelected, measure } = props
  return (
    <div
      {...{ ref: measure, role: 'row', className: 'table-row', 'data-index': index, 'aria-rowindex': index + 2 }}
      data-current={cursor.index === index}
      data-selected={isSelected}
      style={{ ...tracks, transform: `translateY(${top}px)` }}
      onPointerDown={() => cursor.point(index)}
    >
      <Cells {...{ row, columns }} />
    </div>
  )
}

interface CellsProps<Row> {
  readonly row: Row
  readonly columns: readonly Column<Row>[]
}

/** What a row shows. Scrolling moves rows and changes nothing in them, so only those that come into sight are worked out. */
const Cells = memo(function Cells<Row>({ row, columns }: CellsProps<Row>): ReactNode {
  return columns.map(({ id, cell, cardLabel }) => (
    <div key={id} role="cell" className="table-cell" data-column={id} data-label={cardLabel}>
      {cell(row)}
    </div>
  ))
}) as <Row>(props: CellsProps<Row>) => ReactNode
