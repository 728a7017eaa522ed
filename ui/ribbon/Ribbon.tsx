import { useRouter } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useTexts } from '../texts/TextProvider.tsx'
import { useNow } from '../time/clock.ts'
import { shortTime } from '../time/zone.ts'
import { endOfItem, runsIn, type RibbonItem, type RibbonRow } from './items.ts'
import type { AskedPlace } from './RibbonCanvas.tsx'
import { RibbonControls } from './RibbonControls.tsx'
import { RibbonTable } from './RibbonTable.tsx'
import { RibbonSheet } from './RibbonSheet.tsx'
import { viewAt, type RibbonView } from './view.ts'
import './ribbon.css'

interface RibbonProps {
  readonly rows: readonly RibbonRow[]
  readonly items: readonly RibbonItem[]
  readonly view: RibbonView
  readonly setView: (view: RibbonView) => void
  /** Beside the controls: what else can be chosen. */
  readonly aside?: ReactNode
  /** Below the ribbon: what stands for what. */
  readonly legend?: ReactNode
  /** Called when the last rows are near. */
  readonly more?: (() => void) | undefined
  readonly ask?: ((place: AskedPlace) => void) | undefined
  /** Above the picture. */
  readonly children?: ReactNode
}

/**
 * Time from left to right, a row for each thing, and a line for now. The parent keeps the view, because it decides what
 * is read.
 */
export function Ribbon({ rows, items, view, setView, aside, legend, more, ask, children }: RibbonProps): ReactNode {
  const { say, locale } = useTexts()
  const router = useRouter()
  const now = useNow()
  const [isTable, setTable] = useState(false)
  const shown = viewAt(view, now)
  const until = shown.from + shown.span
  const open = ({ href }: RibbonItem): void => {
    if (href !== undefined) void router.navigate({ href })
  }
  const inRange = items.filter((item) => item.start <= until && endOfItem(item, now) >= shown.from)
  const label = say('ribbon.label', {
    count: inRange.reduce((sum, item) => sum + runsOf(item), 0),
    from: shortTime(shown.from, { locale }),
    to: shortTime(until, { locale }),
  })
  return (
    <div className="ribbon">
      <RibbonControls {...{ view: shown, setView, isTable, setTable, aside }} />
      {isTable ? (
        <RibbonTable {...{ rows, items: inRange, now, open }} />
      ) : (
        <RibbonSheet {...{ rows, items: inRange, view: shown, setView, now, label, open, ask, more, children }} />
      )}
      {legend}
    </div>
  )
}

const runsOf = (item: RibbonItem): number =>
  item.kind === 'run' ? 1 : item.kind === 'bucket' ? runsIn(item.outcomes) : 0
