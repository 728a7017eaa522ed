import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Answer, OperationSpec, OperationTable } from '../contract/operations/operation.ts'
import { ErrGatewayDraining, invalid, Refusal } from '../contract/refusals.ts'
import type { Principal } from '../core/access.ts'
import type { AnswerMemory } from './answer-memory.ts'
import type { Call, Handler } from './call.ts'
import { callerFrom } from './caller-from.ts'
import type { Connections } from './connections.ts'
import type { HttpContext } from './context.ts'
import { hasTag, readIfMatch, tagOf } from './entity-tag.ts'
import { admit, admitTo, CONSOLE_COOKIE, identify, isOfWorkers, type Needs } from './gate.ts'
import type { ContextOf } from './org-connections.ts'
import { bodyBytes, chargeRequest, type RateLimit } from './rate-limit.ts'
import { readersOf, type Readers } from '../contract/read-input.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body is handed over as it came. */
    raw?: boolean
  }
  interface FastifyRequest {
    /** Who asks, once the gate has been passed. */
    principal: Principal | null
  }
}

/** What routes are made from. */
export interface Routing {
  readonly app: FastifyInstance
  readonly ctx: HttpContext
  readonly limit: RateLimit
  readonly connections: Connections
  readonly answers: AnswerMemory
  readonly contextOf: ContextOf
}

type AnyHandler = Handler<OperationSpec>
interface Route {
  readonly id: string
  readonly spec: OperationSpec
  readonly handler: AnyHandler
  readonly readers: () => Readers
  /** The status of every answer, unless the handler says which. */
  readonly status: number | null
}

/** Registers a route for each operation, and 405 for the other methods of their paths. */
export function addRoutes(
  routing: Routing,
  table: OperationTable,
  handlers: Readonly<Record<string, (call: never) => unknown>>,
): void {
  const methods = new Map<string, Set<HTTPMethods>>()
  for (const [id, spec] of Object.entries(table)) {
    const handler = handlers[id]
    if (handler === undefined) throw new Error(`nobody carries out ${id}`)
    addRoute(routing, routeOf(id, spec, handler as AnyHandler))
    const known = methods.get(spec.path) ?? new Set()
    methods.set(spec.path, known.add(spec.method))
    if (spec.method === 'GET') known.add('HEAD')
  }
  for (const [url, known] of methods) refuseOthers(routing.app, url, known)
}

function routeOf(id: string, spec: OperationSpec, handler: AnyHandler): Route {
  const statuses = Object.keys(spec.answers).map(Number)
  // Made when first asked for: all of them together would take a tenth of a start.
  let made: Readers | null = null
  const readers = (): Readers => (made ??= readersOf(spec))
  return { id, spec, handler, readers, status: statuses.length === 1 ? (statuses[0] ?? null) : null }
}

function addRoute(routing: Routing, route: Route): void {
  const { app, contextOf } = routing
  const { method, path: url } = route.spec
  app.route({
    ...{ method, url, config: { raw: route.spec.raw === true } },
    ...(route.spec.permission === 'none' ? {} : { onRequest: doorOf(routing, route.spec) }),
    handler: (request, reply) => handle(contextOf(request.principal), route, { request, reply }),
  })
}

type Gate = ReturnType<typeof gateOf>

/** Most doors have a gate; some have none where nobody but this machine can come. */
function doorOf(routing: Routing, spec: OperationSpec): Gate {
  const gate = gateOf(routing, spec)
  if (spec.openInPrivate !== true) return gate
  return (request, reply, done) => {
    routing.ctx.metrics.isPrivate().then((isPrivate) => {
      if (isPrivate) done()
      else gate(request, reply, done)
    }, done)
  }
}

/** Before the body is read: who asks, may they, and not too often. */
export function gateOf(routing: Routing, spec: Needs) {
  const { app, ctx } = routing
  const pass = (request: FastifyRequest, principal: Principal): void => {
    if (!isOfWorkers(spec)) chargeRequest(routing, principal, bodyBytes(request, app.initialConfig.bodyLimit ?? 0))
    admit(ctx, spec, principal)
    request.principal = principal
  }
  const readCookie = (header: string): string | undefined => app.parseCookie(header)[CONSOLE_COOKIE]
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    const refuse = (error: Error): void => routing.limit.refuse(error, done)
    try {
      const found = identify(ctx, request, readCookie)
      if (!(found instanceof Promise)) {
        pass(request, found)
        done()
        return
      }
      found.then((principal) => pass(request, principal)).then(() => done(), refuse)
    } catch (error) {
      refuse(error as Error)
    }
  }
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

async function handle(ctx: HttpContext, route: Route, exchange: Exchange): Promise<unknown> {
  const { spec, handler } = route
  const { reply, request } = exchange
  const call = callOf(ctx, route, exchange)
  const { principal } = request
  if (principal?.railed !== undefined) await admitTo(ctx, spec, { principal, id: idIn(call.params) })
  if (spec.newWork === true && ctx.isDraining()) throw new ErrGatewayDraining()
  const answered = await (spec.admits === true ? traced(ctx, route, call) : handler(call))
  // A handler that streams has taken the connection over.
  if (reply.sent) return reply
  const { status, body } =
    route.status === null ? (answered as Answer<number, unknown>) : { status: route.status, body: answered }
  if (spec.etag === true && isTagged(exchange, body)) return reply.code(304).send()
  return reply.code(status).send(status === 204 ? undefined : body)
}

/** What an operation is about: no path names more than one thing. */
const idIn = (params: unknown): unknown => Object.values(params as Readonly<Record<string, unknown>>)[0]

/** What a request hands in belongs to its trace, if it has one or anybody listens. */
function traced(ctx: HttpContext, { id, handler }: Route, call: Call<OperationSpec>): unknown {
  return ctx.admit(id, call.request.headers['traceparent'], (trace) =>
    handler(trace === null ? call : { ...call, caller: { ...call.caller, trace } }),
  )
}

/** Puts the version of what is answered into its header. True when the caller has it already. */
function isTagged({ request, reply }: Exchange, body: unknown): boolean {
  const version = typeof body === 'object' && body !== null && 'version' in body ? body.version : null
  if (typeof version !== 'number') return false
  const tag = tagOf(version)
  reply.header('etag', tag)
  return request.method === 'GET' && hasTag(request.headers['if-none-match'], tag)
}

function callOf(ctx: HttpContext, route: Route, { request, reply }: Exchange): Call<OperationSpec> {
  const { spec } = route
  const readers = route.readers()
  const { principal } = request
  const params = readers.params === null ? {} : readers.params(request.params)
  const query = readers.query(request.query)
  const body = readers.body === null ? undefined : readers.body(request.body)
  const key = spec.creates === true ? request.headers['idempotency-key'] : undefined
  // A repetition is recognized by what was sent, so that reading it in another way does not make it another request.
  const sent = request.body ?? body
  const once =
    key === undefined ? undefined : { route: route.id, key: readKey(key), body: { params, query, body: sent } }
  const caller = callerFrom(principal, once)
  const ifMatch = spec.etag === true ? readIfMatch(request.headers['if-match']) : undefined
  return {
    ctx,
    ports: ctx.ports,
    caller,
    principal,
    params,
    query,
    body,
    ifMatch,
    request,
    reply,
  } as Call<OperationSpec>
}

const MOST_KEY = 512

/** Reads an idempotency key. */
export function readKey(given: string | readonly string[]): string {
  const allowed = `1 to ${MOST_KEY} characters`
  if (typeof given === 'string' && given.length > 0 && given.length <= MOST_KEY) return given
  throw invalid([{ field: 'Idempotency-Key', value: undefined, message: 'is not an idempotency key', allowed }])
}

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Tells whoever comes to an address with another method which ones there are. */
export function refuseOthers(app: FastifyInstance, url: string, known: ReadonlySet<HTTPMethods>): void {
  const allow = METHODS.filter((method) => known.has(method)).join(', ')
  app.route({
    method: METHODS.filter((method) => !known.has(method)),
    url,
    // Before the body, which is of no interest.
    onRequest: (_request, reply, done) => {
      reply.header('allow', allow)
      done(new Refusal('METHOD_NOT_ALLOWED', `Allowed here: ${allow}`))
    },
    handler: () => undefined,
  })
}
