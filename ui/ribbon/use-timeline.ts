import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { TimelineFilter, TimelineRow } from '../../src/features/stats/schema.ts'
import { timelineOf } from '../api/queries.ts'
import { useDoors, type Doors } from '../parts/doors.ts'
import { usePages } from '../table/use-pages.ts'
import type { Say } from '../texts/fill.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { bucketItems, type RibbonItem, type RibbonRow } from './items.ts'
import { bucketsOf, type RibbonView } from './view.ts'

/** What the timeline is about: everything, one schedule, or one agent. */
export type TimelineOf = Pick<TimelineFilter, 'schedule_id' | 'agent_id' | 'by' | 'text'>

/** A row of the timeline, with what stands behind it. */
export interface TimelineLine extends RibbonRow {
  readonly row: TimelineRow
}

interface TimelineData {
  readonly rows: readonly TimelineLine[]
  readonly items: readonly RibbonItem[]
  /** How many rows there are, also those that have not been read. */
  readonly total: number
  /** The length of a bucket in milliseconds. */
  readonly step: number
  readonly isLoading: boolean
  readonly error: unknown
  readonly retry: () => void
  readonly more: () => void
}

/** Reads the rows and buckets of a view. */
export function useTimeline(view: RibbonView, now: number, of: TimelineOf): TimelineData {
  const say = useSay()
  const doors = useDoors()
  const { from, to, step } = bucketsOf(view, now)
  const filter = {
    ...of,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    step_seconds: step / 1_000,
  }
  const query = useInfiniteQuery(timelineOf(filter, view.follows !== null))
  const { rows: read, more } = usePages<TimelineRow>(query)
  const shown = useMemo(() => {
    const rows = read.map((row) => ({ ...lineOf(row, { say, doors }), row }))
    return { rows, items: rows.flatMap((line) => itemsOf(line, { step, from, to })) }
  }, [read, say, doors, step, from, to])
  return {
    ...shown,
    ...{ total: query.data?.pages[0]?.total ?? 0, step, more },
    ...{ isLoading: query.isPending, error: query.error, retry: () => void query.refetch() },
  }
}

/** The key of a row: a schedule and an agent may have the same id. */
const keyOf = ({ kind, id }: TimelineRow): string => `${kind} ${id ?? ''}`

function lineOf(row: TimelineRow, { say, doors }: { readonly say: Say; readonly doors: Doors }): RibbonRow {
  const { kind, id, name } = row
  const href = kind === 'schedule' && id !== null && name !== null ? doors.schedule(id) : undefined
  const shown = name ?? id ?? ''
  const label =
    kind === 'org'
      ? say('ribbon.all')
      : kind === 'direct'
        ? say('ribbon.direct', { name: shown })
        : kind === 'schedule' && name === null
          ? say('ribbon.deleted', { id: shown.slice(-6) })
          : shown
  return { id: keyOf(row), label, href }
}

/** The buckets of a row, and the stretch in which nothing of it can run. */
function itemsOf(
  { id, row }: TimelineLine,
  { step, from, to }: { readonly step: number; readonly from: number; readonly to: number },
): readonly RibbonItem[] {
  const items = bucketItems(id, row.buckets, step)
  if (row.held === null) return items
  const { until, sentence } = row.held
  const start = Math.max(from, Date.now())
  const end = until === null ? to : Date.parse(until)
  return [...items, { kind: 'hold', id: `${id} held`, row: id, start, end, note: sentence }]
}
