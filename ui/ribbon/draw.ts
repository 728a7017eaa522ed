import { outcomeOf, type Outcome } from '../parts/outcome/outcome.ts'
import { OUTCOME_ORDER } from './describe.ts'
import { runsIn, type RibbonBucket, type RibbonMark, type RibbonShade } from './items.ts'
import { AXIS_HEIGHT, placeOf, ROW_HEIGHT, type Box } from './layout.ts'
import type { RibbonView } from './view.ts'

/** The colours of the ribbon, read from the theme. */
export type Palette = Readonly<Record<Outcome | 'line' | 'ink' | 'muted' | 'now' | 'paper' | 'shade', string>>

/** Reads the colours as the theme has them now. */
export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element)
  const read = (name: string): string => style.getPropertyValue(name).trim()
  return {
    ...{ success: read('--success'), failure: read('--failure'), late: read('--late'), quiet: read('--quiet') },
    ...{ active: read('--accent'), waiting: read('--ink-3'), line: read('--line'), ink: read('--ink-2') },
    ...{ muted: read('--ink-3'), now: read('--accent'), paper: read('--paper') },
    shade: read('--late-soft'),
  }
}

/** Everything that one picture is drawn from. */
export interface Picture {
  readonly context: CanvasRenderingContext2D
  readonly width: number
  readonly height: number
  readonly view: RibbonView
  readonly now: number
  readonly ticks: readonly { readonly at: number; readonly label: string }[]
  readonly boxes: readonly Box[]
  readonly chosen: Box | null
  readonly shades: readonly RibbonShade[]
  readonly marks: readonly RibbonMark[]
  readonly palette: Palette
  readonly font: string
}

/** Draws the ribbon from nothing. */
export function draw(picture: Picture): void {
  const { context, width, height, boxes, chosen, palette } = picture
  context.clearRect(0, 0, width, height)
  for (const shade of picture.shades) drawShade(picture, shade)
  drawGrid(picture)
  for (const mark of picture.marks) drawMark(picture, mark)
  for (const box of boxes) drawBox(picture, box)
  if (chosen !== null) {
    context.strokeStyle = palette.ink
    context.lineWidth = 1.5
    context.strokeRect(chosen.x - 3, chosen.y + 4, chosen.width + 6, ROW_HEIGHT - 8)
  }
  drawNow(picture)
}

function drawGrid({ context, width, height, view, ticks, palette, font }: Picture): void {
  context.font = font
  context.textBaseline = 'middle'
  context.lineWidth = 1
  for (const { at, label } of ticks) {
    const x = Math.round(placeOf(at, { view, width })) + 0.5
    context.strokeStyle = palette.line
    line(context, [x, AXIS_HEIGHT], [x, height])
    context.fillStyle = palette.muted
    if (x + 4 + context.measureText(label).width <= width) context.fillText(label, x + 4, AXIS_HEIGHT / 2)
  }
  context.strokeStyle = palette.line
  for (let y = AXIS_HEIGHT; y <= height; y += ROW_HEIGHT) line(context, [0, y - 0.5], [width, y - 0.5])
}

type Point = readonly [x: number, y: number]

function line(context: CanvasRenderingContext2D, from: Point, to: Point): void {
  context.beginPath()
  context.moveTo(...from)
  context.lineTo(...to)
  context.stroke()
}

/** Hatched, so that it is visible without color; the parent of the ribbon names it. */
function drawShade(picture: Picture, { from, to }: RibbonShade): void {
  const { view, width, height } = picture
  const [x, end] = [placeOf(from, { view, width }), placeOf(to, { view, width })]
  if (end < 0 || x > width) return
  drawHatch(picture, { x, y: AXIS_HEIGHT, width: Math.max(2, end - x), height: height - AXIS_HEIGHT })
}

interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

function drawHatch({ context, palette, width: sheet }: Picture, area: Area): void {
  // Only what is seen: a hold without an end would be hatched for ever.
  const x = Math.max(-8, area.x)
  const end = Math.min(sheet + 8, area.x + area.width)
  const bottom = area.y + area.height
  context.save()
  context.beginPath()
  context.rect(x, area.y, end - x, area.height)
  context.clip()
  context.fillStyle = palette.shade
  context.fillRect(x, area.y, end - x, area.height)
  context.strokeStyle = palette.line
  context.lineWidth = 1
  for (let at = x - area.height; at < end; at += 8) line(context, [at, bottom], [at + area.height, area.y])
  context.restore()
}

const STRIP = 20
const FAINTEST = 0.3
const WIDEST_BAR = 10
const LOWEST = 4

/**
 * Runs of a bucket: in a dense row a strip, stronger where there are more; in a sparse one a bar, higher where there are
 * more. Failures are at the bottom and never thinner than 3 pixels. What is planned is hollow.
 */
function drawBucket(picture: Picture, box: Box, bucket: RibbonBucket): void {
  const { context, palette } = picture
  const { outcomes, planned, strength, isDense } = bucket
  const width = isDense ? box.width + 0.5 : Math.max(3, Math.min(WIDEST_BAR, box.width - 1))
  const x = isDense ? box.x : box.x + Math.max(0, (box.width - width) / 2)
  const full = isDense ? STRIP : Math.max(LOWEST, STRIP * Math.sqrt(strength))
  const bottom = box.y + (ROW_HEIGHT + STRIP) / 2
  const runs = runsIn(outcomes)
  if (runs === 0) {
    if (planned > 0) drawPlanned(picture, { x, y: bottom - full, width, height: full }, bucket)
    return
  }
  let y = bottom
  for (const outcome of OUTCOME_ORDER) {
    const count = outcomes[outcome] ?? 0
    if (count === 0) continue
    const share = (full * count) / runs
    const height = outcome === 'failure' || outcome === 'late' ? Math.max(3, share) : share
    const top = Math.max(bottom - full, y - height)
    context.globalAlpha = isDense ? FAINTEST + (1 - FAINTEST) * strength : 1
    context.fillStyle = palette[outcome]
    context.fillRect(x, top, width, y - top)
    context.globalAlpha = 1
    // Told by more than color: what failed has a notch of the ground above it.
    if (outcome === 'failure' && top > bottom - full) {
      context.fillStyle = palette.paper
      context.fillRect(x, top - 1, width, 1)
    }
    y = top
  }
}

function drawPlanned({ context, palette }: Picture, area: Area, { strength, isDense }: RibbonBucket): void {
  context.globalAlpha = isDense ? 0.08 + 0.3 * strength : 1
  context.fillStyle = palette.active
  context.strokeStyle = palette.active
  if (isDense) {
    context.fillRect(area.x, area.y, area.width, area.height)
    context.globalAlpha = 0.6
    line(context, [area.x, area.y + area.height - 0.5], [area.x + area.width, area.y + area.height - 0.5])
  } else
    context.strokeRect(area.x + 0.75, area.y + 0.75, Math.max(1.5, area.width - 1.5), Math.max(2, area.height - 1.5))
  context.globalAlpha = 1
}

function drawMark({ context, view, width, height, palette }: Picture, { at }: RibbonMark): void {
  const x = Math.round(placeOf(at, { view, width })) + 0.5
  if (x < 0 || x > width) return
  context.strokeStyle = palette.late
  context.lineWidth = 1.5
  context.setLineDash([4, 3])
  line(context, [x, AXIS_HEIGHT - 8], [x, height])
  context.setLineDash([])
}

const BAR = 12

function drawBox(picture: Picture, box: Box): void {
  const { context, palette } = picture
  const { item, x } = box
  const middle = box.y + ROW_HEIGHT / 2
  context.lineWidth = 1.5
  if (item.kind === 'bucket') {
    drawBucket(picture, box, item)
    return
  }
  if (item.kind === 'hold') {
    drawHatch(picture, { x, y: box.y + 3, width: box.width, height: ROW_HEIGHT - 6 })
    return
  }
  if (item.kind === 'coming') {
    context.strokeStyle = palette.active
    context.strokeRect(x - 1.5, middle - 6, 3, 12)
  } else if (item.kind === 'skipped') {
    context.strokeStyle = palette.quiet
    line(context, [x - 4, middle - 4], [x + 4, middle + 4])
    line(context, [x - 4, middle + 4], [x + 4, middle - 4])
  } else drawBar(picture, box, outcomeOf(item.status))
  if (!('isMarked' in item) || item.isMarked !== true) return
  const [left, right] = item.kind === 'skipped' ? [x - 5, x + 5] : [x + 1, x + box.width - 1]
  context.strokeStyle = palette.now
  context.lineWidth = 2.5
  line(context, [left, middle + 11], [Math.max(right, left + 3), middle + 11])
}

/** Full, crossed, striped, hollow: an outcome is told by how its bar is filled, not by its colour alone. */
function drawBar({ context, palette }: Picture, { x, y, width }: Box, outcome: Outcome): void {
  const top = y + (ROW_HEIGHT - BAR) / 2
  context.fillStyle = palette[outcome]
  context.strokeStyle = palette[outcome]
  if (outcome === 'quiet' || outcome === 'waiting') {
    context.setLineDash(outcome === 'waiting' ? [3, 2] : [])
    context.strokeRect(x + 0.75, top + 0.75, Math.max(2, width - 1.5), BAR - 1.5)
    context.setLineDash([])
    return
  }
  context.beginPath()
  context.roundRect(x, outcome === 'failure' ? top - 2 : top, width, outcome === 'failure' ? BAR + 4 : BAR, 2)
  context.fill()
  context.strokeStyle = palette.paper
  context.lineWidth = 1.5
  if (outcome === 'late') for (let at = x + 4; at < x + width - 1; at += 5) line(context, [at, top], [at, top + BAR])
  if (outcome === 'failure' && width >= 10) {
    const middle = x + Math.min(width, 14) / 2
    line(context, [middle - 3, top + 3], [middle + 3, top + 9])
    line(context, [middle - 3, top + 9], [middle + 3, top + 3])
  }
}

function drawNow({ context, width, height, view, now, palette }: Picture): void {
  const x = Math.round(placeOf(now, { view, width })) + 0.5
  if (x < 0 || x > width) return
  context.strokeStyle = palette.now
  context.lineWidth = 1.5
  line(context, [x, AXIS_HEIGHT - 6], [x, height])
  context.fillStyle = palette.now
  context.beginPath()
  context.moveTo(x - 4, AXIS_HEIGHT - 8)
  context.lineTo(x + 4, AXIS_HEIGHT - 8)
  context.lineTo(x, AXIS_HEIGHT - 2)
  context.fill()
}
