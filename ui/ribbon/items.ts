import type { RunView } from '../../src/features/runs/schema.ts'

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

/** What stands on the ribbon. */
export type RibbonItem = RibbonRun | RibbonComing | RibbonSkipped

/** What it says of itself in a line; undefined: nothing. */
function summaryOf({ result_summary: summary }: RunView): string | undefined {
  if (summary == null) return undefined
  return typeof summary === 'string' ? summary : JSON.stringify(summary)
}

/** The item for a run; the caller adds the words for why it was skipped. */
export function itemOfRun(run: RunView, row: string, href?: string): RibbonItem {
  const start = Date.parse(run.started_at ?? run.nominal_time ?? run.created_at)
  const place = { id: run.id, row, href }
  if (run.status === 'skipped') return { ...place, kind: 'skipped', start, note: run.reason ?? '' }
  const end = run.finished_at === null ? null : Date.parse(run.finished_at)
  const note = run.error_message ?? summaryOf(run)
  return { ...place, kind: 'run', start, end, status: run.status, note }
}
