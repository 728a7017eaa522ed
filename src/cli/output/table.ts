import { largest } from '../../domain/long-lists.ts'
import { cutTo, oneLine, widthOfText } from './text.ts'
import type { Style } from './style.ts'

/** One column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
  /** Is cut when the terminal is too narrow; the others never are. */
  readonly flexible?: true
  readonly right?: true
  /** Sets the cell off; what it takes up stays the same. */
  readonly paint?: (text: string, row: Row) => string
}

export interface TableLook {
  readonly style: Style
  /** Null: as wide as it gets, for who pipes it on. */
  readonly width: number | null
}

const GAP = '  '
const NARROWEST = 8

/** Rows under their titles, as wide as the terminal at most. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], look: TableLook): string {
  const cells = rows.map((row) => columns.map(({ of }) => oneLine(of(row))))
  const widths = columns.map(({ title }, at) =>
    largest([widthOfText(title), ...cells.map((line) => widthOfText(line[at] ?? ''))]),
  )
  if (look.width !== null) shrink(columns, widths, look.width)
  const fit = (text: string, at: number, paint: (text: string) => string): string => {
    const width = widths[at] ?? 0
    const cut = cutTo(text, width)
    const space = ' '.repeat(width - widthOfText(cut))
    return columns[at]?.right === true ? space + paint(cut) : paint(cut) + space
  }
  const head = columns.map(({ title }, at) => fit(title, at, look.style.bold)).join(GAP)
  const body = rows.map((row, index) =>
    columns.map(({ paint }, at) => fit(cells[index]?.[at] ?? '', at, (text) => paint?.(text, row) ?? text)).join(GAP),
  )
  return [head, ...body].map((line) => `${line.trimEnd()}\n`).join('')
}

/** Takes from the widest of the columns that can give, until everything fits or nobody can give any more. */
function shrink(columns: readonly Column<never>[], widths: number[], limit: number): void {
  const total = (): number => widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length)
  while (total() > limit) {
    let widest = -1
    for (const [at, column] of columns.entries())
      if (column.flexible === true && (widths[at] ?? 0) > NARROWEST && (widths[at] ?? 0) > (widths[widest] ?? 0))
        widest = at
    if (widest === -1) return
    widths[widest] = (widths[widest] ?? 0) - 1
  }
}

/** Names with their values below each other; a value of several lines is indented. What is null is left out. */
export function renderFacts(
  facts: readonly (readonly [name: string, value: string | null])[],
  { style }: TableLook,
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
