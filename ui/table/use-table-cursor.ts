import { useState } from 'react'
import { useShortcuts } from '../shell/shortcuts.ts'

/** The row that keys act on. */
export interface TableCursor {
  /** -1: none yet. */
  readonly index: number
  /** Whether keys brought it there: then the table follows it. */
  readonly byKeys: boolean
  readonly point: (index: number) => void
}

/** Lets `j` and `k` walk through rows, and other keys do something with the row they have come to. */
export function useTableCursor<Row>(
  rows: readonly Row[],
  keys: Readonly<Record<string, (row: Row) => void>>,
): TableCursor {
  const [{ index, byKeys }, setCursor] = useState({ index: -1, byKeys: false })
  const walk = (by: number) => (): void =>
    setCursor({ index: Math.max(0, Math.min(rows.length - 1, index + by)), byKeys: true })
  const acting = Object.entries(keys).map(([key, act]) => [
    key,
    () => {
      const row = rows[index]
      if (row !== undefined) act(row)
    },
  ])
  useShortcuts({ j: walk(1), k: walk(-1), ...(Object.fromEntries(acting) as Record<string, () => void>) })
  return {
    ...{ index: Math.min(index, rows.length - 1), byKeys },
    point: (at) => setCursor({ index: at, byKeys: false }),
  }
}
