import { useState, type ReactNode } from 'react'
import { AXIS_HEIGHT, ROW_HEIGHT } from './layout.ts'
import { RibbonCanvas, type RibbonCanvasProps } from './RibbonCanvas.tsx'
import { RowNames } from './RowNames.tsx'

interface RibbonSheetProps extends RibbonCanvasProps {
  /** Called when the last rows are near. */
  readonly more?: (() => void) | undefined
}

/** So many rows are seen at once; the others are reached by scrolling. */
const MOST_SEEN = 12
/** Rows left below when more are read. */
const NEAR_END = 12

/** The picture with the names of its rows. Only the rows that are seen are drawn, so there may be thousands. */
export function RibbonSheet({ more, ...props }: RibbonSheetProps): ReactNode {
  const { rows, items } = props
  const [first, setFirst] = useState(0)
  const start = Math.min(first, Math.max(0, rows.length - MOST_SEEN))
  const seen = rows.slice(start, start + MOST_SEEN)
  const scroll = (element: HTMLElement): void => {
    setFirst(Math.round(element.scrollTop / ROW_HEIGHT))
    const below = element.scrollHeight - element.scrollTop - element.clientHeight
    if (below < NEAR_END * ROW_HEIGHT) more?.()
  }
  return (
    <div
      className="ribbon-scroll"
      style={{ maxHeight: AXIS_HEIGHT + MOST_SEEN * ROW_HEIGHT }}
      onScroll={(event) => scroll(event.currentTarget)}
    >
      <div style={{ height: AXIS_HEIGHT + Math.max(1, rows.length) * ROW_HEIGHT }}>
        <div className="ribbon-sheet ribbon-seen">
          <RowNames rows={seen} />
          <RibbonCanvas {...props} rows={seen} items={items} />
        </div>
      </div>
    </div>
  )
}
