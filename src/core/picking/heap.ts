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
