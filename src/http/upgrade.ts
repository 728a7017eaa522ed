import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Refusal } from '../contract/refusals.ts'
import { PROBLEM_TYPE, problemOf } from './problem.ts'

const isWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/** Somebody wants to speak in another way on a connection that has been one of HTTP. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What has come after the head of the request. */
  readonly head: Buffer
}

/** Takes over those who want a WebSocket at one of these paths. Everybody else goes on as if they had not asked. */
export function onWebSocket(server: Server, takers: ReadonlyMap<string, (upgrade: Upgrade) => void>): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const upgrade = { request, socket, head }
    const take = isWebSocket(request) ? takers.get(request.url?.split('?', 1)[0] ?? '') : undefined
    if (take === undefined) handBack(server, upgrade)
    else take(upgrade)
  })
}

/** What only concerns the change of protocol. */
const OF_UPGRADE = new Set(['upgrade', 'connection', 'http2-settings'])

/**
 * Once anybody listens for upgrades, the server of Node hands over every request that offers one, and some clients offer
 * HTTP/2 with everything they send. A server may decline by just answering: the request is put back without the offer,
 * and the connection begins anew with it.
 */
function handBack(server: Server, { request, socket, head }: Upgrade): void {
  const { method = 'GET', url = '/', httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    if (!OF_UPGRADE.has(name.toLowerCase())) lines.push(`${name}: ${value}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}

/** Refuses an upgrade by hand: there is no reply to do it with. */
export function refuseUpgrade({ socket }: Pick<Upgrade, 'socket'>, refusal: Refusal, requestId: string): void {
  const body = JSON.stringify(problemOf(refusal, requestId))
  const { status, retryAfterMs, code } = refusal
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    ...(retryAfterMs === null ? [] : [`retry-after: ${Math.max(1, Math.ceil(retryAfterMs / 1_000))}`]),
    ...(code === 'UNAUTHENTICATED' ? ['www-authenticate: Bearer realm="escapement"'] : []),
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
