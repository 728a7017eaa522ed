import type { ReactNode } from 'react'

const STEP = 10
const WIDTH = 7
const HEIGHT = 40
/** What is there at all is seen. */
const LEAST = 1.5

/** One bar: what it says, and what it is made of from the ground up. */
export interface Bar {
  readonly id: string
  readonly title: string
  readonly parts: readonly { readonly value: number; readonly color: string }[]
}

interface BarsProps {
  readonly bars: readonly Bar[]
  /** What the picture says, for those who do not see it. */
  readonly label: string
}

/** A small picture of a course: a bar for each step of time, oldest on the left. */
export function Bars({ bars, label }: BarsProps): ReactNode {
  const sumOf = ({ parts }: Bar): number => parts.reduce((sum, { value }) => sum + value, 0)
  const most = Math.max(...bars.map(sumOf))
  if (!(most > 0)) return <div className="bars-none" />
  return (
    <svg
      {...{ className: 'bars', role: 'img', 'aria-label': label, preserveAspectRatio: 'none' }}
      viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
    >
      {bars.map((bar, index) => (
        <g key={bar.id} transform={`translate(${index * STEP} 0)`}>
          <title>{bar.title}</title>
          <rect className="bar-ground" width={STEP} height={HEIGHT} />
          {stacked(bar, most).map((part) => (
            <rect key={part.fill} {...part} x={(STEP - WIDTH) / 2} width={WIDTH} />
          ))}
        </g>
      ))}
    </svg>
  )
}

function stacked({ parts }: Bar, most: number): readonly { readonly fill: string; y: number; height: number }[] {
  let ground = HEIGHT
  return parts
    .filter(({ value }) => value > 0)
    .map(({ value, color }) => {
      const height = Math.max(LEAST, (value / most) * HEIGHT)
      ground = Math.max(0, ground - height)
      return { fill: color, y: ground, height }
    })
}
