import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

const isWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Somebody wants to speak in another way on a connection that has been one of HTTP. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What has come after the head of the request. */
  readonly head: Buffer
}

/** Who takes over what. */
export interface Takers {
  /** WebSockets, by their path. */
  readonly paths: ReadonlyMap<string, (upgrade: Upgrade) => void>
  /** Those who want to be passed on to somewhere else. */
  readonly tunnel: (upgrade: Upgrade) => void
}

/** Takes over those who want a WebSocket at one of these paths. Everybody else goes on as if they had not asked. */
export function onWebSocket(server: Server, { paths, tunnel }: Takers): void {
  const takerOf = (request: IncomingMessage): ((upgrade: Upgrade) => void) | undefined =>
    isWebSocket(request) ? paths.get(request.url?.split('?', 1)[0] ?? '') : undefined
  // From 24.9 on Node asks before it hands over anything, and has read the body by then: an offer with one is declined here.
  // Node loses what comes behind such a request, so the connection ends with the answer.
  const declined = new WeakSet<IncomingMessage>()
  const shouldUpgradeCallback = (request: IncomingMessage): boolean => {
    if (takerOf(request) !== undefined || !hasBody(request)) return true
    declined.add(request)
    return false
  }
  Object.assign(server, { shouldUpgradeCallback })
  server.prependListener('request', (request, response) => {
    if (declined.has(request)) response.shouldKeepAlive = false
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const upgrade = { request, socket, head }
    inTurn(upgrade, takerOf(request) ?? (() => handBack(server, upgrade)))
  })
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    inTurn({ request, socket, head }, tunnel)
  })
}

/** The answer that is being given on a connection; undefined when there is none. Node keeps it there and says so nowhere. */
export const answerOn = (socket: Duplex): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined

/**
 * Waits until everything that was asked before on the same connection has been answered: what would be said now would be
 * taken for the answer to that. Nothing is read meanwhile.
 */
function inTurn(upgrade: Upgrade, take: (upgrade: Upgrade) => void): void {
  const { socket } = upgrade
  const earlier = answerOn(socket)
  if (earlier === undefined) {
    if (!socket.destroyed) take(upgrade)
    return
  }
  const ignore = (): void => undefined
  socket.on('error', ignore)
  earlier.once('close', () => {
    // Until somebody else listens for them.
    inTurn(upgrade, take)
    socket.off('error', ignore)
  })
}

/** What only concerns the change of protocol. */
const OF_UPGRADE = new Set(['upgrade', 'http2-settings'])

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
    const lower = name.toLowerCase()
    const kept = lower === 'connection' ? withoutUpgrade(value) : value
    if (!OF_UPGRADE.has(lower) && (lower !== 'connection' || kept !== '')) lines.push(`${name}: ${kept}`)
  }
  // An earlier answer may have left a clock running that nobody would stop any more.
  if ('setTimeout' in socket) (socket as Duplex & { setTimeout: (ms: number) => void }).setTimeout(0)
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}

/** What else was said about the connection, such as that it ends with the answer. */
const withoutUpgrade = (value: string): string =>
  value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '' && !OF_UPGRADE.has(word.toLowerCase()))
    .join(', ')
