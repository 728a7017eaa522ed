import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Answer, OperationSpec } from '../../api/operation.ts'
import { Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import type { AnswerMemory } from '../../http/answer-memory.ts'
import { admit, isOfWorkers, type Needs } from '../../operations/admit.ts'
import { callerFrom } from '../../operations/caller-from.ts'
import type { Operation, OperationTable } from '../../operations/handler.ts'
import { perform, readersFor, readKey, type DoorCall } from '../../operations/perform.ts'
import type { Connections } from '../../http/connections.ts'
import type { HttpContext } from '../../http/context.ts'
import { hasTag, readIfMatch, tagOf } from './entity-tag.ts'
import { goneSignal, HttpOperations, type Exchange } from './exchange.ts'
import { CONSOLE_COOKIE, identify } from './gate.ts'
import type { ContextOf } from '../../http/org-connections.ts'
import { bodyBytes, chargeRequest, type RateLimit } from './rate-limit.ts'
import { withProgress } from '../../http/progress.ts'

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

interface Route {
  readonly id: string
  readonly spec: Operation
  /** The status of every answer, unless the handler says which. */
  readonly status: number | null
}

/** Registers a route for each operation, and 405 for the other methods of their paths. */
export function addRoutes(routing: Routing, table: OperationTable): void {
  const methods = new Map<string, Set<HTTPMethods>>()
  for (const [id, spec] of Object.entries(table)) {
    const [status = null, ...more] = Object.keys(spec.answers).map(Number)
    addRoute(routing, { id, spec, status: more.length === 0 ? status : null })
    const known = methods.get(spec.path) ?? new Set()
    methods.set(spec.path, known.add(spec.method))
    if (spec.method === 'GET') known.add('HEAD')
  }
  for (const [url, known] of methods) refuseOthers(routing.app, url, known)
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

async function handle(ctx: HttpContext, route: Route, exchange: Exchange): Promise<unknown> {
  const { id, spec } = route
  const { reply, request } = exchange
  const call = callOf(ctx, route, exchange)
  const carryOut = (one: DoorCall): unknown =>
    perform(spec, one, (work) => ctx.admit(id, request.headers['traceparent'], work))
  const answered = await (spec.progress === true
    ? withProgress(ctx, exchange, (way) => carryOut({ ...call, ...way }))
    : carryOut(call))
  // A handler that streams has taken the connection over.
  if (reply.sent) return reply
  const { status, body } =
    route.status === null ? (answered as Answer<number, unknown>) : { status: route.status, body: answered }
  if (spec.etag === true && isTagged(exchange, body)) return reply.code(304).send()
  return reply.code(status).send(status === 204 ? undefined : body)
}

/** Puts the version of what is answered into its header. True when the caller has it already. */
function isTagged({ request, reply }: Exchange, body: unknown): boolean {
  const version = typeof body === 'object' && body !== null && 'version' in body ? body.version : null
  if (typeof version !== 'number') return false
  const tag = tagOf(version)
  reply.header('etag', tag)
  return request.method === 'GET' && hasTag(request.headers['if-none-match'], tag)
}

function callOf(ctx: HttpContext, route: Route, exchange: Exchange): DoorCall {
  const { spec } = route
  const { request, reply } = exchange
  const readers = readersFor(spec)
  const { principal } = request
  const params = readers.params === null ? {} : readers.params(request.params)
  const query = readers.query(request.query)
  const body = readers.body === null ? undefined : readers.body(request.body)
  const key = spec.creates === true ? request.headers['idempotency-key'] : undefined
  // A repetition is recognized by what was sent, so that reading it in another way does not make it another request.
  const sent = request.body ?? body
  const once =
    key === undefined
      ? undefined
      : { route: route.id, key: readKey('Idempotency-Key', key), body: { params, query, body: sent } }
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
    signal: () => goneSignal(reply),
    http: new HttpOperations(ctx, exchange),
  }
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
