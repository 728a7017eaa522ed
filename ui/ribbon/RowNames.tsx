import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RibbonRow } from './items.ts'
import { AXIS_HEIGHT, ROW_HEIGHT } from './layout.ts'

/** What the rows of a ribbon are about, beside them. */
export function RowNames({ rows }: { readonly rows: readonly RibbonRow[] }): ReactNode {
  return (
    <ul className="ribbon-rows" style={{ paddingTop: AXIS_HEIGHT }}>
      {rows.map(({ id, label, href }) => (
        <li key={id} style={{ height: ROW_HEIGHT }} title={label}>
          {href === undefined ? label : <Link to={href}>{label}</Link>}
        </li>
      ))}
    </ul>
  )
}
