import type { ReactNode } from 'react'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { outcomeColor, outcomeOf, type Outcome } from '../outcome/outcome.ts'

const SLOTS = 20
const STEP = 6
const WIDTH = 4
const HEIGHT = 18

/** Heights differ by outcome, so that a row of bars reads without colour: tall is bad. */
const HEIGHTS: Readonly<Record<Outcome, number>> = {
  ...{ success: 8, failure: HEIGHT, late: 14, quiet: 3, active: 11, waiting: 3 },
}

interface SparklineProps {
  /** Newest first, as lists are. */
  readonly runs: readonly { readonly id: string; readonly status: RunView['status'] }[]
}

/** The last outcomes of something, oldest on the left. */
export function Sparkline({ runs }: SparklineProps): ReactNode {
  const say = useSay()
  if (runs.length === 0) return <span className="quiet">{say('spark.none')}</span>
  const shown = runs.slice(0, SLOTS).reverse()
  const success = shown.filter(({ status }) => status === 'success').length
  const bad = shown.filter(({ status }) => ['failure', 'late'].includes(outcomeOf(status))).length
  const label = say('spark.label', { count: shown.length, success, bad })
  const first = SLOTS - shown.length
  return (
    <svg width={SLOTS * STEP} height={HEIGHT} role="img" aria-label={label} className="sparkline">
      {shown.map(({ id, status }, index) => {
        const outcome = outcomeOf(status)
        const height = HEIGHTS[outcome]
        const place = { x: (first + index) * STEP, y: HEIGHT - height, width: WIDTH, height, rx: 1 }
        return (
          <rect key={id} {...place} fill={outcomeColor(outcome)}>
            <title>{say(`status.${status}`)}</title>
          </rect>
        )
      })}
    </svg>
  )
}
