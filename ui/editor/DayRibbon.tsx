import { Slider } from '@mantine/core'
import { IconTimelineEventText } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useMemo, useState, type ReactNode } from 'react'
import type { SimulateAnswer } from '../../src/features/simulation/schema.ts'
import { messageOf } from '../api/refusal.ts'
import type { RibbonItem, RibbonRow } from '../ribbon/items.ts'
import { AXIS_HEIGHT, ROW_HEIGHT } from '../ribbon/layout.ts'
import { RibbonCanvas } from '../ribbon/RibbonCanvas.tsx'
import type { RibbonView } from '../ribbon/view.ts'
import { layOutSimulation } from '../ribbon/simulated-items.ts'
import type { Say } from '../texts/fill.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useNow } from '../time/clock.ts'
import { spanText } from '../time/span.ts'
import { useEditor } from './context.ts'
import { simulatedInput, useDay } from './hooks/use-day.ts'
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
  const [first = now] = occurrences
  const start = first - now < DAY / 2 ? now : first - HOUR
  const span = spanFor(occurrences)
  const { answer, error } = useDay(form, { from: start, span, tookMs: took })
  const [view, setView] = useState<RibbonView | null>(null)
  const shown = view ?? { from: start - span * 0.02, span, follows: null, shortest: Math.min(span, 15 * MINUTE) }
  const { rows, items } = useMemo(() => drawn(answer, occurrences, say), [answer, occurrences, say])
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
        {error !== null ? messageOf(error, say) : answer === undefined ? ' ' : summaryOf(answer, say)}
      </p>
      <Link className="day-more" to="/automation/simulate" search={{ draft: JSON.stringify(simulatedInput(form)) }}>
        <IconTimelineEventText size={14} aria-hidden /> {say('edit.day.more')}
      </Link>
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
function summaryOf({ totals }: SimulateAnswer, say: Say): string {
  const { by_status: by, superseded } = totals
  const [skipped, timeouts] = [by.skipped ?? 0, by.timeout ?? 0]
  return [
    say('edit.day.runs', { count: totals.runs }),
    ...(totals.max_waiting > 0 ? [say('edit.day.waits', { count: totals.max_waiting })] : []),
    ...(superseded > 0 ? [say('edit.day.cut', { count: superseded })] : []),
    ...(timeouts > 0 ? [say('edit.day.timeouts', { count: timeouts })] : []),
    ...(skipped > 0 ? [say('edit.day.skipped', { count: skipped })] : []),
  ].join(' · ')
}

const MOST_ROWS = 4
const PLANNED = 'planned'

/** Planned moments in the first row; runs below it, and those that are skipped among them. */
function drawn(
  answer: SimulateAnswer | undefined,
  occurrences: readonly number[],
  say: Say,
): { readonly rows: readonly RibbonRow[]; readonly items: readonly RibbonItem[] } {
  const planned = occurrences.map((start): RibbonItem => ({ kind: 'coming', id: `p ${start}`, row: PLANNED, start }))
  const laid =
    answer === undefined
      ? { rows: [{ id: 'none', label: '' }], items: [] }
      : layOutSimulation(answer, { say, mostBeside: MOST_ROWS })
  const rows = laid.rows.map(({ id }, line) => ({ id, label: say(line === 0 ? 'edit.day.row' : 'edit.day.beside') }))
  return { rows: [{ id: PLANNED, label: say('ribbon.coming') }, ...rows], items: [...planned, ...laid.items] }
}
