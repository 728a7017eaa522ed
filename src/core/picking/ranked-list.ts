import type { IsBefore } from './heap.ts'

/** Chunks of more items are split. Items are moved inside one chunk only, which costs next to nothing up to this size. */
const MAX_CHUNK = 512

/**
 * Items in order, kept in chunks so that entering, leaving and asking for a rank cost a binary search and no walk over
 * the items. Items that come in order and leave from the front, as most queued runs do, cost one comparison. No two items
 * may be equal in the order, and the keys of an item must not change while it is in the list.
 */
export interface RankedList<T> {
  readonly chunks: T[][]
  readonly isBefore: IsBefore<T>
  size: number
}

/** An empty list in this order. */
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
  const place = placeIn(list, chunk, item)
  if (place === chunk.length) chunk.push(item)
  else chunk.splice(place, 0, item)
  if (chunk.length <= MAX_CHUNK) return
  // The last chunk grows at its end: left nearly full, chunks of items that come in order stay so.
  const half = index === chunks.length - 1 ? MAX_CHUNK : MAX_CHUNK >> 1
  chunks.splice(index + 1, 0, chunk.splice(half))
}

/** Takes an item out of the list. */
export function removeRanked<T>(list: RankedList<T>, item: T): void {
  const { chunks } = list
  const isFirst = chunks[0]?.[0] === item
  const index = isFirst ? 0 : chunkFor(list, item)
  const chunk = chunks[index]
  const place = isFirst ? 0 : chunk === undefined ? -1 : placeIn(list, chunk, item)
  if (chunk?.[place] !== item) throw new Error('an item that is to leave a ranked list is not in it')
  list.size -= 1
  if (chunk.length === 1) chunks.splice(index, 1)
  else if (place === 0) chunk.shift()
  else chunk.splice(place, 1)
}

/** How many items of the list come before this one. */
export function rankOf<T>(list: RankedList<T>, item: T): number {
  const index = chunkFor(list, item)
  const chunk = list.chunks[index]
  let before = chunk === undefined ? 0 : placeIn(list, chunk, item)
  for (let at = 0; at < index; at += 1) before += list.chunks[at]?.length ?? 0
  return before
}

/** The first chunk whose last item does not come before this one; the last chunk for an item behind all. */
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

/** How many items of the chunk come before this one. */
function placeIn<T>({ isBefore }: RankedList<T>, chunk: readonly T[], item: T): number {
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
