import type { ServerResponse } from 'node:http'

/**
 * Calls once, when a response is over: sent, or its connection closed. A response that waits behind another one of its
 * connection, as in a pipeline, is not told that the connection was closed, so the connection is asked too. Answers with how
 * to call it off.
 */
export function whenOver(outlet: ServerResponse, call: () => void): () => void {
  const { socket } = outlet.req
  const callOff = (): void => {
    socket.off('close', over)
    outlet.off('close', over)
  }
  const over = (): void => {
    callOff()
    call()
  }
  outlet.on('close', over)
  if (outlet.socket === null) {
    // Each of the responses that wait has a listener of its own.
    socket.setMaxListeners(0)
    socket.on('close', over)
  }
  if (isOver(outlet)) over()
  return callOff
}

/** Whether nobody can receive a response any more. */
export const isOver = (outlet: ServerResponse): boolean => outlet.destroyed || outlet.req.socket.destroyed
