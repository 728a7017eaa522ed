import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Refusal } from '../../api/refusals.ts'
import { PROBLEM_TYPE, problemOf } from './problem.ts'

/** How long a client has to read the response and close the connection. */
const MAX_CLOSE_WAIT_MS = 1_000

/**
 * Writes an error response directly to a socket that has no reply object, and closes it. The timeout covers clients
 * that keep their side open.
 */
export function rejectSocket(socket: Duplex, refusal: Refusal, requestId: string): void {
  const { status, retryAfterMs, code } = refusal
  const body = JSON.stringify(problemOf(refusal, requestId))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    ...(retryAfterMs === null ? [] : [`retry-after: ${Math.max(1, Math.ceil(retryAfterMs / 1_000))}`]),
    ...(code === 'UNAUTHENTICATED' ? ['www-authenticate: Bearer realm="escapement"'] : []),
    'connection: close',
  ]
  // The client may have disconnected already.
  socket.on('error', () => undefined)
  const timer = setTimeout(() => {
    socket.destroy()
  }, MAX_CLOSE_WAIT_MS)
  socket.once('close', () => {
    clearTimeout(timer)
  })
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // Discards the remaining input: closing a connection with unread input resets it, and the response would be lost.
  socket.resume()
}
