import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Instant } from '../../domain/instant.ts'
import type { HttpExchange } from '../../operations/context.ts'
import { EVENT_KINDS, type EventFilter, type EventKind } from '../../features/events/schema.ts'
import { eventOperations } from '../../features/events/routes.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { decideAccess, isPermitted, type Permission, type Principal } from '../../domain/access/access.ts'
import { admit, requirePermission } from '../../operations/perform.ts'
import { breach, visibleOwner } from '../../domain/access/restrictions.ts'
import { restrictionRefusal } from '../../features/access/restrictions.ts'
import type { EventOutlet } from '../events/client.ts'
import { isOwnable, permissionFor, readKinds, subscriptionOf, type Subscription } from '../events/filter.ts'
import { readPosition, type Position } from '../events/frames.ts'
import type { HttpContext } from './context.ts'
import { CONSOLE_COOKIE, identify } from './gate.ts'
import { readJsonBody } from './json-body.ts'
import { whenOver } from './when-over.ts'

/** The session cookie; null if the request has a key, or neither. */
function consoleCookie({ headers, server }: FastifyRequest): string | null {
  if (headers.authorization !== undefined || headers.cookie === undefined) return null
  return server.parseCookie(headers.cookie)[CONSOLE_COOKIE] ?? null
}

/** The cookie is hidden from scripts and other sites, and requires TLS if the public URL uses it. */
const attributes = ({ settings }: HttpContext) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: settings().publicUrl?.toLowerCase().startsWith('https:') === true,
  }) as const

/** Sets the cookie until the session expires. */
function setConsoleCookie(
  ctx: HttpContext,
  reply: FastifyReply,
  { cookie, expiresAt }: { readonly cookie: string; readonly expiresAt: Instant },
): void {
  void reply.setCookie(CONSOLE_COOKIE, cookie, { ...attributes(ctx), expires: new Date(expiresAt) })
}

/** Clears the cookie in the browser. */
function clearConsoleCookie(ctx: HttpContext, reply: FastifyReply): void {
  void reply.clearCookie(CONSOLE_COOKIE, attributes(ctx))
}

/** A request and its reply. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The HTTP request as operations see it. A class, because one is created for every request. */
export class HttpOperations implements HttpExchange {
  readonly #ctx: HttpContext
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor(ctx: HttpContext, { request, reply }: Exchange) {
    this.#ctx = ctx
    this.#request = request
    this.#reply = reply
  }

  get method(): string {
    return this.#request.method
  }

  get headers(): HttpExchange['headers'] {
    return this.#request.headers
  }

  get body(): unknown {
    return this.#request.body
  }

  parseJson(bytes: Uint8Array): unknown {
    return readJsonBody(Buffer.from(bytes))
  }

  cookie(): string | null {
    return consoleCookie(this.#request)
  }

  setCookie(session: Parameters<HttpExchange['setCookie']>[0]): void {
    setConsoleCookie(this.#ctx, this.#reply, session)
  }

  clearCookie(): void {
    const cookie = this.cookie()
    if (cookie !== null) this.#ctx.forgetSession(cookie)
    clearConsoleCookie(this.#ctx, this.#reply)
  }

  takeOver(): ServerResponse {
    this.#reply.hijack()
    return this.#reply.raw
  }

  streamEvents(subscription: Parameters<HttpExchange['streamEvents']>[0]): Promise<void> {
    return streamEvents(this.#ctx, this, subscription)
  }

  async sendMetrics(): Promise<void> {
    const text = await this.#ctx.metrics.render()
    await this.#reply.code(200).header('content-type', METRICS_TYPE).header('cache-control', 'no-store').send(text)
  }
}

/** Aborted when the response was sent or its connection closed. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  whenOver(raw, () => {
    gone.abort(new Error('The caller has disconnected'))
  })
  return gone.signal
}

/** The request that an event stream belongs to. */
export interface StreamExchange extends Pick<HttpExchange, 'method' | 'headers' | 'cookie'> {
  readonly takeOver: () => EventOutlet
}

/** Opens the event stream of a request. */
export async function streamEvents(
  ctx: HttpContext,
  http: StreamExchange,
  { principal, query }: { readonly principal: Principal; readonly query: EventFilter },
): Promise<void> {
  const requestedKinds = readKinds(query)
  const may = (permission: Permission): boolean => isPermitted(principal, permission)
  for (const kind of requestedKinds ?? []) requirePermission({ ctx, principal }, permissionFor(kind, may))
  rejectUnownableKinds(principal, requestedKinds)
  const kinds = requestedKinds ?? EVENT_KINDS.filter((kind) => maySee(ctx, principal, kind))
  const after = readAfter(http, query)
  const subscription = subscriptionOf(query, kinds, {
    restricted: principal.restricted,
    onlyOfSchedules: !may('runs:read'),
  })
  // A HEAD request gets the headers only.
  if (http.method === 'HEAD') return
  await ctx.events.open({
    ...{ orgId: principal.orgId, subscription, after },
    isAllowed: () => isStillAllowed(ctx, http, { kinds, wanted: subscription }),
    expiresAt: principal.expiresAt,
    takeOver: () => http.takeOver(),
  })
}

/** Rejects a restricted key that asks for kinds of events that no key can own. */
function rejectUnownableKinds({ restricted }: Principal, requestedKinds: readonly EventKind[] | null): void {
  const other = visibleOwner(restricted) === null ? undefined : requestedKinds?.find((kind) => !isOwnable(kind))
  if (other === undefined) return
  throw restrictionRefusal(
    breach('own_schedules_only', `Events of the kind ${other} are not about objects of the key`, { kind: other }),
  )
}

function maySee(ctx: HttpContext, principal: Principal, kind: EventKind): boolean {
  const { orgId } = principal
  const permission = permissionFor(kind, (one) => isPermitted(principal, one))
  return decideAccess(principal, { permission, orgId, now: ctx.ports.clock.now() }).kind === 'granted'
}

function readAfter({ headers }: StreamExchange, { last_event_id: given }: EventFilter): Position | null {
  const header = headers['last-event-id']
  const id = typeof header === 'string' ? header : given
  if (id === undefined || id === '') return null
  const position = readPosition(id)
  if (position === null)
    throw invalid([
      {
        ...{ field: typeof header === 'string' ? 'Last-Event-ID' : 'last_event_id', value: id },
        ...{ message: 'is not the id of an event', allowed: '<turn> or <turn>-<index>, as 81-3' },
      },
    ])
  return position
}

/** Repeats the access check of the start, because keys are revoked and members are removed while they listen. */
async function isStillAllowed(
  ctx: HttpContext,
  http: StreamExchange,
  { kinds, wanted: subscription }: { readonly kinds: readonly EventKind[]; readonly wanted: Subscription },
): Promise<boolean> {
  try {
    const authRequest = { method: 'GET', headers: http.headers }
    const principal = await identify(ctx, authRequest, () => http.cookie() ?? undefined)
    admit(ctx, eventOperations['events.stream'], principal)
    if (!subscription.onlyOfSchedules && !isPermitted(principal, 'runs:read')) return false
    return kinds.every((kind) => maySee(ctx, principal, kind))
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
