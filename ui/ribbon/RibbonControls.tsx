import { ActionIcon, Button, SegmentedControl, Tooltip } from '@mantine/core'
import { IconChevronLeft, IconChevronRight, IconTable, IconTimeline } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'
import { pan, SPANS, viewAround, type RibbonView, type SpanName } from './view.ts'

const NAMES = Object.keys(SPANS) as readonly SpanName[]
const HALF = 0.5

interface RibbonControlsProps {
  readonly view: RibbonView
  readonly setView: (view: RibbonView) => void
  readonly isTable: boolean
  readonly setTable: (isTable: boolean) => void
  readonly aside?: ReactNode
}

/** Which stretch of time, where in time, and whether as a picture. */
export function RibbonControls({ view, setView, isTable, setTable, aside }: RibbonControlsProps): ReactNode {
  const say = useSay()
  const chosen = NAMES.find((name) => SPANS[name] === view.span) ?? ''
  const other = say(isTable ? 'ribbon.asPicture' : 'ribbon.asTable')
  const stretch = (name: string): void => {
    const span = SPANS[name as SpanName]
    const middle = view.from + view.span * HALF
    setView(view.follows === null ? { ...view, span, from: middle - span * HALF } : { ...view, span })
  }
  return (
    <div className="ribbon-controls">
      <ActionIcon aria-label={say('ribbon.earlier')} onClick={() => setView(pan(view, -HALF))}>
        <IconChevronLeft size={16} aria-hidden />
      </ActionIcon>
      <Button
        variant="default"
        disabled={view.follows !== null}
        onClick={() => setView(viewAround(Date.now(), view.span))}
      >
        {say('ribbon.now')}
      </Button>
      <ActionIcon aria-label={say('ribbon.later')} onClick={() => setView(pan(view, HALF))}>
        <IconChevronRight size={16} aria-hidden />
      </ActionIcon>
      <span className="ribbon-aside">{aside}</span>
      <SegmentedControl
        {...{ value: chosen, onChange: stretch, 'aria-label': say('ribbon.zoom') }}
        data={NAMES.map((name) => ({ value: name, label: say(`ribbon.${name}`) }))}
      />
      <Tooltip label={other}>
        <ActionIcon aria-label={other} aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? <IconTimeline size={16} aria-hidden /> : <IconTable size={16} aria-hidden />}
        </ActionIcon>
      </Tooltip>
    </div>
  )
}
