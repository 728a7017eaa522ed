/**
 * A binary heap whose items store their index, so that any of them can be removed or moved in logarithmic time.
 * Unlike lazy deletion it leaves nothing behind: a million cancelled runs cost no memory and no later pass.
 */
export interface IndexedHeap<T extends HeapItem> {
  readonly items: T[]
  readonly isBefore: IsBefore<T>
}

/** An item that is in at most one heap at a time. */
export interface HeapItem {
  /** Its index in the heap; `NOWHERE` outside of one. */
  heapIndex: number
}

/** The position of an item that is in no heap. */
export const NOT_IN_HEAP = -1

/** Creates an empty heap with the given order. */
export const createIndexedHeap = <T extends HeapItem>(isBefore: IsBefore<T>): IndexedHeap<T> => ({
  items: [],
  isBefore,
})

/** Adds an item. */
export function addToHeap<T extends HeapItem>(heap: IndexedHeap<T>, item: T): void {
  item.heapIndex = heap.items.length
  heap.items.push(item)
  siftUp(heap, item)
}

/** Removes an item from any position. */
export function removeFromHeap<T extends HeapItem>(heap: IndexedHeap<T>, item: T): void {
  const { heapIndex } = item
  const last = heap.items.pop()
  item.heapIndex = NOT_IN_HEAP
  if (last === undefined || last === item) return
  heap.items[heapIndex] = last
  last.heapIndex = heapIndex
  updateInHeap(heap, last)
}

/** Restores the order after the key of one item has changed; all others must be in order. */
export function updateInHeap<T extends HeapItem>(heap: IndexedHeap<T>, item: T): void {
  const { heapIndex } = item
  siftUp(heap, item)
  if (item.heapIndex === heapIndex) siftDown(heap, item)
}

function siftUp<T extends HeapItem>(heap: IndexedHeap<T>, item: T): void {
  const { items, isBefore } = heap
  let hole = item.heapIndex
  while (hole > 0) {
    const above = (hole - 1) >> 1
    const parent = items[above]
    if (parent === undefined || !isBefore(item, parent)) break
    items[hole] = parent
    parent.heapIndex = hole
    hole = above
  }
  items[hole] = item
  item.heapIndex = hole
}

function siftDown<T extends HeapItem>(heap: IndexedHeap<T>, item: T): void {
  const { items, isBefore } = heap
  let hole = item.heapIndex
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
    least.heapIndex = hole
    hole = child
  }
  items[hole] = item
  item.heapIndex = hole
}

/**
 * The order of a binary heap in a plain array, whose least item is always first. The functions take the array,
 * because there are thousands of heaps of one or two items, for which objects with closures would cost too much.
 */
type IsBefore<T> = (a: T, b: T) => boolean

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

/** Removes and returns the first item. */
export function popFromHeap<T>(items: T[], isBefore: IsBefore<T>): T | undefined {
  const first = items[0]
  const last = items.pop()
  if (items.length > 0 && last !== undefined) {
    items[0] = last
    siftDownFirst(items, isBefore)
  }
  return first
}

/** Restores the order after the first item was replaced. */
function siftDownFirst<T>(items: T[], isBefore: IsBefore<T>): void {
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

/** Larger chunks are split. Moving items inside a chunk of this size costs almost nothing. */
const MAX_CHUNK = 512

/**
 * A sorted list in chunks, so that adding, removing and ranking cost a binary search and no walk over the items.
 * Items that arrive in order and leave from the front, as most queued runs do, cost one comparison. No two items may
 * compare equal, and the keys of an item must not change while it is in the list.
 */
export interface RankedList<T> {
  readonly chunks: T[][]
  readonly isBefore: IsBefore<T>
  size: number
}

/** Creates an empty list with the given order. */
export const rankedList = <T>(isBefore: IsBefore<T>): RankedList<T> => ({ chunks: [], isBefore, size: 0 })

/** Puts an item in its place. */
export function addRanked<T>(list: RankedList<T>, item: T): void {
  const { chunks } = list
  list.size += 1
  const index = chunkFor(list, item)
  const chunk = chunks[index]
  if (chunk === undefined) {
    chunks.push([item])
    return
  }
  const offset = offsetIn(list, chunk, item)
  if (offset === chunk.length) chunk.push(item)
  else chunk.splice(offset, 0, item)
  if (chunk.length <= MAX_CHUNK) return
  // The last chunk grows at its end: it is left nearly full, so that chunks of items that arrive in order stay full.
  const half = index === chunks.length - 1 ? MAX_CHUNK : MAX_CHUNK >> 1
  chunks.splice(index + 1, 0, chunk.splice(half))
}

/** Removes an item. */
export function removeRanked<T>(list: RankedList<T>, item: T): void {
  const { chunks } = list
  const isFirst = chunks[0]?.[0] === item
  const index = isFirst ? 0 : chunkFor(list, item)
  const chunk = chunks[index]
  const offset = isFirst ? 0 : chunk === undefined ? -1 : offsetIn(list, chunk, item)
  if (chunk?.[offset] !== item) throw new Error('The item to remove is not in the ranked list')
  list.size -= 1
  if (chunk.length === 1) chunks.splice(index, 1)
  else if (offset === 0) chunk.shift()
  else chunk.splice(offset, 1)
}

/** The number of items before this one. */
export function rankOf<T>(list: RankedList<T>, item: T): number {
  const index = chunkFor(list, item)
  const chunk = list.chunks[index]
  let before = chunk === undefined ? 0 : offsetIn(list, chunk, item)
  for (let at = 0; at < index; at += 1) before += list.chunks[at]?.length ?? 0
  return before
}

/** The first chunk whose last item is not before this one; the last chunk for an item after all others. */
function chunkFor<T>({ chunks, isBefore }: RankedList<T>, item: T): number {
  const last = chunks.length - 1
  const newest = chunks[last]?.at(-1)
  if (newest === undefined || isBefore(newest, item)) return Math.max(last, 0)
  let [low, high] = [0, last]
  while (low < high) {
    const middle = (low + high) >> 1
    const end = chunks[middle]?.at(-1)
    if (end !== undefined && isBefore(end, item)) low = middle + 1
    else high = middle
  }
  return low
}

/** The number of items of the chunk before this one. */
function offsetIn<T>({ isBefore }: RankedList<T>, chunk: readonly T[], item: T): number {
  const newest = chunk.at(-1)
  if (newest !== undefined && isBefore(newest, item)) return chunk.length
  let [low, high] = [0, chunk.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = chunk[middle]
    if (other !== undefined && isBefore(other, item)) low = middle + 1
    else high = middle
  }
  return low
}
