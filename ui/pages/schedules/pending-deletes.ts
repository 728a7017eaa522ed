import { useSyncExternalStore } from 'react'

// Schedules whose deletion can still be undone. The delete request is sent only afterwards: closing the window in these
// ten seconds deletes nothing.

let pending: ReadonlySet<string> = new Set()
const hearers = new Set<() => void>()

function tell(next: ReadonlySet<string>): void {
  pending = next
  for (const hear of hearers) hear()
}

/** Hides schedules, as if they were gone. */
export function hide(ids: readonly string[]): void {
  tell(new Set([...pending, ...ids]))
}

/** Shows them again. */
export function unhide(ids: readonly string[]): void {
  tell(new Set([...pending].filter((id) => !ids.includes(id))))
}

function subscribe(hear: () => void): () => void {
  hearers.add(hear)
  return () => void hearers.delete(hear)
}

/** The schedules that are as good as gone. */
export const usePendingDeletes = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => pending)
