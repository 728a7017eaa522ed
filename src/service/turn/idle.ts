/** No more entries are looked at in one turn, so that letting go never takes long. */
const MAX_LOOKS = 1_000

/** A map from which idle entries leave once there are more than `limit` entries. */
export interface Evictable<Key, Value> {
  readonly entries: Map<Key, Value>
  readonly limit: number
  readonly isNeeded: (key: Key) => boolean
  readonly forget: (key: Key) => void
}

/**
 * Lets go of the entries that have been idle longest. What is needed goes to the end and is looked at again later. Once
 * there are too many, a thousand go together: every walk from the front of a map passes what was deleted there before.
 */
export function evictIdle<Key, Value>({ entries, limit, isNeeded, forget }: Evictable<Key, Value>): void {
  if (entries.size <= limit) return
  let looks = 0
  for (const [key, value] of entries) {
    looks += 1
    entries.delete(key)
    if (isNeeded(key)) entries.set(key, value)
    else forget(key)
    if (looks === MAX_LOOKS) return
  }
}
