import { popFromHeap, pushToHeap } from '../../core/picking/heap.ts'
import type { RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { WideMap } from '../../domain/queue/large-map.ts'

/**
 * When something happens to runs by themselves: a window closes, a wait is over, a deadline passes. Kept in memory with
 * the runs; after a restart it is filled from their rows, so no timer is ever lost.
 */
export interface Timers {
  /** The run's next moment. Null: it has none. */
  readonly set: (id: RunId, at: Instant | null) => void
  /** The runs whose moment has come, at most so many; each is told once. */
  readonly takeDue: (now: Instant, max?: number) => readonly RunId[]
  readonly next: () => Instant | null
}

interface Alarm {
  readonly at: Instant
  readonly id: RunId
}

/** Alarms left behind are cleared away when they are so many more than those that count. */
const MOST_LEFT_BEHIND = 1_000

/** What has the same moment comes in the order of the ids, so that a memory that was loaded again decides the same. */
const isBefore = (a: Alarm, b: Alarm): boolean => a.at < b.at || (a.at === b.at && a.id < b.id)

export function createTimers(): Timers {
  const heap: Alarm[] = []
  // What the heap says is only good when it is said here too: changing a moment leaves the old alarm behind.
  const moments = new WideMap<RunId, Instant>()
  const isStale = (alarm: Alarm): boolean => moments.get(alarm.id) !== alarm.at
  const first = (): Alarm | undefined => {
    while (heap[0] !== undefined && isStale(heap[0])) popFromHeap(heap, isBefore)
    return heap[0]
  }
  const clear = (): void => {
    heap.length = 0
    for (const [id, at] of moments) pushToHeap(heap, { at, id }, isBefore)
  }
  return {
    set: (id, at) => {
      if (moments.get(id) === (at ?? undefined)) return
      if (at === null) {
        moments.delete(id)
        return
      }
      moments.set(id, at)
      pushToHeap(heap, { at, id }, isBefore)
      if (heap.length > 2 * moments.size + MOST_LEFT_BEHIND) clear()
    },
    takeDue: (now, max = Infinity) => {
      const due: RunId[] = []
      for (let alarm = first(); alarm !== undefined && alarm.at <= now && due.length < max; alarm = first()) {
        due.push(alarm.id)
        moments.delete(alarm.id)
      }
      return due
    },
    next: () => first()?.at ?? null,
  }
}
