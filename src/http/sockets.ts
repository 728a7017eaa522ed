import { randomBytes } from 'node:crypto'
import { WebSocketServer, type WebSocket } from 'ws'
import { ErrGatewayDraining, Refusal } from '../contract/refusals.ts'
import type { Principal } from '../core/access.ts'
import type { OrgId } from '../core/ids.ts'
import { admit, CONSOLE_COOKIE, identify, type Asker, type Needs } from './gate.ts'
import type { HostCheck } from './hosts.ts'
import type { Routing } from './routes.ts'
import { internal, refusalOf } from './unexpected.ts'
import { onWebSocket, refuseUpgrade, type Upgrade } from './upgrade.ts'

/** How many, how large, how often. */
export interface SocketLimits {
  readonly mostSockets: number
  readonly mostBytes: number
  /** Whoever has not answered a ping by the next one is gone. */
  readonly pingMs: number
  /** How long those who are asked to go have. */
  readonly leaveMs: number
}

const LIMITS: SocketLimits = { mostSockets: 1_000, mostBytes: 1_048_576, pingMs: 30_000, leaveMs: 1_000 }

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

interface Hub {
  readonly routing: Routing
  readonly hosts: HostCheck
  readonly limits: SocketLimits
  readonly server: WebSocketServer
  readonly clients: Set<Client>
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
    ...{ timer: null, deafen: null, closed: false },
  }
  const takers = services.map(
    (service) => [service.path, (upgrade: Upgrade) => void letIn(hub, service, upgrade)] as const,
  )
  onWebSocket(routing.app.server, new Map(takers))
  routing.app.addHook('preClose', (done) => {
    closeAll(hub)
    done()
  })
}

async function letIn(hub: Hub, service: SocketService, upgrade: Upgrade): Promise<void> {
  const { request, socket, head } = upgrade
  const name = `req_ws_${randomBytes(6).toString('hex')}`
  // Whoever goes away while it is being found out who they are is just gone.
  socket.on('error', () => undefined)
  try {
    const asker = { method: 'GET', headers: request.headers }
    const principal = await admitted(hub, service, asker)
    hub.server.handleUpgrade(request, socket, head, (made) => {
      welcome(hub, made, { service, asker, principal, name })
    })
  } catch (error) {
    const refusal = refusalOf(error) ?? internal(name)
    hub.routing.ctx.metrics.refused(refusal.code)
    refuseUpgrade(upgrade, refusal, name)
  }
}

async function admitted(hub: Hub, { needs }: SocketService, asker: Asker): Promise<Principal> {
  const { routing, hosts, clients, limits } = hub
  const { ctx, limit } = routing
  const { host, origin, authorization } = asker.headers
  hosts.check(host, origin)
  const principal = await whois(routing, asker)
  // A page cannot send our header with an upgrade. That it says where it is from, and is from here, is as good.
  if (authorization === undefined && origin === undefined)
    throw new Refusal('CSRF', 'Whoever is signed in by cookie has to say their Origin')
  limit.charge(principal.id, ctx.settings().ratePerSecond, ctx.counter())
  admit(ctx, needs, principal)
  if (hub.closed || ctx.isDraining()) throw new ErrGatewayDraining()
  if (clients.size >= limits.mostSockets)
    throw new Refusal('RATE_LIMITED', `This node has ${limits.mostSockets} sockets open and takes no more for now`, {
      retryAfterMs: 10_000,
    })
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
  socket.on('error', () => undefined)
  socket.on('close', () => {
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
