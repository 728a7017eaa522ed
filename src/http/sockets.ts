import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { ErrGatewayDraining, Refusal } from '../api/refusals.ts'
import type { Principal } from '../domain/access/access.ts'
import type { OrgId } from '../domain/ids.ts'
import { atExpiry } from './at-expiry.ts'
import type { HttpSettings } from './context.ts'
import { admit, isOfWorkers, type Needs } from '../operations/admit.ts'
import { CONSOLE_COOKIE, identify, type Asker } from '../server/http/gate.ts'
import { hangUp } from '../server/http/hang-up.ts'
import type { HostCheck } from './hosts.ts'
import { createPlaces, type MostPlaces, type Places } from './places.ts'
import { chargeRequest } from '../server/http/rate-limit.ts'
import { checkHead } from './request-head.ts'
import type { Routing } from '../server/http/routes.ts'
import { internal, refusalOf } from './unexpected.ts'
import { onWebSocket, type Upgrade } from '../server/sockets/upgrade.ts'

/** How large, how often. */
export interface SocketLimits {
  /** Of a message, and of what waits for somebody who does not read. */
  readonly mostBytes: number
  /** Whoever has not answered a ping by the next one is gone. */
  readonly pingMs: number
  /** How long those who are asked to go have. */
  readonly leaveMs: number
}

const LIMITS: SocketLimits = { mostBytes: 1_048_576, pingMs: 30_000, leaveMs: 1_000 }

/** Closing codes: going away as RFC 6455 has it, and ours for who may not speak any more. */
const GOING_AWAY = 1001
const NO_TEXT = 1003
const SHOWN_OUT = 4401

/** What is spoken over the WebSockets of a path. */
export interface SocketService {
  readonly path: string
  /** What whoever connects must hold, and must go on holding. */
  readonly needs: Needs
  /** Somebody is there: answers with who takes their messages. */
  readonly open: (guest: SocketGuest) => SocketLane
}

/** Takes the messages of one connection. */
export interface SocketLane {
  readonly put: (sent: Buffer) => void
  readonly close: () => void
}

/** Somebody who is connected. */
export interface SocketGuest {
  readonly routing: Routing
  readonly socket: WebSocket
  /** A name for a message of theirs, as requests have one. */
  readonly nameMessage: () => string
  /** Who it is now. Whoever may not speak any more is shown out. */
  readonly standing: () => Promise<Standing>
}

interface Client {
  readonly service: SocketService
  readonly socket: WebSocket
  readonly asker: Asker
  readonly orgId: OrgId
  readonly name: string
  answersPings: boolean
}

const mostSockets = ({ limits }: HttpSettings): MostPlaces => ({ all: limits.sockets, perOrg: limits.socketsPerOrg })

interface Hub {
  readonly routing: Routing
  readonly hosts: HostCheck
  readonly limits: SocketLimits
  readonly server: WebSocketServer
  readonly clients: Set<Client>
  readonly places: Places
  timer: NodeJS.Timeout | null
  deafen: (() => void) | null
  closed: boolean
}

/** Lets people speak over WebSockets too. To be called once: every path is told apart here. */
export function addSockets(
  routing: Routing,
  hosts: HostCheck,
  { services, limits = {} }: { readonly services: readonly SocketService[]; readonly limits?: Partial<SocketLimits> },
): void {
  const all = { ...LIMITS, ...limits }
  const hub: Hub = {
    ...{ routing, hosts, limits: all, clients: new Set() },
    server: new WebSocketServer({ noServer: true, maxPayload: all.mostBytes, perMessageDeflate: false }),
    places: createPlaces('sockets', () => mostSockets(routing.ctx.settings())),
    ...{ timer: null, deafen: null, closed: false },
  }
  hub.server.on('wsClientError', ({ message }, socket) => {
    refuse(hub, { socket }, new Refusal('MALFORMED', `This is no handshake of a WebSocket: ${message}`))
  })
  const takers = services.map(
    (service) => [service.path, (upgrade: Upgrade) => void letIn(hub, service, upgrade)] as const,
  )
  onWebSocket(routing.app.server, {
    paths: new Map(takers),
    tunnel: ({ socket }) => {
      refuse(hub, { socket }, new Refusal('METHOD_NOT_ALLOWED', 'Nobody is passed on to elsewhere'))
    },
  })
  routing.app.addHook('preClose', (done) => {
    closeAll(hub)
    done()
  })
}

/** Refuses somebody who has no reply to be refused with. */
function refuse({ routing }: Hub, { socket, name = nameOne() }: Refused, refusal: Refusal): void {
  routing.ctx.metrics.refused(refusal.code)
  hangUp(socket, refusal, name)
}

interface Refused {
  readonly socket: Duplex
  readonly name?: string
}

const nameOne = (): string => `req_ws_${randomBytes(6).toString('hex')}`

async function letIn(hub: Hub, service: SocketService, upgrade: Upgrade): Promise<void> {
  const { request, socket, head } = upgrade
  const name = nameOne()
  // Whoever goes away while it is being found out who they are is just gone.
  socket.on('error', () => undefined)
  try {
    const asker = { method: 'GET', headers: request.headers }
    const principal = await admitted(hub, service, request)
    const giveBack = hub.places.take(principal.orgId)
    socket.once('close', giveBack)
    if (socket.destroyed) giveBack()
    hub.server.handleUpgrade(request, socket, head, (made) => {
      welcome(hub, made, { service, asker, principal, name })
    })
  } catch (error) {
    refuse(hub, { socket, name }, refusalOf(error) ?? internal(name))
  }
}

async function admitted(hub: Hub, { needs }: SocketService, request: IncomingMessage): Promise<Principal> {
  const { routing, hosts } = hub
  const { ctx, connections } = routing
  const { origin, authorization } = request.headers
  checkHead(request, hosts)
  connections.check(request.socket)
  const principal = await whois(routing, { method: 'GET', headers: request.headers })
  // A page cannot send our header with an upgrade. That it says where it is from, and is from here, is as good.
  if (authorization === undefined && origin === undefined)
    throw new Refusal('CSRF', 'Whoever is signed in by cookie has to say their Origin')
  if (!isOfWorkers(needs)) chargeRequest(routing, principal)
  admit(ctx, needs, principal)
  if (hub.closed || ctx.isDraining()) throw new ErrGatewayDraining()
  return principal
}

const whois = ({ app, ctx }: Routing, asker: Asker): Promise<Principal> | Principal =>
  identify(ctx, asker, (header) => app.parseCookie(header)[CONSOLE_COOKIE])

interface Guest {
  readonly service: SocketService
  readonly asker: Asker
  readonly principal: Principal
  readonly name: string
}

function welcome(hub: Hub, socket: WebSocket, { service, asker, principal, name }: Guest): void {
  const { routing } = hub
  const client: Client = { service, socket, asker, orgId: principal.orgId, name, answersPings: true }
  let messages = 0
  const lane = service.open({
    ...{ routing, socket, standing: () => stillThere(routing, client) },
    nameMessage: () => `${name}_${(messages += 1).toString(36)}`,
  })
  hub.clients.add(client)
  wake(hub)
  socket.on('pong', () => {
    client.answersPings = true
  })
  // Each is answered by itself. Whoever sends them and does not read the answers would have us keep them.
  socket.on('ping', () => {
    if (socket.bufferedAmount > hub.limits.mostBytes) socket.terminate()
  })
  socket.on('error', () => undefined)
  const callOff = atExpiry(routing.ctx.ports.clock, principal.expiresAt, () => void stillThere(routing, client))
  socket.on('close', () => {
    callOff()
    lane.close()
    hub.clients.delete(client)
    if (hub.clients.size === 0) rest(hub)
  })
  socket.on('message', (data, isBinary) => {
    if (isBinary) socket.close(NO_TEXT, 'send text')
    else lane.put(data as Buffer)
  })
  if (hub.closed) socket.close(GOING_AWAY, 'the node goes down')
}

/** Where somebody who is connected stands. */
export type Standing =
  | { readonly kind: 'there'; readonly principal: Principal }
  | { readonly kind: 'shown_out' }
  /** It could not be found out: nobody is shown out for that, and nothing is done for them either. */
  | { readonly kind: 'unknown'; readonly why: Refusal }

/** Who it is. Whoever may not speak any more is shown out. */
async function stillThere(routing: Routing, { service, socket, asker, name }: Client): Promise<Standing> {
  try {
    const principal = await whois(routing, asker)
    admit(routing.ctx, service.needs, principal)
    return { kind: 'there', principal }
  } catch (error) {
    if (!(error instanceof Refusal)) return { kind: 'unknown', why: refusalOf(error) ?? internal(name) }
    socket.close(SHOWN_OUT, 'the key or session is not good any more')
    return { kind: 'shown_out' }
  }
}

/** While anybody is there, their connections are looked after. */
function wake(hub: Hub): void {
  hub.timer ??= setInterval(() => {
    beat(hub)
  }, hub.limits.pingMs).unref()
  hub.deafen ??= hub.routing.ctx.hearAccess((orgId) => {
    review(hub, orgId)
  })
}

function rest(hub: Hub): void {
  if (hub.timer !== null) clearInterval(hub.timer)
  hub.timer = null
  hub.deafen?.()
  hub.deafen = null
}

function beat(hub: Hub): void {
  for (const client of hub.clients) {
    if (!client.answersPings) client.socket.terminate()
    else {
      client.answersPings = false
      client.socket.ping()
    }
  }
  review(hub, null)
}

/** Shows those out who may not speak any more. */
function review({ routing, clients }: Hub, orgId: OrgId | null): void {
  for (const client of clients) if (orgId === null || client.orgId === orgId) void stillThere(routing, client)
}

function closeAll(hub: Hub): void {
  hub.closed = true
  for (const { socket } of hub.clients) socket.close(GOING_AWAY, 'the node goes down')
  setTimeout(() => {
    for (const { socket } of hub.clients) socket.terminate()
  }, hub.limits.leaveMs).unref()
}
