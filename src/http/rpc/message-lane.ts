import type { WebSocket } from 'ws'
import type { AnswerMemory } from '../answer-memory.ts'

/** Messages of one connection, answered one after the other. */
export interface MessageLane {
  readonly put: (sent: Buffer) => void
  readonly close: () => void
}

/** With more than these waiting, nothing more is read until some have been answered. */
const MOST_WAITING = 32
const MOST_BYTES = 1_048_576

/**
 * Whoever sends faster than is answered, or does not read what is answered, is not read from: an answer that has not gone
 * out holds up the next message, and messages that wait hold up the connection. So nothing grows.
 */
export function createLane(
  socket: WebSocket,
  answer: (sent: Buffer) => Promise<string | null>,
  hold: AnswerMemory['hold'] = () => () => undefined,
): MessageLane {
  const waiting: Buffer[] = []
  let bytes = 0
  let working = false
  let closed = false
  const isFull = (): boolean => waiting.length >= MOST_WAITING || bytes >= MOST_BYTES
  const work = async (): Promise<void> => {
    for (let sent = waiting.shift(); sent !== undefined && !closed; sent = waiting.shift()) {
      bytes -= sent.length
      if (socket.isPaused && !isFull()) socket.resume()
      const said = await answer(sent)
      if (said === null) continue
      const release = hold(said.length)
      await send(socket, said).finally(release)
    }
  }
  return {
    put: (sent) => {
      if (closed) return
      waiting.push(sent)
      bytes += sent.length
      if (isFull()) socket.pause()
      if (working) return
      working = true
      // What nobody expected has been logged where it was answered; the connection is of no use then.
      work()
        .catch(() => {
          socket.terminate()
        })
        .finally(() => {
          working = false
        })
    },
    close: () => {
      closed = true
      waiting.length = 0
    },
  }
}

/** Sends something. Resolves when it has gone out, or the connection has ended. */
export const send = (socket: WebSocket, text: string): Promise<void> =>
  new Promise((resolve) => {
    socket.send(text, () => {
      resolve()
    })
  })
