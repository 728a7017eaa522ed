import type { ReactNode } from 'react'
import { useTexts } from '../texts/TextProvider.tsx'
import { clockTime, fullTime } from '../time/zone.ts'
import { describeItem } from './describe.ts'
import type { RibbonRow } from './items.ts'
import { ROW_HEIGHT, type Box } from './layout.ts'

interface RibbonTipProps {
  readonly box: Box
  readonly rows: readonly RibbonRow[]
  readonly now: number
  readonly width: number
}

const TIP_WIDTH = 280

/** What is under the pointer, in words. */
export function RibbonTip({ box: { item, x, y, width: length }, rows, now, width }: RibbonTipProps): ReactNode {
  const { say, locale } = useTexts()
  const middle = Math.min(width, Math.max(0, x + length / 2))
  const left = Math.max(0, Math.min(width - TIP_WIDTH, middle - TIP_WIDTH / 2))
  return (
    <div className="ribbon-tip" style={{ left, top: y + ROW_HEIGHT, width: TIP_WIDTH }} aria-hidden>
      <strong>{rows.find(({ id }) => id === item.row)?.label}</strong>
      <span>{describeItem(item, now, say)}</span>
      {'note' in item && item.note !== undefined && item.note !== '' && (
        <span className="ribbon-tip-note">{item.note}</span>
      )}
      <span className="quiet">
        {fullTime(item.start, { locale })}
        {(item.kind === 'bucket' || item.kind === 'hold') && ` – ${clockTime(item.end, { locale })}`}
      </span>
      {item.kind === 'bucket' && (
        <span className="quiet">{say(item.href === undefined ? 'ribbon.why' : 'ribbon.open')}</span>
      )}
    </div>
  )
}
