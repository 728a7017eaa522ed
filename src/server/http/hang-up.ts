import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Refusal } from '../../api/refusals.ts'
import { PROBLEM_TYPE, problemOf } from '../../http/problem.ts'

/** So long somebody has to read why they were refused, and to hang up as well. */
const LONGEST_GOODBYE_MS = 1_000

/**
 * Refuses by hand, where there is no reply to do it with, and hangs up. A connection whose other side stays open would
 * otherwise be ours for as long as they like.
 */
export function hangUp(socket: Duplex, refusal: Refusal, requestId: string): void {
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
  // Whoever has gone meanwhile is just gone.
  socket.on('error', () => undefined)
  const timer = setTimeout(() => {
    socket.destroy()
  }, LONGEST_GOODBYE_MS)
  socket.once('close', () => {
    clearTimeout(timer)
  })
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // What still comes is read and thrown away: a connection that is closed with something unread is reset, and with it
  // goes what was said.
  socket.resume()
}
