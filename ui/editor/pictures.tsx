import type { ReactNode } from 'react'
import type { PolicyWord } from './form/policies.ts'

/** One mark of a picture: what it is, where it begins, how long it is, and in which row. */
type Mark = readonly [kind: 'run' | 'cut' | 'fail' | 'wait' | 'skip' | 'down', x: number, width?: number, row?: number]

/** What a policy does, drawn: planned moments are ticks on the line, runs are bars below it. */
interface Sketch {
  readonly ticks: readonly number[]
  readonly marks: readonly Mark[]
}

const THREE = [14, 52, 90] as const
const OUTAGE: Mark = ['down', 6, 62]
const MISSED = [14, 32, 50, 78, 98] as const

/** A choice that is not drawn does not compile. */
const SKETCHES: Readonly<Record<PolicyWord, Sketch>> = {
  'misfire.CATCH_UP_LIMITED': {
    ticks: MISSED,
    marks: [OUTAGE, ['skip', 14], ['skip', 32], ['run', 69, 7], ['run', 80, 9], ['run', 98, 9]],
  },
  'misfire.FIRE_NOW': {
    ticks: MISSED,
    marks: [OUTAGE, ['run', 69, 5], ['run', 75, 5], ['run', 81, 5], ['run', 88, 6], ['run', 98, 9]],
  },
  'misfire.SKIP': {
    ticks: MISSED,
    marks: [OUTAGE, ['skip', 14], ['skip', 32], ['skip', 50], ['run', 78, 9], ['run', 98, 9]],
  },
  'overlap.ALLOW': {
    ticks: THREE,
    marks: [
      ['run', 14, 54],
      ['wait', 52, 16, 1],
      ['run', 68, 26, 1],
      ['wait', 90, 4],
      ['run', 94, 20],
    ],
  },
  'overlap.SKIP': {
    ticks: THREE,
    marks: [
      ['run', 14, 54],
      ['skip', 52, 0, 1],
      ['run', 90, 24],
    ],
  },
  'overlap.CANCEL_PREV': {
    ticks: THREE,
    marks: [
      ['cut', 14, 38],
      ['cut', 52, 38],
      ['run', 90, 24],
    ],
  },
  'overlap.PARALLEL': {
    ticks: THREE,
    marks: [
      ['run', 14, 54],
      ['run', 52, 54, 1],
      ['run', 90, 24],
    ],
  },
  'overlap.BUFFER_ONE': {
    ticks: [14, 34, 54, 90],
    marks: [
      ['run', 14, 56],
      ['wait', 34, 36, 1],
      ['skip', 54, 0, 1],
      ['run', 70, 44, 1],
    ],
  },
  'failure.RUN_NEW': {
    ticks: THREE,
    marks: [
      ['fail', 14, 14],
      ['run', 52, 20],
      ['run', 90, 20],
    ],
  },
  'failure.RETRY': {
    ticks: THREE,
    marks: [
      ['fail', 14, 14],
      ['fail', 52, 14],
      ['run', 90, 20],
    ],
  },
  'failure.SKIP': {
    ticks: THREE,
    marks: [
      ['fail', 14, 14],
      ['skip', 52],
      ['run', 90, 20],
    ],
  },
  'failure.BACKOFF': {
    ticks: [10, 30, 50, 70, 90],
    marks: [
      ['fail', 10, 8],
      ['skip', 30],
      ['fail', 50, 8],
      ['skip', 70],
      ['skip', 90],
    ],
  },
  'failure.HALF_OPEN': {
    ticks: [8, 26, 44, 62, 80, 98],
    marks: [
      ['fail', 8, 8],
      ['fail', 26, 8],
      ['fail', 44, 8],
      ['skip', 62],
      ['skip', 80],
      ['run', 98, 14],
    ],
  },
  'concurrency.QUEUE': {
    ticks: [14, 34, 54],
    marks: [
      ['run', 14, 32],
      ['wait', 34, 12, 1],
      ['run', 46, 32, 1],
      ['wait', 54, 24],
      ['run', 78, 32],
    ],
  },
  'concurrency.SKIP': {
    ticks: [14, 34, 54],
    marks: [
      ['run', 14, 32],
      ['skip', 34, 0, 1],
      ['run', 54, 32],
    ],
  },
  'concurrency.PARALLEL': {
    ticks: [14, 34, 54],
    marks: [
      ['run', 14, 36],
      ['run', 34, 36, 1],
      ['run', 54, 36],
    ],
  },
}

const WIDTH = 120
const HEIGHT = 38
const LINE = 9
const ROW = 11
const BAR = 8

/** A small picture of what a policy does; the words beside it say the same. */
export function PolicyPicture({ policy, word }: { readonly policy: string; readonly word: string }): ReactNode {
  // A newer server may have a word that is not drawn here.
  const drawn: Readonly<Record<string, Sketch>> = SKETCHES
  const sketch = drawn[`${policy}.${word}`]
  if (sketch === undefined) return null
  return (
    <svg className="policy-picture" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden>
      <line x1={0} x2={WIDTH} y1={LINE} y2={LINE} className="sketch-line" />
      {sketch.marks.map((mark) => (
        <MarkShape key={mark.join(' ')} mark={mark} />
      ))}
      {sketch.ticks.map((x) => (
        <line key={x} x1={x} x2={x} y1={LINE - 5} y2={LINE + 3} className="sketch-tick" />
      ))}
    </svg>
  )
}

function MarkShape({ mark: [kind, x, width = 0, row = 0] }: { readonly mark: Mark }): ReactNode {
  const y = LINE + 7 + row * ROW
  if (kind === 'down') return <rect x={x} y={1} width={width} height={HEIGHT - 2} rx={3} className="sketch-down" />
  if (kind === 'skip') return <path d={`M${x - 3} ${y + 1}l6 6m0 -6l-6 6`} className="sketch-skip" />
  return (
    <>
      <rect x={x + 0.5} y={y} width={width} height={BAR} rx={2} className={`sketch-${kind}`} />
      {kind === 'fail' && <path d={`M${x + width / 2 - 2} ${y + 2}l4 4m0 -4l-4 4`} className="sketch-on" />}
      {kind === 'cut' && <path d={`M${x + width} ${y - 2}v${BAR + 4}`} className="sketch-end" />}
    </>
  )
}
