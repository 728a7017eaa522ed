import { useRouter } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useTexts } from '../texts/TextProvider.tsx'
import { useNow } from '../time/clock.ts'
import { shortTime } from '../time/zone.ts'
import type { RibbonItem, RibbonRow } from './items.ts'
import { RibbonCanvas } from './RibbonCanvas.tsx'
import { RibbonControls } from './RibbonControls.tsx'
import { RibbonTable } from './RibbonTable.tsx'
import { RowNames } from './RowNames.tsx'
import { viewAt, type RibbonView } from './view.ts'
import './ribbon.css'

interface RibbonProps {
  readonly rows: readonly RibbonRow[]
  readonly items: readonly RibbonItem[]
  readonly view: RibbonView
  readonly setView: (view: RibbonView) => void
  /** Below the ribbon: what is not drawn. */
  readonly note?: string | undefined
}

/**
 * Time from left to right: what went on as bars of their real length, what is planned as hollow ticks, what was skipped
 * as crosses, and a line for now. The parent keeps the view, because it decides which runs are read.
 */
export function Ribbon({ rows, items, view, setView, note }: RibbonProps): ReactNode {
  const { say, locale } = useTexts()
  const router = useRouter()
  const now = useNow()
  const [isTable, setTable] = useState(false)
  const shown = viewAt(view, now)
  const until = shown.from + shown.span
  const open = ({ href }: RibbonItem): void => {
    if (href !== undefined) void router.navigate({ href })
  }
  const seen = items.filter((item) => item.start <= until && endOf(item, now) >= shown.from)
  const label = say('ribbon.label', {
    count: seen.filter(({ kind }) => kind === 'run').length,
    from: shortTime(shown.from, { locale }),
    to: shortTime(until, { locale }),
  })
  return (
    <div className="ribbon">
      <RibbonControls {...{ view: shown, setView, isTable, setTable }} />
      {isTable ? (
        <RibbonTable {...{ rows, items: seen, now, open }} />
      ) : (
        <div className="ribbon-sheet">
          <RowNames rows={rows} />
          <RibbonCanvas {...{ rows, items: seen, view: shown, setView, now, label, open }} />
        </div>
      )}
      {note !== undefined && <p className="ribbon-note">{note}</p>}
    </div>
  )
}

const endOf = (item: RibbonItem, now: number): number => (item.kind === 'run' ? (item.end ?? now) : item.start)
