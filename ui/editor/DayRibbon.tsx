import { Slider } from '@mantine/core'
import { useMemo, useState, type ReactNode } from 'react'
import { RibbonCanvas } from '../ribbon/RibbonCanvas.tsx'
import type { RibbonItem, RibbonRow } from '../ribbon/items.ts'
import type { RibbonView } from '../ribbon/view.ts'
import { AXIS_HEIGHT, ROW_HEIGHT } from '../ribbon/layout.ts'
import type { Say } from '../texts/fill.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useNow } from '../time/clock.ts'
import { spanText } from '../time/span.ts'
import { useEditor } from './context.ts'
import { simulate, type Simulated } from './simulate.ts'
import '../ribbon/ribbon.css'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** How long a run may be said to take. */
const TAKES = [
  ...[5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 3 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE],
  ...[20 * MINUTE, 30 * MINUTE, 45 * MINUTE, HOUR, 1.5 * HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
] as const
const USUALLY = 5
/** Bars that can be told apart in a narrow picture. */
const MOST_DRAWN = 24

/** The first day of the schedule as it would go if runs took as long as the slider says. */
export function DayRibbon({ occurrences }: { readonly occurrences: readonly number[] }): ReactNode {
  const say = useSay()
  const { form } = useEditor()
  const [step, setStep] = useState(USUALLY)
  const now = useNow(MINUTE)
  const took = TAKES[step] ?? MINUTE
  const fates = useMemo(() => simulate(occurrences, took, form), [occurrences, took, form])
  const [first = now] = occurrences
  const start = first - now < DAY / 2 ? now : first - HOUR
  const span = spanFor(occurrences)
  const [view, setView] = useState<RibbonView | null>(null)
  const shown = view ?? { from: start - span * 0.02, span, follows: null }
  const { rows, items } = useMemo(() => drawn(fates, say), [fates, say])
  const takes = spanText(took, say)
  return (
    <div className="day-ribbon">
      <label className="field-name" id="edit-takes">
        {say('edit.takes', { span: takes })}
      </label>
      <Slider
        {...{ value: step, onChange: setStep, min: 0, max: TAKES.length - 1, size: 'sm', label: null }}
        thumbProps={{ 'aria-labelledby': 'edit-takes', 'aria-valuetext': takes }}
      />
      <div className="ribbon-sheet">
        <ul className="ribbon-rows" style={{ paddingTop: AXIS_HEIGHT }}>
          {rows.map(({ id, label }) => (
            <li key={id} style={{ height: ROW_HEIGHT }}>
              {label}
            </li>
          ))}
        </ul>
        <RibbonCanvas {...{ rows, items, view: shown, setView, now, open: () => undefined }} label={say('edit.day')} />
      </div>
      <p className="edit-note" aria-live="polite">
        {summaryOf(fates, say)}
      </p>
    </div>
  )
}

/** A day, or less where so much happens that nothing could be told apart. */
function spanFor(occurrences: readonly number[]): number {
  const [first = 0] = occurrences
  const apart = ((occurrences.at(-1) ?? first) - first) / Math.max(1, occurrences.length - 1)
  return apart === 0 ? DAY : Math.min(DAY, Math.max(15 * MINUTE, apart * MOST_DRAWN))
}

/** How many of each, in one line. */
function summaryOf(fates: readonly Simulated[], say: Say): string {
  const count = (...which: readonly Simulated['fate'][]): number =>
    fates.filter(({ fate }) => which.includes(fate)).length
  const skipped = count('overlap', 'overlap_limit', 'concurrency', 'queue_full')
  return [
    say('edit.day.runs', { count: count('runs', 'waits', 'cut') }),
    ...(count('waits') > 0 ? [say('edit.day.waits', { count: count('waits') })] : []),
    ...(count('cut') > 0 ? [say('edit.day.cut', { count: count('cut') })] : []),
    ...(skipped > 0 ? [say('edit.day.skipped', { count: skipped })] : []),
  ].join(' · ')
}

const MOST_ROWS = 4
const PLANNED = 'planned'

/** Planned moments in the first row, runs below it: as many rows as there are runs at once, as far as they fit. */
function drawn(
  fates: readonly Simulated[],
  say: Say,
): { readonly rows: readonly RibbonRow[]; readonly items: readonly RibbonItem[] } {
  const busyUntil: number[] = []
  const items: RibbonItem[] = []
  for (const { at, fate, start, end } of fates) {
    const id = String(at)
    if (start === null || end === null) {
      if (fate === 'cut') continue
      items.push({ kind: 'skipped', id, row: PLANNED, start: at, note: say(`edit.fate.${fate}`) })
      continue
    }
    items.push({ kind: 'coming', id, row: PLANNED, start: at })
    const free = busyUntil.findIndex((until) => until <= at)
    const line = free >= 0 ? free : Math.min(busyUntil.length, MOST_ROWS - 1)
    busyUntil[line] = Math.max(busyUntil[line] ?? 0, end)
    const row = `run ${line}`
    if (start > at) items.push({ kind: 'run', id: `${id} waits`, row, start: at, end: start, status: 'queued' })
    const status = fate === 'cut' ? 'cancelled' : 'success'
    items.push({ kind: 'run', id: `${id} runs`, row, start, end, status, note: say(`edit.fate.${fate}`) })
  }
  const lines = Math.max(1, busyUntil.length)
  const rows = Array.from({ length: lines }, (_, line) => ({
    id: `run ${line}`,
    label: line === 0 ? say('edit.day.row') : say('edit.day.beside'),
  }))
  return { rows: [{ id: PLANNED, label: say('ribbon.coming') }, ...rows], items }
}
