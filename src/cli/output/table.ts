import { largest } from '../../domain/long-lists.ts'
import { truncateText, oneLine, widthOfText } from './text.ts'
import type { Style } from './style.ts'

/** One column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string
  /** May be cut when the terminal is too narrow; other columns never are. */
  readonly flexible?: true
  readonly right?: true
  /** Colors the cell without changing its width. */
  readonly paint?: (text: string, row: Row) => string
}

export interface TableColumns {
  readonly style: Style
  /** Null: no limit, for output that is not a terminal. */
  readonly width: number | null
}

const GAP = '  '
const MIN_COLUMN_WIDTH = 8

/** Renders rows under column titles, at most as wide as the terminal. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], look: TableColumns): string {
  const cells = rows.map((row) => columns.map(({ value: of }) => oneLine(of(row))))
  const widths = columns.map(({ title }, at) =>
    largest([widthOfText(title), ...cells.map((line) => widthOfText(line[at] ?? ''))]),
  )
  if (look.width !== null) shrink(columns, widths, look.width)
  const fit = (text: string, at: number, paint: (text: string) => string): string => {
    const width = widths[at] ?? 0
    const cut = truncateText(text, width)
    const space = ' '.repeat(width - widthOfText(cut))
    return columns[at]?.right === true ? space + paint(cut) : paint(cut) + space
  }
  const head = columns.map(({ title }, at) => fit(title, at, look.style.bold)).join(GAP)
  const body = rows.map((row, index) =>
    columns.map(({ paint }, at) => fit(cells[index]?.[at] ?? '', at, (text) => paint?.(text, row) ?? text)).join(GAP),
  )
  return [head, ...body].map((line) => `${line.trimEnd()}\n`).join('')
}

/** Shrinks the widest flexible column until the table fits or no column can shrink further. */
function shrink(columns: readonly Column<never>[], widths: number[], limit: number): void {
  const total = (): number => widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length)
  while (total() > limit) {
    let widest = -1
    for (const [at, column] of columns.entries())
      if (column.flexible === true && (widths[at] ?? 0) > MIN_COLUMN_WIDTH && (widths[at] ?? 0) > (widths[widest] ?? 0))
        widest = at
    if (widest === -1) return
    widths[widest] = (widths[widest] ?? 0) - 1
  }
}

/** Renders one `name  value` per line; indents multi-line values and leaves out null values. */
export function renderFacts(
  facts: readonly (readonly [name: string, value: string | null])[],
  { style }: TableColumns,
): string {
  const shown = facts.filter((fact): fact is readonly [string, string] => fact[1] !== null)
  const width = largest([0, ...shown.map(([name]) => widthOfText(name))])
  return shown
    .map(([name, value]) => {
      const indented = value.split('\n').join(`\n${' '.repeat(width + GAP.length)}`)
      return `${style.dim(name.padEnd(width))}${GAP}${indented}\n`
    })
    .join('')
}
