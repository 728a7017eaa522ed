import { useComputedColorScheme } from '@mantine/core'
import {
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
} from 'react'
import { useTexts } from '../texts/TextProvider.tsx'
import { clockTime, dayName, secondTime } from '../time/zone.ts'
import { describeItem } from './describe.ts'
import { draw, readPalette } from './draw.ts'
import type { RibbonItem, RibbonMark, RibbonRow, RibbonShade } from './items.ts'
import { AXIS_HEIGHT, boxAt, layOut, ROW_HEIGHT, type Box } from './layout.ts'
import { RibbonTip } from './RibbonTip.tsx'
import { useWheel } from './use-wheel.ts'
import { useWidth } from './use-width.ts'
import { ownOffset, pan, stepFor, ticksOf, viewAround, zoom, type RibbonView } from './view.ts'

export interface RibbonCanvasProps {
  readonly rows: readonly RibbonRow[]
  readonly items: readonly RibbonItem[]
  readonly view: RibbonView
  readonly setView: (view: RibbonView) => void
  readonly now: number
  readonly label: string
  readonly open: (item: RibbonItem) => void
  /** A place where nothing ran, or something is only planned: in pixels from the top left, and what it is about. */
  readonly ask?: ((place: AskedPlace) => void) | undefined
  /** Stands above the picture. */
  readonly children?: ReactNode
  readonly shades?: readonly RibbonShade[] | undefined
  readonly marks?: readonly RibbonMark[] | undefined
}

/** A place on the ribbon that someone asks about. */
export interface AskedPlace {
  readonly row: string
  readonly at: number
  readonly x: number
  readonly y: number
}

const MINUTE = 60_000
const DAY = 86_400_000
const NONE: readonly never[] = []
const CLOSER = 0.5
const WIDER = 2
const STEP = 0.2

/** The picture itself. One canvas: thousands of bars are drawn in a few milliseconds. */
export function RibbonCanvas(props: RibbonCanvasProps): ReactNode {
  const { rows, items, view, now, label } = props
  const { say } = useTexts()
  const ref = useRef<HTMLDivElement>(null)
  const width = useWidth(ref)
  const [chosenId, setChosen] = useState<string | null>(null)
  const height = AXIS_HEIGHT + Math.max(1, rows.length) * ROW_HEIGHT
  const boxes = useMemo(() => layOut(items, { rows, view, width, now }), [items, rows, view, width, now])
  const chosen = boxes.find(({ item }) => item.id === chosenId) ?? null
  const canvas = usePicture({ ...props, boxes, chosen, width, height })
  const pointer = usePointer(props, { boxes, width, choose: (box) => setChosen(box?.item.id ?? null) })
  useWheel(ref, { view, setView: props.setView, width })
  const keys = (event: KeyboardEvent): void => {
    const step = event.key === 'n' ? 1 : event.key === 'p' ? -1 : 0
    const next = VIEW_KEYS[event.key]?.(view)
    if (step !== 0)
      setChosen(
        boxes.at((boxes.findIndex((box) => box === chosen) + step + boxes.length) % boxes.length)?.item.id ?? null,
      )
    else if (event.key === 'Enter' && chosen !== null) enter(props, chosen)
    else if (event.key === 'Escape') setChosen(null)
    else if (next !== undefined) props.setView(next)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div
      {...{
        ref,
        className: 'ribbon-canvas',
        tabIndex: 0,
        role: 'application',
        'aria-label': `${label} ${say('ribbon.help')}`,
      }}
      {...{ ...pointer, onKeyDown: keys, onPointerLeave: () => setChosen(null) }}
      data-open={chosen?.item.href !== undefined || props.ask !== undefined}
    >
      <canvas ref={canvas} style={{ width, height }} aria-hidden />
      {chosen !== null && <RibbonTip {...{ box: chosen, rows, now, width }} />}
      {props.children}
      <span className="visually-hidden" aria-live="polite">
        {chosen !== null && describeItem(chosen.item, now, say)}
      </span>
    </div>
  )
}

/** Opens what has a page of its own, and asks about everything else. */
function enter({ open, ask }: RibbonCanvasProps, { item, x, y, width }: Box): void {
  if (item.href !== undefined || ask === undefined) open(item)
  else ask({ row: item.row, at: item.start, x: x + width / 2, y: y + ROW_HEIGHT })
}

const VIEW_KEYS: Readonly<Record<string, (view: RibbonView) => RibbonView>> = {
  ArrowLeft: (view) => pan(view, -STEP),
  ArrowRight: (view) => pan(view, STEP),
  '+': (view) => zoom(view, CLOSER),
  '=': (view) => zoom(view, CLOSER),
  '-': (view) => zoom(view, WIDER),
  '0': (view) => viewAround(Date.now(), view.span),
}

interface Pictured extends RibbonCanvasProps {
  readonly boxes: readonly Box[]
  readonly chosen: Box | null
  readonly width: number
  readonly height: number
}

/** Draws whenever something has changed that is seen, in the colours of the theme. */
function usePicture({ view, now, boxes, chosen, width, height, shades = NONE, marks = NONE }: Pictured) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { locale } = useTexts()
  const scheme = useComputedColorScheme()
  useLayoutEffect(() => {
    const element = canvas.current
    const context = element?.getContext('2d')
    if (element == null || context == null || width === 0) return
    const ratio = devicePixelRatio
    const [pixelsWide, pixelsHigh] = [Math.round(width * ratio), Math.round(height * ratio)]
    if (element.width !== pixelsWide) element.width = pixelsWide
    if (element.height !== pixelsHigh) element.height = pixelsHigh
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    const step = stepFor(view.span, width)
    const name = step >= DAY ? dayName : step >= MINUTE ? clockTime : secondTime
    const ticks = ticksOf(view, step, ownOffset).map((at) => ({ at, label: name(at, { locale }) }))
    const font = `11.5px ${getComputedStyle(element).fontFamily}`
    const palette = readPalette(element)
    draw({ context, width, height, view, now, ticks, boxes, chosen, shades, marks, palette, font })
  }, [view, now, boxes, chosen, width, height, shades, marks, locale, scheme])
  return canvas
}

interface Pointing {
  readonly boxes: readonly Box[]
  readonly width: number
  readonly choose: (box: Box | null) => void
}

const DRAG_PX = 4

/** Hovering chooses, dragging moves, clicking opens. */
function usePointer(props: RibbonCanvasProps, { boxes, width, choose }: Pointing) {
  const { view, setView, ask, rows } = props
  const drag = useRef<{ readonly x: number; readonly view: RibbonView; moved: boolean } | null>(null)
  const under = (event: PointerEvent): Box | null => {
    const { left, top } = event.currentTarget.getBoundingClientRect()
    return boxAt(boxes, event.clientX - left, event.clientY - top)
  }
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button === 0) drag.current = { x: event.clientX, view, moved: false }
    },
    onPointerMove: (event: PointerEvent) => {
      const began = drag.current
      if (began === null) {
        choose(under(event))
        return
      }
      const by = event.clientX - began.x
      if (!began.moved && Math.abs(by) < DRAG_PX) return
      if (!began.moved) event.currentTarget.setPointerCapture(event.pointerId)
      began.moved = true
      setView(pan(began.view, -by / width))
    },
    onPointerUp: (event: PointerEvent) => {
      const isClick = drag.current?.moved === false
      drag.current = null
      if (!isClick) return
      const box = under(event)
      if (box !== null && box.item.kind !== 'hold') {
        enter(props, box)
        return
      }
      const { left, top } = event.currentTarget.getBoundingClientRect()
      const [x, y] = [event.clientX - left, event.clientY - top]
      const row = rows[Math.floor((y - AXIS_HEIGHT) / ROW_HEIGHT)]
      if (row !== undefined && ask !== undefined) ask({ row: row.id, at: view.from + (x / width) * view.span, x, y })
    },
    onPointerCancel: () => {
      drag.current = null
    },
  }
}
