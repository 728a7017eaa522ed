import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { ErrGatewayDraining, Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import { atExpiry } from '../http/when-over.ts'
import type { HttpSettings } from '../http/context.ts'
import { admit, isWorkerCall, type AccessRules } from '../../operations/perform.ts'
import { CONSOLE_COOKIE, identify, type AuthRequest } from '../http/gate.ts'
import { rejectSocket } from '../http/hang-up.ts'
import { checkHead, type HostCheck } from '../http/hosts.ts'
import { createSlotCounter, type SlotLimits, type SlotCounter } from '../http/limited.ts'
import { chargeRequest } from '../http/rate-limit.ts'
import type { Routing } from '../http/routes.ts'
import { internalError, refusalOf } from '../http/problem.ts'
import { onWebSocket, SOCKET_LIMITS, type SocketLimits, type Upgrade } from './upgrade.ts'

/** Close codes: going away and unsupported data of RFC 6455, and our own for a client that is no longer authorized. */
const GOING_AWAY = 1001
const UNSUPPORTED_DATA = 1003
const ACCESS_LOST = 4401

/** A protocol over WebSockets at one path. */
export interface SocketService {
  readonly path: string
  /** The access requirements, checked when a client connects and while it is connected. */
  readonly needs: AccessRules
  /**
   * Reads the credentials of a client that has sent none with the upgrade from its first message. Without it, every
   * client must authenticate with the upgrade.
   */
  readonly guest?: (message: Buffer, about: { readonly version: string; readonly requestId: string }) => GuestMessage
  /** Called for a new connection; returns the receiver of its messages. */
  readonly open: (connection: SocketConnection) => MessageReceiver
}

/** What a client without credentials has sent: a token, or something else. */
export type GuestMessage = {
  /** The response to a client that is not admitted. */
  readonly refuse: (refusal: Refusal) => string
} & ({ readonly token: string; readonly accept: (principal: Principal) => string } | { readonly flaw: Refusal })

/** Receives the messages of one connection. */
export interface MessageReceiver {
  readonly put: (sent: Buffer) => void
  readonly close: () => void
}

/** A connected client. */
export interface SocketConnection {
  readonly routing: Routing
  readonly socket: WebSocket
  /** Creates a request id for a message. */
  readonly nameMessage: () => string
  /** Checks access again; a client that is no longer authorized is disconnected. */
  readonly checkAccess: () => Promise<ClientAccess>
}

interface SocketClient {
  readonly service: SocketService
  readonly socket: WebSocket
  readonly authRequest: AuthRequest
  readonly orgId: OrgId
  readonly name: string
  answersPings: boolean
}

const socketLimits = ({ limits }: HttpSettings): SlotLimits => ({ all: limits.sockets, perOrg: limits.socketsPerOrg })

interface SocketHub {
  readonly routing: Routing
  readonly hosts: HostCheck
  readonly limits: SocketLimits
  readonly server: WebSocketServer
  readonly guestServer: WebSocketServer
  /** The clients that have not authenticated yet. */
  readonly guests: Set<Duplex>
  readonly clients: Set<SocketClient>
  readonly slots: SlotCounter
  timer: NodeJS.Timeout | null
  stopListening: (() => void) | null
  closed: boolean
}

/** Adds WebSocket services. Call it once, because it dispatches all paths. */
export function addSockets(
  routing: Routing,
  hosts: HostCheck,
  { services, limits = {} }: { readonly services: readonly SocketService[]; readonly limits?: Partial<SocketLimits> },
): void {
  const all = { ...SOCKET_LIMITS, ...limits }
  const hub: SocketHub = {
    ...{ routing, hosts, limits: all, clients: new Set(), guests: new Set() },
    server: new WebSocketServer({ noServer: true, maxPayload: all.maxBytes, perMessageDeflate: false }),
    guestServer: new WebSocketServer({ noServer: true, maxPayload: all.guestBytes, perMessageDeflate: false }),
    slots: createSlotCounter('sockets', () => socketLimits(routing.ctx.settings())),
    ...{ timer: null, stopListening: null, closed: false },
  }
  for (const server of [hub.server, hub.guestServer])
    server.on('wsClientError', ({ message }, socket) => {
      rejectUpgrade(hub, { socket }, new Refusal('MALFORMED', `Invalid WebSocket handshake: ${message}`))
    })
  const handlers = services.map(
    (service) => [service.path, (upgrade: Upgrade) => void acceptUpgrade(hub, service, upgrade)] as const,
  )
  onWebSocket(routing.app.server, {
    paths: new Map(handlers),
    tunnel: ({ socket }) => {
      rejectUpgrade(hub, { socket }, new Refusal('METHOD_NOT_ALLOWED', 'The method CONNECT is not supported'))
    },
  })
  routing.app.addHook('preClose', (done) => {
    closeAll(hub)
    done()
  })
}

/** Rejects a socket that has no HTTP response. */
function rejectUpgrade(
  { routing }: SocketHub,
  { socket, name = newRequestName() }: RejectedSocket,
  refusal: Refusal,
): void {
  routing.ctx.metrics.countRefusal(refusal.code)
  rejectSocket(socket, refusal, name)
}

interface RejectedSocket {
  readonly socket: Duplex
  readonly name?: string
}

const newRequestName = (): string => `req_ws_${randomBytes(6).toString('hex')}`

async function acceptUpgrade(hub: SocketHub, service: SocketService, upgrade: Upgrade): Promise<void> {
  const { request, socket, head } = upgrade
  const name = newRequestName()
  // The client may disconnect during authentication.
  socket.on('error', () => undefined)
  try {
    if (service.guest !== undefined && request.headers.authorization === undefined) {
      acceptGuest(hub, service, { upgrade, name })
      return
    }
    const authRequest = { method: 'GET', headers: request.headers }
    const principal = await admitUpgrade(hub, service, request)
    const release = hub.slots.acquire(principal.orgId)
    socket.once('close', release)
    if (socket.destroyed) release()
    hub.server.handleUpgrade(request, socket, head, (created) => {
      startSocket(hub, created, { service, authRequest, principal, name })
    })
  } catch (error) {
    rejectUpgrade(hub, { socket, name }, refusalOf(error) ?? internalError(name))
  }
}

async function admitUpgrade(hub: SocketHub, { needs }: SocketService, request: IncomingMessage): Promise<Principal> {
  const { routing, hosts } = hub
  const { ctx, connections } = routing
  const { origin, authorization } = request.headers
  checkHead(request, hosts)
  connections.check(request.socket)
  const principal = await identifyRequest(routing, { method: 'GET', headers: request.headers })
  // Browsers cannot send the CSRF header with an upgrade, so the Origin, which is checked above, replaces it.
  if (authorization === undefined && origin === undefined)
    throw new Refusal('CSRF', 'A request with a session cookie requires an Origin header')
  if (!isWorkerCall(needs)) chargeRequest(routing, principal)
  admit(ctx, needs, principal)
  if (hub.closed || ctx.isDraining()) throw new ErrGatewayDraining()
  return principal
}

/** Opens a connection that has not authenticated. What it may do until then is limited. */
function acceptGuest(
  hub: SocketHub,
  service: SocketService,
  { upgrade: { request, socket, head }, name }: { readonly upgrade: Upgrade; readonly name: string },
): void {
  const { routing, hosts, guests, limits } = hub
  checkHead(request, hosts)
  routing.connections.check(request.socket)
  if (hub.closed || routing.ctx.isDraining()) throw new ErrGatewayDraining()
  if (guests.size >= limits.maxGuests)
    throw new Refusal('RATE_LIMITED', 'Too many connections of this node have not authenticated', {
      retryAfterMs: limits.attemptMs,
    })
  guests.add(socket)
  socket.once('close', () => guests.delete(socket))
  hub.guestServer.handleUpgrade(request, socket, head, (created) => {
    receiveGuest(hub, created, { service, name, stream: socket })
  })
}

interface GuestSocket {
  readonly service: SocketService
  readonly name: string
  readonly stream: Duplex
}

/** The messages that a client may send with its first one. */
const MAX_EARLY_MESSAGES = 32

/** Reads one message at a time, until one of them authenticates the client. */
function receiveGuest(hub: SocketHub, socket: WebSocket, { service, name, stream }: GuestSocket): void {
  const { guestMs, attemptMs } = hub.limits
  const timeout = setTimeout(() => {
    socket.close(ACCESS_LOST, 'connect within 10 seconds')
    setTimeout(() => stream.destroy(), hub.limits.leaveMs).unref()
  }, guestMs).unref()
  const stop = (): void => {
    clearTimeout(timeout)
    hub.guests.delete(stream)
    socket.off('message', receive)
  }
  // Messages that were parsed together with one that is being answered arrive although the socket is paused.
  const waiting: Buffer[] = []
  let isBusy = false
  const answer = async (data: Buffer): Promise<void> => {
    const message = service.guest?.(data, { version: hub.routing.ctx.version, requestId: name })
    if (message === undefined) return
    const admitted = await admitGuest(hub, service, { stream, message })
    if (socket.readyState !== socket.OPEN) return
    if (!(admitted instanceof Refusal)) {
      stop()
      startSocket(hub, socket, { service, ...admitted, name })
      if ('accept' in message) socket.send(message.accept(admitted.principal))
      for (const early of waiting.splice(0)) socket.emit('message', early, false)
      socket.resume()
      return
    }
    hub.routing.ctx.metrics.countRefusal(admitted.code)
    socket.send(message.refuse(admitted))
    setTimeout(() => {
      isBusy = false
      const next = waiting.shift()
      if (next === undefined) socket.resume()
      else receive(next, false)
    }, attemptMs).unref()
  }
  const receive = (data: unknown, isBinary: boolean): void => {
    if (isBinary) socket.close(UNSUPPORTED_DATA, 'send text')
    else if (!isBusy) {
      isBusy = true
      socket.pause()
      void answer(data as Buffer)
    } else if (waiting.push(data as Buffer) > MAX_EARLY_MESSAGES) socket.terminate()
  }
  socket.on('error', () => undefined)
  socket.on('close', stop)
  socket.on('message', receive)
}

/** Authenticates the token of a message, and takes a slot of its org. */
async function admitGuest(
  hub: SocketHub,
  { needs }: SocketService,
  { stream, message }: { readonly stream: Duplex; readonly message: GuestMessage },
): Promise<Pick<AdmittedSocket, 'authRequest' | 'principal'> | Refusal> {
  const { routing, slots } = hub
  try {
    if ('flaw' in message) return message.flaw
    const authRequest = { method: 'GET', headers: { authorization: `Bearer ${message.token}` } }
    const principal = await identifyRequest(routing, authRequest)
    chargeRequest(routing, principal)
    admit(routing.ctx, needs, principal)
    const release = slots.acquire(principal.orgId)
    stream.once('close', release)
    if (stream.destroyed) release()
    return { authRequest, principal }
  } catch (error) {
    return refusalOf(error) ?? internalError('')
  }
}

const identifyRequest = ({ app, ctx }: Routing, authRequest: AuthRequest): Promise<Principal> | Principal =>
  identify(ctx, authRequest, (header) => app.parseCookie(header)[CONSOLE_COOKIE])

interface AdmittedSocket {
  readonly service: SocketService
  readonly authRequest: AuthRequest
  readonly principal: Principal
  readonly name: string
}

function startSocket(
  hub: SocketHub,
  socket: WebSocket,
  { service, authRequest, principal, name }: AdmittedSocket,
): void {
  const { routing } = hub
  const client: SocketClient = { service, socket, authRequest, orgId: principal.orgId, name, answersPings: true }
  let messages = 0
  const receiver = service.open({
    ...{ routing, socket, checkAccess: () => checkClient(routing, client) },
    nameMessage: () => `${name}_${(messages += 1).toString(36)}`,
  })
  hub.clients.add(client)
  startTimers(hub)
  socket.on('pong', () => {
    client.answersPings = true
  })
  // Pings are answered automatically. A client that sends them and does not read the answers would fill memory.
  socket.on('ping', () => {
    if (socket.bufferedAmount > hub.limits.maxBytes) socket.terminate()
  })
  socket.on('error', () => undefined)
  const cancelExpiry = atExpiry(routing.ctx.ports.clock, principal.expiresAt, () => void checkClient(routing, client))
  socket.on('close', () => {
    cancelExpiry()
    receiver.close()
    hub.clients.delete(client)
    if (hub.clients.size === 0) stopTimers(hub)
  })
  socket.on('message', (data, isBinary) => {
    if (isBinary) socket.close(UNSUPPORTED_DATA, 'send text')
    else receiver.put(data as Buffer)
  })
  if (hub.closed) socket.close(GOING_AWAY, 'the node is shutting down')
}

/** The access of a connected client. */
export type ClientAccess =
  | { readonly kind: 'there'; readonly principal: Principal }
  | { readonly kind: 'shown_out' }
  /** The check failed: the client stays connected, but its messages are rejected. */
  | { readonly kind: 'unknown'; readonly why: Refusal }

/** Checks access; a client that is no longer authorized is disconnected. */
async function checkClient(
  routing: Routing,
  { service, socket, authRequest, name }: SocketClient,
): Promise<ClientAccess> {
  try {
    const principal = await identifyRequest(routing, authRequest)
    admit(routing.ctx, service.needs, principal)
    return { kind: 'there', principal }
  } catch (error) {
    if (!(error instanceof Refusal)) return { kind: 'unknown', why: refusalOf(error) ?? internalError(name) }
    socket.close(ACCESS_LOST, 'the key or session is no longer valid')
    return { kind: 'shown_out' }
  }
}

/** Pings and access checks run while there are clients. */
function startTimers(hub: SocketHub): void {
  hub.timer ??= setInterval(() => {
    pingClients(hub)
  }, hub.limits.pingMs).unref()
  hub.stopListening ??= hub.routing.ctx.onAccessChange((orgId) => {
    reviewSockets(hub, orgId)
  })
}

function stopTimers(hub: SocketHub): void {
  if (hub.timer !== null) clearInterval(hub.timer)
  hub.timer = null
  hub.stopListening?.()
  hub.stopListening = null
}

function pingClients(hub: SocketHub): void {
  for (const client of hub.clients) {
    if (!client.answersPings) client.socket.terminate()
    else {
      client.answersPings = false
      client.socket.ping()
    }
  }
  reviewSockets(hub, null)
}

/** Disconnects clients that are no longer authorized. */
function reviewSockets({ routing, clients }: SocketHub, orgId: OrgId | null): void {
  for (const client of clients) if (orgId === null || client.orgId === orgId) void checkClient(routing, client)
}

function closeAll(hub: SocketHub): void {
  hub.closed = true
  for (const { socket } of hub.clients) socket.close(GOING_AWAY, 'the node is shutting down')
  for (const guest of hub.guests) guest.destroy()
  setTimeout(() => {
    for (const { socket } of hub.clients) socket.terminate()
  }, hub.limits.leaveMs).unref()
}
