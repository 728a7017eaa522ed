import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'
import { Time } from '../time/Time.tsx'
import { describeItem } from './describe.ts'
import type { RibbonItem, RibbonRow } from './items.ts'

const MOST_LINES = 200

interface RibbonTableProps {
  readonly rows: readonly RibbonRow[]
  /** Those in the stretch of time that is shown. */
  readonly items: readonly RibbonItem[]
  readonly now: number
  readonly open: (item: RibbonItem) => void
}

/** What the ribbon shows, as a table: newest first. */
export function RibbonTable({ rows, items, now, open }: RibbonTableProps): ReactNode {
  const say = useSay()
  const labels = new Map(rows.map(({ id, label }) => [id, label]))
  const shown = [...items].sort((a, b) => b.start - a.start).slice(0, MOST_LINES)
  if (shown.length === 0) return <p className="ribbon-none">{say('ribbon.empty')}</p>
  return (
    <div className="ribbon-table" tabIndex={0} role="region" aria-label={say('ribbon.asTable')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say('ribbon.when')}</th>
            <th scope="col">{say('ribbon.row')}</th>
            <th scope="col">{say('ribbon.what')}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((item) => (
            <tr key={item.id}>
              <td>
                <Time at={item.start} />
              </td>
              <td>{labels.get(item.row)}</td>
              <td>
                {item.href === undefined ? (
                  describeItem(item, now, say)
                ) : (
                  <button type="button" className="plain-link" onClick={() => open(item)}>
                    {describeItem(item, now, say)}
                  </button>
                )}
                {'note' in item && item.note !== undefined && <span className="quiet"> {item.note}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
