/** What a signal that asks a process to end means; null: nothing new. */
export type StopRequest = 'drain' | 'now' | null

/** A group kill reaches the server directly and again through the process that started it. */
const SAME_REQUEST_MS = 1_000

/**
 * The first signal drains, the second ends at once. The same signal again within a second is the first one, heard twice.
 * Times are milliseconds of a counter that never goes back.
 */
export function createStopRequests(): (signal: string, atMs: number) => StopRequest {
  let first: { readonly signal: string; readonly atMs: number } | null = null
  let isEnding = false
  return (signal, atMs) => {
    if (first === null) {
      first = { signal, atMs }
      return 'drain'
    }
    if (isEnding || (signal === first.signal && atMs - first.atMs < SAME_REQUEST_MS)) return null
    isEnding = true
    return 'now'
  }
}
