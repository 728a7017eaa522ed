import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Limits and intervals of WebSockets. */
export interface SocketLimits {
  /** Maximum size of a message, and of the unsent data of a client. */
  readonly maxBytes: number
  /** The ping interval; a client that has not answered by the next ping is disconnected. */
  readonly pingMs: number
  /** How long clients have to disconnect on shutdown. */
  readonly leaveMs: number
  /** Maximum number of clients that have not authenticated yet. */
  readonly maxGuests: number
  /** Maximum size of a message of a client that opened its connection without credentials. */
  readonly guestBytes: number
  /** How long a client has to authenticate, and the pause after each attempt that failed. */
  readonly guestMs: number
  readonly attemptMs: number
}

export const SOCKET_LIMITS: SocketLimits = {
  ...{ maxBytes: 1_048_576, pingMs: 30_000, leaveMs: 1_000 },
  ...{ maxGuests: 64, guestBytes: 131_072, guestMs: 10_000, attemptMs: 1_000 },
}

const isWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** A request to change the protocol of an HTTP connection. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** The data received after the request headers. */
  readonly head: Buffer
}

/** The handlers of upgrades. */
export interface UpgradeHandlers {
  /** WebSocket handlers by path. */
  readonly paths: ReadonlyMap<string, (upgrade: Upgrade) => void>
  /** The handler of CONNECT requests. */
  readonly tunnel: (upgrade: Upgrade) => void
}

/** Handles WebSocket upgrades at these paths. Other upgrade requests continue as plain HTTP. */
export function onWebSocket(server: Server, { paths, tunnel }: UpgradeHandlers): void {
  const handlerFor = (request: IncomingMessage): ((upgrade: Upgrade) => void) | undefined =>
    isWebSocket(request) ? paths.get(request.url?.split('?', 1)[0] ?? '') : undefined
  // From 24.9 on, Node asks before it hands over a connection, and has read the body by then: an upgrade request with a
  // body is declined here. Node loses data after such a request, so the connection ends with the response.
  const declined = new WeakSet<IncomingMessage>()
  const shouldUpgradeCallback = (request: IncomingMessage): boolean => {
    if (handlerFor(request) !== undefined || !hasBody(request)) return true
    declined.add(request)
    return false
  }
  Object.assign(server, { shouldUpgradeCallback })
  server.prependListener('request', (request, response) => {
    if (declined.has(request)) response.shouldKeepAlive = false
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const upgrade = { request, socket, head }
    afterEarlierResponses(upgrade, handlerFor(request) ?? (() => pushBackRequest(server, upgrade)))
  })
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    afterEarlierResponses({ request, socket, head }, tunnel)
  })
}

/** The response in progress on a connection; undefined if there is none. An undocumented field of Node. */
export const responseOn = (socket: Duplex): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined

/**
 * Waits until all earlier requests of the connection have been answered, because a response written now would be taken
 * for theirs. Nothing is read meanwhile.
 */
function afterEarlierResponses(upgrade: Upgrade, handler: (upgrade: Upgrade) => void): void {
  const { socket } = upgrade
  const earlier = responseOn(socket)
  if (earlier === undefined) {
    if (!socket.destroyed) handler(upgrade)
    return
  }
  const ignore = (): void => undefined
  socket.on('error', ignore)
  earlier.once('close', () => {
    // Only until the handler has its own error listener.
    afterEarlierResponses(upgrade, handler)
    socket.off('error', ignore)
  })
}

/** Headers that only concern the upgrade. */
const OF_UPGRADE = new Set(['upgrade', 'http2-settings'])

/**
 * With an upgrade listener, Node hands over every request that offers an upgrade, and some clients offer HTTP/2 with
 * every request. A server may ignore the offer, so the request is pushed back without it and the connection is parsed
 * again.
 */
function pushBackRequest(server: Server, { request, socket, head }: Upgrade): void {
  const { method = 'GET', url = '/', httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    const lower = name.toLowerCase()
    const kept = lower === 'connection' ? withoutUpgrade(value) : value
    if (!OF_UPGRADE.has(lower) && (lower !== 'connection' || kept !== '')) lines.push(`${name}: ${kept}`)
  }
  // An earlier response may have left a timeout that nothing would clear.
  if ('setTimeout' in socket) (socket as Duplex & { setTimeout: (ms: number) => void }).setTimeout(0)
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}

/** The other options of the Connection header, such as `close`. */
const withoutUpgrade = (value: string): string =>
  value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '' && !OF_UPGRADE.has(word.toLowerCase()))
    .join(', ')
