import { useRef, type ReactNode } from 'react'
import { placeOf } from './layout.ts'
import { useWidth } from './use-width.ts'
import type { RibbonView } from './view.ts'
import '../simulation/track.css'

const HEIGHT = 44
const ROOM = 4

/** A value that holds from one time to the next. */
export interface Point {
  readonly at: number
  readonly value: number
}

interface TrackProps {
  readonly name: string
  /** What the picture says, for those who do not see it. */
  readonly label: string
  readonly points: readonly Point[]
  readonly until: number
  readonly view: RibbonView
  readonly tone: 'accent' | 'quiet'
  /** How the most is written. */
  readonly write: (value: number) => string
}

/** A small course under the ribbon, on the same time: how much of something there was. */
export function Track({ name, label, points, until, view, tone, write }: TrackProps): ReactNode {
  const ref = useRef<HTMLDivElement>(null)
  const width = useWidth(ref)
  const most = points.reduce((top, { value }) => Math.max(top, value), 0)
  return (
    <div className="track">
      <div className="track-name">
        <span>{name}</span>
        <span className="quiet">{write(most)}</span>
      </div>
      <div ref={ref} className="track-sheet">
        <svg width={width} height={HEIGHT} role="img" aria-label={label} data-tone={tone}>
          <path d={stepsOf(points, { until, view, width, most })} />
        </svg>
      </div>
    </div>
  )
}

interface Sheet {
  readonly until: number
  readonly view: RibbonView
  readonly width: number
  readonly most: number
}

/** The outline of the values: flat from each time to the next. */
function stepsOf(points: readonly Point[], { until, view, width, most }: Sheet): string {
  if (most === 0 || width === 0) return ''
  const height = (value: number): number => HEIGHT - (value / most) * (HEIGHT - ROOM)
  const parts: string[] = []
  points.forEach(({ at, value }, index) => {
    const [from, to] = [at, points[index + 1]?.at ?? until].map((moment) => placeOf(moment, { view, width }))
    if (from === undefined || to === undefined || to < 0 || from > width || value === 0) return
    const [left, right] = [Math.max(0, from), Math.min(width, Math.max(to, from + 1))]
    parts.push(`M${left.toFixed(1)} ${HEIGHT}V${height(value).toFixed(1)}H${right.toFixed(1)}V${HEIGHT}Z`)
  })
  return parts.join('')
}
