import { SegmentedControl, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState, type CSSProperties, type ReactNode } from 'react'
import { ErrorState } from '../parts/ErrorState.tsx'
import { outcomeColor } from '../parts/outcome/outcome.ts'
import { Skeleton } from '@mantine/core'
import { useSay } from '../texts/TextProvider.tsx'
import { useNow } from '../time/clock.ts'
import { OUTCOME_ORDER } from './describe.ts'
import type { RibbonBucket, RibbonItem } from './items.ts'
import { AXIS_HEIGHT, ROW_HEIGHT } from './layout.ts'
import { Ribbon } from './Ribbon.tsx'
import type { AskedPlace } from './RibbonCanvas.tsx'
import { useTimeline, type TimelineLine, type TimelineOf } from './use-timeline.ts'
import { SPANS, viewAround, viewAt, type SpanName } from './view.ts'
import { WhyHere } from './WhyHere.tsx'

interface TimelineProps {
  readonly of: TimelineOf
  readonly span: SpanName
  /** Whether there are many rows: they can be grouped, and searched by name. */
  readonly isWide?: boolean
  /** More of the filter of the list that buckets lead to. */
  readonly keep?: Readonly<Record<string, string>>
}

const STEP_MS = 60_000
const NOW_AT = 0.7
const SEARCH_MS = 250

/**
 * What ran and what is planned, per schedule or agent: a heat strip where much happens, bars where little does. Buckets
 * lead to their runs; gaps, planned occurrences and holds say why.
 */
export function Timeline({ of, span, isWide = false, keep }: TimelineProps): ReactNode {
  const say = useSay()
  const now = useNow(STEP_MS)
  const [view, setView] = useState(() => viewAround(Date.now(), SPANS[span], NOW_AT))
  const [by, setBy] = useState<'schedule' | 'agent'>('schedule')
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState<AskedPlace | null>(null)
  const [text] = useDebouncedValue(typed.trim(), SEARCH_MS)
  const filter = isWide ? { ...of, by, ...(text === '' ? {} : { text }) } : of
  const { rows, items, total, step, isLoading, error, retry, more } = useTimeline(viewAt(view, now), now, filter)
  if (isLoading && error === null) return <Waiting rows={isWide ? WIDE_ROWS : 1} />
  if (error !== null && rows.length === 0) return <ErrorState error={error} retry={retry} />
  const linked = items.map((item) => linkOf(item, rows, keep))
  const row = asked === null ? undefined : rows.find(({ id }) => id === asked.row)
  const aside = isWide && (
    <>
      <TextInput
        {...{ value: typed, size: 'xs', className: 'ribbon-search' }}
        {...{ 'aria-label': say('ribbon.search'), placeholder: say('ribbon.search') }}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <SegmentedControl
        {...{ value: by, 'aria-label': say('ribbon.group'), onChange: (value) => setBy(value as 'schedule' | 'agent') }}
        data={[
          { value: 'schedule', label: say('ribbon.bySchedule') },
          { value: 'agent', label: say('ribbon.byAgent') },
        ]}
      />
    </>
  )
  return (
    <Ribbon
      {...{ rows, items: linked, view, setView, more, aside, ask: setAsked }}
      legend={<Legend items={items} total={isWide ? total : null} />}
    >
      {asked !== null && row !== undefined && (
        <WhyHere key={`${asked.row} ${asked.at}`} {...{ asked, line: row, step, close: () => setAsked(null) }} />
      )}
    </Ribbon>
  )
}

/** Height of the skeleton, so that the page does not jump when the rows come. */
const WIDE_ROWS = 12

function Waiting({ rows }: { readonly rows: number }): ReactNode {
  return <Skeleton height={CONTROLS_HEIGHT + AXIS_HEIGHT + rows * ROW_HEIGHT} radius={0} />
}

const CONTROLS_HEIGHT = 80

/** A bucket with runs leads to them. */
function linkOf(item: RibbonItem, rows: readonly TimelineLine[], keep: TimelineProps['keep']): RibbonItem {
  if (item.kind !== 'bucket' || Object.keys(item.outcomes).length === 0) return item
  const line = rows.find(({ id }) => id === item.row)
  return line === undefined ? item : { ...item, href: runsHref(line, item, keep) }
}

/** The list of the runs of a bucket. */
function runsHref(
  { row: { kind, id } }: TimelineLine,
  { start, end }: RibbonBucket,
  keep: TimelineProps['keep'],
): string {
  const search = new URLSearchParams({ ...keep, from: new Date(start).toISOString(), to: new Date(end).toISOString() })
  if (id !== null) search.set(kind === 'schedule' ? 'schedule_id' : 'agent_id', id)
  return `/automation/runs?${search.toString()}`
}

interface LegendProps {
  readonly items: readonly RibbonItem[]
  /** How many rows there are; null: not told. */
  readonly total: number | null
}

/** What stands for what, as far as it is there. */
function Legend({ items, total }: LegendProps): ReactNode {
  const say = useSay()
  const there = new Set<string>()
  for (const item of items) {
    if (item.kind === 'hold') there.add('held')
    if (item.kind !== 'bucket') continue
    for (const outcome of Object.keys(item.outcomes)) there.add(outcome)
    if (item.planned > 0) there.add('planned')
  }
  return (
    <ul className="ribbon-legend">
      {OUTCOME_ORDER.toReversed()
        .filter((outcome) => there.has(outcome))
        .map((outcome) => (
          <li key={outcome}>
            <i style={{ background: outcomeColor(outcome) }} aria-hidden /> {say(`ribbon.legend.${outcome}`)}
          </li>
        ))}
      {there.has('planned') && (
        <li>
          <i style={PLANNED} aria-hidden /> {say('ribbon.legend.planned')}
        </li>
      )}
      {there.has('held') && (
        <li>
          <i style={HELD} aria-hidden /> {say('ribbon.legend.held')}
        </li>
      )}
      {there.size === 0 && <li>{say('ribbon.empty')}</li>}
      {total !== null && <li className="ribbon-count">{say('ribbon.rows', { count: total })}</li>}
    </ul>
  )
}

const PLANNED: CSSProperties = { border: '1.5px solid var(--accent)' }
const HELD: CSSProperties = {
  background: 'repeating-linear-gradient(135deg, var(--line) 0 1px, var(--late-soft) 1px 5px)',
}
