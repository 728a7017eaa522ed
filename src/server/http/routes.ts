import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Answer, OperationSpec } from '../../api/operation.ts'
import { Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import { callerFrom } from '../../operations/context.ts'
import type { Call, Operation, OperationTable } from '../../operations/handler.ts'
import {
  admit,
  type OperationCall,
  isWorkerCall,
  type AccessRules,
  executeOperation,
  readersFor,
  readKey,
} from '../../operations/perform.ts'
import type { AnswerMemory, ContextOf } from './answer-memory.ts'
import type { Connections } from './connections.ts'
import type { HttpContext } from './context.ts'
import { hasTag, readIfMatch, tagOf } from './entity-tag.ts'
import { type Exchange, disconnectSignal, HttpOperations } from './exchange.ts'
import { CONSOLE_COOKIE, identify } from './gate.ts'
import { internalError, problemOf, refusalOf } from './problem.ts'
import { bodyBytes, chargeRequest, type RateLimit } from './rate-limit.ts'

type ProgressInput = Pick<Call<OperationSpec>, 'signal' | 'progress'>

/**
 * Executes an operation with progress: streams events to a client that accepts them, and aborts when it disconnects.
 */
async function withProgress(
  ctx: HttpContext,
  { request, reply }: Exchange,
  execute: (progressInput: ProgressInput) => unknown,
): Promise<unknown> {
  const signal = disconnectSignal(reply)
  const stream = wantsStream(request) ? openProgressStream(reply) : null
  try {
    const answer = await execute({
      signal: () => signal,
      progress: stream === null ? undefined : (progress) => stream.send('progress', progress),
    })
    if (stream !== null) stream.end('result', answer)
    return answer
  } catch (error) {
    // The client has disconnected.
    if (signal.aborted) reply.hijack()
    else if (stream?.isOpen() === true) sendProblem(ctx, request, { stream, error })
    else throw error
    return undefined
  }
}

const wantsStream = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/event-stream') ?? false

/** A stream that starts with its first event, so that an error before it is a normal error response. */
interface ProgressStream {
  readonly isOpen: () => boolean
  readonly send: (event: string, data: unknown) => void
  readonly end: (event: string, data: unknown) => void
}

function openProgressStream(reply: FastifyReply): ProgressStream {
  let isOpen = false
  const send = (event: string, data: unknown): void => {
    if (!isOpen) {
      isOpen = true
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
    }
    reply.raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  return {
    isOpen: () => isOpen,
    send,
    end: (event, data) => {
      send(event, data)
      reply.raw.end()
    },
  }
}

/** Sends an error in the stream, in the form of an error response. */
function sendProblem(
  ctx: HttpContext,
  request: FastifyRequest,
  { stream, error }: { readonly stream: ProgressStream; readonly error: unknown },
): void {
  const refusal = refusalOf(error)
  if (refusal === null)
    ctx.log({
      ...{ level: 'error', message: 'A request failed' },
      facts: { request_id: request.id, error: error instanceof Error ? error.stack : String(error) },
    })
  stream.end('problem', problemOf(refusal ?? internalError(request.id), request.id, request.body))
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body is passed on as raw bytes. */
    raw?: boolean
  }
  interface FastifyRequest {
    /** The authenticated principal; null before authentication. */
    principal: Principal | null
  }
}

/** The dependencies of routes. */
export interface Routing {
  readonly app: FastifyInstance
  readonly ctx: HttpContext
  readonly limit: RateLimit
  readonly connections: Connections
  readonly answers: AnswerMemory
  readonly contextOf: ContextOf
}

interface HttpRoute {
  readonly id: string
  readonly spec: Operation
  /** The only status of the operation; null if the handler chooses one. */
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
  for (const [url, known] of methods) addMethodNotAllowed(routing.app, url, known)
}

function addRoute(routing: Routing, route: HttpRoute): void {
  const { app, contextOf } = routing
  const { method, path: url } = route.spec
  app.route({
    ...{ method, url, config: { raw: route.spec.raw === true } },
    ...(route.spec.permission === 'none' ? {} : { onRequest: accessCheckFor(routing, route.spec) }),
    handler: (request, reply) => handle(contextOf(request.principal), route, { request, reply }),
  })
}

type AccessCheck = ReturnType<typeof createAccessCheck>

/** The access check of a route; routes with `openInPrivate` skip it on a private server. */
function accessCheckFor(routing: Routing, spec: OperationSpec): AccessCheck {
  const gate = createAccessCheck(routing, spec)
  if (spec.openInPrivate !== true) return gate
  return (request, reply, done) => {
    routing.ctx.metrics.isPrivate().then((isPrivate) => {
      if (isPrivate) done()
      else gate(request, reply, done)
    }, done)
  }
}

/** Authenticates, authorizes and rate-limits a request before its body is read. */
export function createAccessCheck(routing: Routing, spec: AccessRules) {
  const { app, ctx } = routing
  const admitRequest = (request: FastifyRequest, principal: Principal): void => {
    if (!isWorkerCall(spec)) chargeRequest(routing, principal, bodyBytes(request, app.initialConfig.bodyLimit ?? 0))
    admit(ctx, spec, principal)
    request.principal = principal
  }
  const readCookie = (header: string): string | undefined => app.parseCookie(header)[CONSOLE_COOKIE]
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    const refuse = (error: Error): void => routing.limit.refuse(error, done)
    try {
      const found = identify(ctx, request, readCookie)
      if (!(found instanceof Promise)) {
        admitRequest(request, found)
        done()
        return
      }
      found.then((principal) => admitRequest(request, principal)).then(() => done(), refuse)
    } catch (error) {
      refuse(error as Error)
    }
  }
}

async function handle(ctx: HttpContext, route: HttpRoute, exchange: Exchange): Promise<unknown> {
  const { id, spec } = route
  const { reply, request } = exchange
  const call = httpCall(ctx, route, exchange)
  const executeCall = (one: OperationCall): unknown =>
    executeOperation(spec, one, (execute) => ctx.traceSubmission(id, request.headers['traceparent'], execute))
  const answered = await (spec.progress === true
    ? withProgress(ctx, exchange, (progressInput) => executeCall({ ...call, ...progressInput }))
    : executeCall(call))
  // A streaming handler has taken over the connection.
  if (reply.sent) return reply
  const { status, body } =
    route.status === null ? (answered as Answer<number, unknown>) : { status: route.status, body: answered }
  if (spec.etag === true && isTagged(exchange, body)) return reply.code(304).send()
  return reply.code(status).send(status === 204 ? undefined : body)
}

/** Sets the ETag of a versioned response. Returns true if the caller already has this version. */
function isTagged({ request, reply }: Exchange, body: unknown): boolean {
  const version = typeof body === 'object' && body !== null && 'version' in body ? body.version : null
  if (typeof version !== 'number') return false
  const tag = tagOf(version)
  reply.header('etag', tag)
  return request.method === 'GET' && hasTag(request.headers['if-none-match'], tag)
}

function httpCall(ctx: HttpContext, route: HttpRoute, exchange: Exchange): OperationCall {
  const { spec } = route
  const { request, reply } = exchange
  const readers = readersFor(spec)
  const { principal } = request
  const params = readers.params === null ? {} : readers.params(request.params)
  const query = readers.query(request.query)
  const body = readers.body === null ? undefined : readers.body(request.body)
  const key = spec.creates === true ? request.headers['idempotency-key'] : undefined
  // A repeated request is recognized by the raw body, so that a change of the parser does not make it a different
  // request.
  const rawBody = request.body ?? body
  const once =
    key === undefined
      ? undefined
      : {
          route: route.id,
          key: readKey('Idempotency-Key', key),
          body: { params, query: askedFor(query), body: rawBody },
        }
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
    signal: () => disconnectSignal(reply),
    http: new HttpOperations(ctx, exchange),
  }
}

/** The query without what does not change what is created: how long the caller waits. */
function askedFor(query: unknown): unknown {
  const { wait: _wait, ...rest } = query as { readonly wait?: unknown }
  return rest
}

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Answers the other methods of a path with 405 and the allowed ones. */
export function addMethodNotAllowed(app: FastifyInstance, url: string, known: ReadonlySet<HTTPMethods>): void {
  const allow = METHODS.filter((method) => known.has(method)).join(', ')
  app.route({
    method: METHODS.filter((method) => !known.has(method)),
    url,
    // Before the body is read, because it is not needed.
    onRequest: (_request, reply, done) => {
      reply.header('allow', allow)
      done(new Refusal('METHOD_NOT_ALLOWED', `Allowed methods: ${allow}`))
    },
    handler: () => undefined,
  })
}
