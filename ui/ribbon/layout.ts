import { endOfItem, type RibbonItem, type RibbonRow } from './items.ts'
import type { RibbonView } from './view.ts'

export const AXIS_HEIGHT = 26
export const ROW_HEIGHT = 30
const SMALLEST = 4

/** Where an item is drawn, in pixels. */
export interface Box {
  readonly item: RibbonItem
  readonly x: number
  readonly y: number
  readonly width: number
}

interface Sheet {
  readonly rows: readonly RibbonRow[]
  readonly view: RibbonView
  readonly width: number
  readonly now: number
}

/** The position of a time. */
export const placeOf = (at: number, { view, width }: Pick<Sheet, 'view' | 'width'>): number =>
  ((at - view.from) / view.span) * width

/** The boxes of what can be seen, in the order of time. */
export function layOut(items: readonly RibbonItem[], sheet: Sheet): readonly Box[] {
  const { rows, view, now } = sheet
  const lines = new Map(rows.map(({ id }, index) => [id, index]))
  const until = view.from + view.span
  const boxes: Box[] = []
  for (const item of items) {
    const line = lines.get(item.row)
    const end = endOfItem(item, now)
    if (line === undefined || end < view.from || item.start > until) continue
    const x = placeOf(item.start, sheet)
    const width = Math.max(item.kind === 'bucket' ? 1 : SMALLEST, placeOf(end, sheet) - x)
    boxes.push({ item, x, y: AXIS_HEIGHT + line * ROW_HEIGHT, width })
  }
  // What is behind others comes first.
  return thinned(boxes.sort((a, b) => depthOf(a) - depthOf(b) || a.item.start - b.item.start))
}

const depthOf = ({ item }: Box): number => (item.kind === 'hold' ? 0 : 1)

const APART = 5

/** Planned ticks that would run into each other are drawn as often as they can be told apart. */
function thinned(boxes: readonly Box[]): readonly Box[] {
  const last = new Map<number, number>()
  return boxes.filter(({ item, x, y }) => {
    if (item.kind !== 'coming') return true
    if (x - (last.get(y) ?? -Infinity) < APART) return false
    last.set(y, x)
    return true
  })
}

const REACH = 4

/** What is under the pointer: the nearest of those that are, so that short runs can be met too. */
export function boxAt(boxes: readonly Box[], x: number, y: number): Box | null {
  let best: Box | null = null
  let distance = REACH + 0.5
  for (const box of boxes) {
    if (y < box.y || y >= box.y + ROW_HEIGHT) continue
    const away = Math.max(box.x - x, x - (box.x + box.width), 0)
    if (away >= distance && !(away === 0 && (best === null || best.item.kind === 'hold'))) continue
    best = box
    distance = away === 0 ? 0.001 : away
  }
  return best
}
