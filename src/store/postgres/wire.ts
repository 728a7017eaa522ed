import type { Writable } from 'node:stream'
import type { ClientBase } from 'pg'

/** Messages to the server that follow each other soon, sent together: each write costs a system call and wakes the server. */
export interface Wire {
  /** What is written from now on waits for `flush`, or for the next turn of the event loop. */
  readonly hold: () => void
  /** Sends what is held if there is much of it. */
  readonly flushIfMuch: () => void
  readonly flush: () => void
}

/** So much is sent at once: the server can begin with it while the rest is decided. */
const ENOUGH_BYTES = 8 << 10

export function openWire(client: ClientBase): Wire {
  // In the type of the driver it is missing, and TLS replaces it, so that it is asked for again each time.
  const stream = (): Writable => (client as unknown as { readonly connection: { stream: Writable } }).connection.stream
  let held: Writable | null = null
  const flush = (): void => {
    const corked = held
    held = null
    corked?.uncork()
  }
  return {
    hold: () => {
      if (held !== null) return
      held = stream()
      held.cork()
      // What is not flushed in time must not wait for ever.
      setImmediate(flush)
    },
    flushIfMuch: () => {
      if (held !== null && held.writableLength >= ENOUGH_BYTES) flush()
    },
    flush,
  }
}
