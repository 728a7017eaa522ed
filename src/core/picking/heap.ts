/**
 * A binary heap whose items know where they stand, so that any of them can leave or move in logarithmic time. Unlike
 * lazy deletion it leaves nothing behind: a million cancelled runs cost no memory and no later pass.
 */
export interface SeatHeap<T extends Seated> {
  readonly items: T[]
  readonly isBefore: IsBefore<T>
}

/** Stands in at most one heap at a time. */
export interface Seated {
  /** Its index there. `NOWHERE` outside. */
  seat: number
}

/** The seat of whoever stands in no heap. */
export const NOWHERE = -1

/** An empty heap in this order. */
export const seatHeap = <T extends Seated>(isBefore: IsBefore<T>): SeatHeap<T> => ({ items: [], isBefore })

/** Gives an item its seat. */
export function seatIn<T extends Seated>(heap: SeatHeap<T>, item: T): void {
  item.seat = heap.items.length
  heap.items.push(item)
  rise(heap, item)
}

/** Takes an item out, wherever it stands. */
export function unseat<T extends Seated>(heap: SeatHeap<T>, item: T): void {
  const { seat } = item
  const last = heap.items.pop()
  item.seat = NOWHERE
  if (last === undefined || last === item) return
  heap.items[seat] = last
  last.seat = seat
  reseat(heap, last)
}

/** Moves an item whose key has changed to where it belongs now. One at a time: all others must be in order. */
export function reseat<T extends Seated>(heap: SeatHeap<T>, item: T): void {
  const { seat } = item
  rise(heap, item)
  if (item.seat === seat) sink(heap, item)
}

function rise<T extends Seated>(heap: SeatHeap<T>, item: T): void {
  const { items, isBefore } = heap
  let hole = item.seat
  while (hole > 0) {
    const above = (hole - 1) >> 1
    const parent = items[above]
    if (parent === undefined || !isBefore(item, parent)) break
    items[hole] = parent
    parent.seat = hole
    hole = above
  }
  items[hole] = item
  item.seat = hole
}

function sink<T extends Seated>(heap: SeatHeap<T>, item: T): void {
  const { items, isBefore } = heap
  let hole = item.seat
  for (;;) {
    let child = 2 * hole + 1
    let least = items[child]
    if (least === undefined) break
    const right = items[child + 1]
    if (right !== undefined && isBefore(right, least)) {
      child += 1
      least = right
    }
    if (!isBefore(least, item)) break
    items[hole] = least
    least.seat = hole
    hole = child
  }
  items[hole] = item
  item.seat = hole
}

/**
 * A binary heap in a plain array: the least item is always first. Functions over an array, not an object with methods,
 * because there are thousands of heaps of one or two items and closures would cost more than the work.
 */
export type IsBefore<T> = (a: T, b: T) => boolean

/** Puts an item in its place. */
export function pushToHeap<T>(items: T[], item: T, isBefore: IsBefore<T>): void {
  let hole = items.length
  items.push(item)
  while (hole > 0) {
    const above = (hole - 1) >> 1
    const parent = items[above]
    if (parent === undefined || !isBefore(item, parent)) break
    items[hole] = parent
    hole = above
  }
  items[hole] = item
}

/** Takes the first item away. */
export function popFromHeap<T>(items: T[], isBefore: IsBefore<T>): T | undefined {
  const first = items[0]
  const last = items.pop()
  if (items.length > 0 && last !== undefined) {
    items[0] = last
    sinkFirst(items, isBefore)
  }
  return first
}

/** The first item has grown: lets it sink to where it belongs. */
function sinkFirst<T>(items: T[], isBefore: IsBefore<T>): void {
  const moved = items[0]
  if (moved === undefined) return
  let hole = 0
  for (;;) {
    let child = 2 * hole + 1
    let least = items[child]
    if (least === undefined) break
    const right = items[child + 1]
    if (right !== undefined && isBefore(right, least)) {
      child += 1
      least = right
    }
    if (!isBefore(least, moved)) break
    items[hole] = least
    hole = child
  }
  items[hole] = moved
}
