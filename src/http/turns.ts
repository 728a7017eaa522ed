import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** From so many requests of one connection in a row on it is looked whether anything else was done between them. */
const LONG_ROW = 32
/** So many without anything else between them are too many. */
const MOST_AT_ONCE = 1_000

/**
 * Hangs up on whoever sends thousands of requests without waiting for an answer. They come in pieces of megabytes, and all
 * of a piece is answered before anybody else is looked at and before anything else is done here.
 */
export function limitPipelining(server: Server): void {
  let last: Socket | null = null
  let row = 0
  server.on('request', ({ socket }: IncomingMessage) => {
    if (socket !== last) {
      last = socket
      row = 0
    }
    row += 1
    if (row === LONG_ROW)
      setImmediate(() => {
        row = 0
      })
    if (row > MOST_AT_ONCE) socket.destroy()
  })
}
