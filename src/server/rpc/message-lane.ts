import type { WebSocket } from 'ws'
import type { AnswerMemory } from '../http/answer-memory.ts'

/** The messages of one connection, answered in order. */
export interface MessageQueue {
  readonly put: (message: Buffer) => void
  readonly close: () => void
}

/** Above these limits, reading pauses until some messages have been answered. */
const MAX_WAITING_MESSAGES = 32
const MAX_WAITING_BYTES = 1_048_576

/**
 * Backpressure: a client that sends faster than it is answered, or does not read the responses, is not read from. An
 * unsent response blocks the next message, and waiting messages pause the connection, so memory use is limited.
 */
export function createMessageQueue(
  socket: WebSocket,
  answer: (message: Buffer) => Promise<string | null>,
  hold: AnswerMemory['hold'] = () => () => undefined,
): MessageQueue {
  const waiting: Buffer[] = []
  let bytes = 0
  let working = false
  let closed = false
  const isFull = (): boolean => waiting.length >= MAX_WAITING_MESSAGES || bytes >= MAX_WAITING_BYTES
  const work = async (): Promise<void> => {
    for (let message = waiting.shift(); message !== undefined && !closed; message = waiting.shift()) {
      bytes -= message.length
      if (socket.isPaused && !isFull()) socket.resume()
      const responseText = await answer(message)
      if (responseText === null) continue
      const release = hold(responseText.length)
      await sendOnSocket(socket, responseText).finally(release)
    }
  }
  return {
    put: (message) => {
      if (closed) return
      waiting.push(message)
      bytes += message.length
      if (isFull()) socket.pause()
      if (working) return
      working = true
      // Unexpected errors have been logged already; the connection is closed.
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

/** Sends a text. Resolves when it was sent or the connection has closed. */
export const sendOnSocket = (socket: WebSocket, text: string): Promise<void> =>
  new Promise((resolve) => {
    socket.send(text, () => {
      resolve()
    })
  })
