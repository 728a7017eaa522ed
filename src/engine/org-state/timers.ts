import { popFromHeap, pushToHeap } from '../../domain/queue/heap.ts'
import type { RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'

/**
 * When something happens to runs by themselves: a debounce window closes, a wait is over, a deadline passes. Kept in
 * memory and filled from the rows of runs after a restart, so no timer is ever lost.
 */
export interface Timers {
  /** Sets the run's next time. Null: it has none. */
  readonly set: (id: RunId, at: Instant | null) => void
  /** Removes and returns the runs that are due, at most `max`. */
  readonly takeDue: (now: Instant, max?: number) => readonly RunId[]
  readonly next: () => Instant | null
}

interface Alarm {
  readonly at: Instant
  readonly id: RunId
}

/** The heap is rebuilt when it has this many outdated alarms more than valid ones. */
const MAX_STALE_ALARMS = 1_000

/** Equal times are ordered by id, so that a state that was loaded again decides the same. */
const isBefore = (a: Alarm, b: Alarm): boolean => a.at < b.at || (a.at === b.at && a.id < b.id)

export function createTimers(): Timers {
  const heap: Alarm[] = []
  // The valid time of each run: changing it leaves the old alarm in the heap.
  const times = new Map<RunId, Instant>()
  const isStale = (alarm: Alarm): boolean => times.get(alarm.id) !== alarm.at
  const first = (): Alarm | undefined => {
    while (heap[0] !== undefined && isStale(heap[0])) popFromHeap(heap, isBefore)
    return heap[0]
  }
  const clear = (): void => {
    heap.length = 0
    for (const [id, at] of times) pushToHeap(heap, { at, id }, isBefore)
  }
  return {
    set: (id, at) => {
      if (times.get(id) === (at ?? undefined)) return
      if (at === null) {
        times.delete(id)
        return
      }
      times.set(id, at)
      pushToHeap(heap, { at, id }, isBefore)
      if (heap.length > 2 * times.size + MAX_STALE_ALARMS) clear()
    },
    takeDue: (now, max = Infinity) => {
      const due: RunId[] = []
      for (let alarm = first(); alarm !== undefined && alarm.at <= now && due.length < max; alarm = first()) {
        due.push(alarm.id)
        times.delete(alarm.id)
      }
      return due
    },
    next: () => first()?.at ?? null,
  }
}
