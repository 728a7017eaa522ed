import type { RunView } from '../../src/features/runs/schema.ts'
import { outcomeOf, type Outcome } from '../parts/outcome/outcome.ts'

/** One line of the ribbon: a schedule, a lane, an attempt. */
export interface RibbonRow {
  readonly id: string
  readonly label: string
  /** Where its name leads. */
  readonly href?: string | undefined
}

interface Placed {
  readonly id: string
  /** The row it stands in. */
  readonly row: string
  /** Milliseconds. */
  readonly start: number
  /** Where it leads. */
  readonly href?: string | undefined
}

/** Something that went on, or still does. */
export interface RibbonRun extends Placed {
  readonly kind: 'run'
  readonly status: RunView['status']
  /** Null while it goes on. */
  readonly end: number | null
  readonly note?: string | undefined
  /** Whether it is set off from the others. */
  readonly isMarked?: boolean | undefined
}

/** An occurrence that is planned. */
export interface RibbonComing extends Placed {
  readonly kind: 'coming'
}

/** An occurrence that a policy decided not to run, and why. */
export interface RibbonSkipped extends Placed {
  readonly kind: 'skipped'
  readonly note: string
  /** Whether it is set off from the others. */
  readonly isMarked?: boolean | undefined
}

/** A stretch of time in which something was not as usual: drawn behind everything. */
export interface RibbonShade {
  readonly id: string
  readonly from: number
  readonly to: number
  readonly label: string
}

/** A time that matters to every row, such as a clock change. */
export interface RibbonMark {
  readonly id: string
  readonly at: number
  readonly label: string
}

/** Counts by outcome. */
export type OutcomeCounts = Readonly<Partial<Record<Outcome, number>>>

/** The runs of a schedule or agent in a bucket of time, and what is planned in it. */
export interface RibbonBucket extends Placed {
  readonly kind: 'bucket'
  readonly end: number
  readonly outcomes: OutcomeCounts
  readonly planned: number
  /** How much there is, compared with the fullest bucket of the row: above 0, at most 1. */
  readonly strength: number
  /** Its row has little room between buckets and is drawn as a heat strip. */
  readonly isDense: boolean
}

/** A stretch in which planned occurrences of a row cannot run. */
export interface RibbonHold extends Placed {
  readonly kind: 'hold'
  readonly end: number
  readonly note: string
}

/** What stands on the ribbon. */
export type RibbonItem = RibbonRun | RibbonComing | RibbonSkipped | RibbonBucket | RibbonHold

/** When an item ends; one that has not ended goes on until now. */
export const endOfItem = (item: RibbonItem, now: number): number =>
  item.kind === 'run' ? (item.end ?? Math.max(now, item.start)) : 'end' in item ? item.end : item.start

/** Counts by outcome of counts by state. */
export function outcomesOf(counts: Readonly<Partial<Record<RunView['status'], number>>>): OutcomeCounts {
  const found: Partial<Record<Outcome, number>> = {}
  for (const [status, count] of Object.entries(counts) as [RunView['status'], number][]) {
    const outcome = outcomeOf(status)
    found[outcome] = (found[outcome] ?? 0) + count
  }
  return found
}

/** How many runs there are. */
export const runsIn = (outcomes: OutcomeCounts): number =>
  Object.values(outcomes).reduce((sum, count) => sum + count, 0)

/** A row with so many buckets, and at least this share of its stretch in them, is dense. */
const DENSE_FROM = 8
const DENSE = 0.35

interface CountedBucket {
  readonly at: string
  readonly by_status: Readonly<Partial<Record<RunView['status'], number>>>
  readonly planned?: number
}

/** The items of the buckets of a row, each `step` milliseconds long. */
export function bucketItems(row: string, counted: readonly CountedBucket[], step: number): readonly RibbonBucket[] {
  const buckets = counted.map(({ at, by_status: counts, planned = 0 }) => {
    const outcomes = outcomesOf(counts)
    return { start: Date.parse(at), outcomes, planned, size: runsIn(outcomes) + planned }
  })
  const most = buckets.reduce((top, { size }) => Math.max(top, size), 1)
  const stretch = (buckets.at(-1)?.start ?? 0) + step - (buckets[0]?.start ?? 0)
  const isDense = buckets.length >= DENSE_FROM && (buckets.length * step) / stretch >= DENSE
  return buckets.map(({ start, outcomes, planned, size }) => ({
    ...{ kind: 'bucket', id: `${row} ${start}`, row, start, end: start + step, outcomes, planned, isDense },
    strength: size / most,
  }))
}
