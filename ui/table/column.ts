import type { ReactNode } from 'react'

/** A column: what stands above it, what stands in it, and how wide it is (a track of a CSS grid). */
export interface Column<Row> {
  readonly id: string
  readonly header: ReactNode
  readonly cell: (row: Row) => ReactNode
  readonly width: string
  /** What stands before the value where rows are cards; left out where the value speaks for itself. */
  readonly cardLabel?: string
}
