import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconArrowsMaximize, IconMinus, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState, type CSSProperties, type KeyboardEvent, type ReactNode } from 'react'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { isPending } from '../../../api/run-actions.ts'
import { useLog } from '../../../api/stream.ts'
import { outcomeColor } from '../../../parts/outcome/outcome.ts'
import { Panel } from '../../../parts/Panel.tsx'
import { useWidth } from '../../../ribbon/use-width.ts'
import type { PlainKey, Say } from '../../../texts/fill.ts'
import { useSay } from '../../../texts/TextProvider.tsx'
import { spanText } from '../../../time/span.ts'
import { explanationOf } from '../queries.ts'
import { useLiveNow } from './live-now.ts'
import { extentOf, ticksOf, traceOf, type TraceRow } from './trace.ts'
import { TraceDetail } from './TraceDetail.tsx'
import './trace.css'

/** Browsers draw no wider elements. */
const MAX_WIDTH = 2_000_000
const ZOOM_STEP = 2
const PER_TICK = 84
/** A mark at the end has no room for its words. */
const LAST_TICK = 0.93

/** What happened to the run and when, down to the millisecond: waits, attempts, deliveries with their tries. */
export function Trace({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  const isOpen = isPending(run)
  const { data: why } = useQuery(explanationOf(run.id, isOpen))
  const waiting = isOpen && why?.status === run.status ? { reason: why.reason, status: run.status } : null
  const rows = traceOf(run, useLog(run.id) ?? [], waiting)
  const now = useLiveNow(rows.some(({ to }) => to === null))
  const { from, to } = extentOf(rows, now)
  const [chosen, choose] = useState<string | null>(null)
  const view = useZoom({ from, length: to - from })
  const row = rows.find(({ key }) => key === chosen)
  return (
    <Panel title={say('run.timeline')} className="trace" aside={<Zoom zoom={view.zoom} set={view.set} />}>
      <div className="trace-grid">
        <ul className="trace-names">
          {rows.map((one) => (
            <li key={one.key} data-sub={one.what.kind === 'try'}>
              <span>{nameOf(one, say)}</span>
            </li>
          ))}
        </ul>
        <div ref={view.scroller} className="trace-scroll" tabIndex={-1}>
          <div className="trace-plot" style={{ width: `${view.zoom * 100}%` }}>
            <Axis length={to - from} width={view.width} />
            <ul className="trace-bars" onKeyDown={moveFocus}>
              {rows.map((one) => (
                <li key={one.key}>
                  <Bar
                    {...{ row: one, from, to, now }}
                    isChosen={one.key === chosen}
                    choose={() => choose(one.key === chosen ? null : one.key)}
                  />
                </li>
              ))}
            </ul>
          </div>
        </div>
      </div>
      {row !== undefined && (
        <TraceDetail {...{ run, row, now }} name={nameOf(row, say)} close={() => choose(null)}>
          <Button variant="default" size="xs" onClick={() => view.show(row.from, row.to ?? now)}>
            {say('trace.zoomTo')}
          </Button>
        </TraceDetail>
      )}
    </Panel>
  )
}

interface Whole {
  readonly from: number
  readonly length: number
}

/** How much of the trace is shown: the plot is wider than its window, which scrolls. */
function useZoom({ from, length }: Whole) {
  const scroller = useRef<HTMLDivElement>(null)
  const window = useWidth(scroller)
  const [zoom, setZoom] = useState(1)
  const most = Math.max(1, MAX_WIDTH / Math.max(1, window))
  const scrollTo = (share: number, scale: number): void =>
    void requestAnimationFrame(() => scroller.current?.scrollTo({ left: share * window * scale - window * 0.05 }))
  const set = (next: number): void => {
    const scale = Math.min(most, Math.max(1, next))
    const { current } = scroller
    const middle = current === null ? 0 : (current.scrollLeft + window / 2) / (window * zoom)
    setZoom(scale)
    scrollTo(middle - 0.45 / scale, scale)
  }
  const show = (start: number, end: number): void => {
    const scale = Math.min(most, Math.max(1, (length / Math.max(1, end - start)) * 0.9))
    setZoom(scale)
    scrollTo((start - from) / length, scale)
  }
  return { scroller, zoom, width: window * zoom, set, show }
}

function Zoom({ zoom, set }: { readonly zoom: number; readonly set: (zoom: number) => void }): ReactNode {
  const say = useSay()
  const buttons = [
    [say('trace.zoomOut'), IconMinus, zoom / ZOOM_STEP, zoom <= 1],
    [say('trace.zoomIn'), IconPlus, zoom * ZOOM_STEP, false],
    [say('trace.fit'), IconArrowsMaximize, 1, zoom <= 1],
  ] as const
  return (
    <div className="trace-zoom">
      {buttons.map(([label, Icon, next, isOff]) => (
        <Tooltip key={label} label={label}>
          <ActionIcon size="sm" aria-label={label} disabled={isOff} onClick={() => set(next)}>
            <Icon size={14} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ))}
    </div>
  )
}

function Axis({ length, width }: { readonly length: number; readonly width: number }): ReactNode {
  const say = useSay()
  const most = Math.min(400, Math.max(3, Math.floor(width / PER_TICK)))
  return (
    <div className="trace-axis" aria-hidden>
      {ticksOf(length, most)
        .filter((at) => at / length < LAST_TICK)
        .map((at) => (
          <span key={at} style={{ left: `${(at / length) * 100}%` }}>
            {at === 0 ? '0' : `+${spanText(at, say)}`}
          </span>
        ))}
    </div>
  )
}

interface BarProps {
  readonly row: TraceRow
  readonly from: number
  readonly to: number
  readonly now: number
  readonly isChosen: boolean
  readonly choose: () => void
}

function Bar({ row, from, to, now, isChosen, choose }: BarProps): ReactNode {
  const say = useSay()
  const end = row.to ?? Math.max(row.from, now)
  const share = (at: number): number => ((at - from) / (to - from)) * 100
  const [left, width] = [share(row.from), share(end) - share(row.from)]
  const span = spanText(end - row.from, say)
  const first = row.what.kind === 'attempt' ? row.what.firstOutput : null
  const silent =
    first === null || end <= row.from ? 0 : Math.min(100, Math.max(0, ((first - row.from) / (end - row.from)) * 100))
  return (
    <button
      type="button"
      className="trace-row"
      aria-expanded={isChosen}
      aria-label={`${nameOf(row, say)}, ${span}`}
      onClick={choose}
    >
      <span
        className="trace-bar"
        data-kind={row.what.kind}
        data-open={row.to === null}
        style={{
          left: `${left}%`,
          width: `${width}%`,
          ['--tone' as string]: outcomeColor(row.outcome),
          ['--silent' as string]: `${silent}%`,
        }}
      />
      <span className="trace-span" {...placeOf(left, width)}>
        {span}
      </span>
    </button>
  )
}

/** The length stands after its bar, before it where there is no room, and on one that fills the plot. */
function placeOf(left: number, width: number): { readonly 'data-side': string; readonly style: CSSProperties } {
  if (left + width < 86) return { 'data-side': 'after', style: { left: `${left + width}%` } }
  const isBefore = left > 14
  return { 'data-side': isBefore ? 'before' : 'on', style: { right: isBefore ? `${100 - left}%` : '0' } }
}

/** Up and down lead from row to row. */
function moveFocus(event: KeyboardEvent<HTMLUListElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('.trace-row')]
  const next = rows[rows.findIndex((row) => row === document.activeElement) + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

/** What a row is called. */
function nameOf({ what }: TraceRow, say: Say): string {
  switch (what.kind) {
    case 'wait':
      return waitName(what, say)
    case 'attempt':
      return say('trace.attempt', { count: what.attempt.number })
    case 'callback':
      return say('status.awaiting_callback')
    case 'delivery':
      return say('trace.delivery', {
        to: what.delivery.target_id ?? what.delivery.to ?? what.delivery.url ?? say('run.delivery.callback'),
      })
    case 'try':
      return say('run.delivery.try', { count: what.one.number })
  }
}

/** The check that each reason to wait stands for. */
const GATES: Readonly<Record<string, PlainKey>> = {
  ...{ retry_scheduled: 'trace.retryWait', debouncing: 'trace.debouncing', held: 'step.catchup' },
  ...{ not_before: 'step.not_before', delayed: 'step.not_before', awaiting_stop: 'step.interruption' },
  ...{
    session_order: 'step.session_order',
    session_limit: 'step.session_limit',
    context_throttle: 'step.session_limit',
  },
  ...{ schedule_limit: 'step.schedule_slot', agent_limit: 'step.agent_limit', org_limit: 'step.org_limit' },
  ...{ budget: 'step.budget', provider_quota: 'step.provider', provider_limit: 'step.provider' },
  ...{ executor_offline: 'step.executor', worker_busy: 'step.worker', catchup_limit: 'step.catchup' },
  ...{ lane_full: 'step.lane', org_share: 'step.lane', in_line: 'step.turn' },
}

/** The gate that holds it where it is known, else its state. */
function waitName({ status, reason }: Extract<TraceRow['what'], { readonly kind: 'wait' }>, say: Say): string {
  const gate = reason === null ? undefined : GATES[reason]
  return gate === undefined
    ? say(`status.${status}`)
    : say('trace.wait', { status: say(`status.${status}`), gate: say(gate) })
}
