import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Refusal, type RefusalCode, REFUSAL_TITLES } from '../../api/refusals.ts'
import { addConsole } from '../console/console.ts'
import { addDocs } from '../docs/routes.ts'
import { type AnswerMemory, createAnswerMemory, createContexts, limitAnswers } from './answer-memory.ts'
import { type Connections, connectionsByDescriptors, watchConnections } from './connections.ts'
import type { HttpContext } from './context.ts'
import { rejectSocket } from './hang-up.ts'
import { checkHead, createHostCheck } from './hosts.ts'
import { readJsonBody } from './json-body.ts'
import { internalError, PROBLEM_TYPE, problemOf, refusalOf } from './problem.ts'
import { createRateLimit } from './rate-limit.ts'
import { addRoutes, type Routing } from './routes.ts'
import { addMcp } from '../mcp/routes.ts'
import { frameSockets } from '../rpc/frames.ts'
import { addRpc, rpcSockets } from '../rpc/routes.ts'
import { addSockets } from '../sockets/sockets.ts'
import { responseOn } from '../sockets/upgrade.ts'
import { workerSockets } from '../sockets/workers.ts'
import { taskOperations } from '../../features/tasks/routes.ts'
import { facadeCodeOf, type TaskError } from '../../features/tasks/schema.ts'
import type { OperationTable } from '../../operations/handler.ts'

/** The media type of all responses of the façade, including errors. */
const TASK_ERROR_TYPE = 'application/json; charset=utf-8'

/** The parts of a request that its error needs. */
interface RefusedRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** An API error in the format of the façade. */
function taskErrorOf(refusal: Refusal, { headers, body }: RefusedRequest): TaskError {
  const { detail, errors, details, run_id: taskId } = problemOf(refusal, '', body)
  const responseDetails = {
    ...details,
    ...(errors === undefined ? {} : { errors }),
    ...(taskId === undefined ? {} : { taskId }),
  }
  return {
    error: detail === '' ? REFUSAL_TITLES[refusal.code] : detail,
    code: hasNoCredentials(refusal, headers) ? 'missing_token' : facadeCodeOf(refusal.code),
    ...(isRetryable(refusal) ? { retryable: true } : {}),
    ...(Object.keys(responseDetails).length === 0 ? {} : { details: responseDetails }),
  }
}

const hasNoCredentials = ({ code }: Refusal, { authorization, cookie }: IncomingHttpHeaders): boolean =>
  code === 'UNAUTHENTICATED' && authorization === undefined && cookie === undefined

/** Limits and outages: the same request may succeed later. */
const isRetryable = ({ status }: Refusal): boolean => status === 429 || status === 503

const filterOperations = (table: OperationTable, isWanted: (facade: boolean) => boolean): OperationTable =>
  Object.fromEntries(Object.entries(table).filter(([, spec]) => isWanted(spec.facade === true)))

/** The operations of the façade. */
const onlyFacade = (table: OperationTable): OperationTable => filterOperations(table, (facade) => facade)

/** The operations outside the façade. */
const withoutFacade = (table: OperationTable): OperationTable => filterOperations(table, (facade) => !facade)

const FACADE_ROOTS: readonly string[] = [
  ...new Set(Object.values(taskOperations).map(({ path }) => path.split('/:', 1)[0] ?? path)),
]

/** Whether the path belongs to the façade, even if there is no such route. */
export const isFacadePath = (path: string): boolean =>
  FACADE_ROOTS.some((root) => path === root || path.startsWith(`${root}/`))

/** Registers the routes of the façade. Its clients send various content types, so the type is ignored. */
function addFacade(routing: Routing, table: OperationTable): void {
  const { app, ctx } = routing
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, parsed) => {
      try {
        parsed(null, readJsonBody(bytes as Buffer))
      } catch (error) {
        parsed(error as Error)
      }
    })
    scope.addHook('onRequest', (_request, _reply, next) => {
      next(
        ctx.settings().tasksEnabled
          ? undefined
          : new Refusal('NOT_FOUND', 'Tasks are disabled; set tasks.enabled to true'),
      )
    })
    addRoutes({ ...routing, app: scope }, table)
    done()
  })
}

/**
 * Default headers of every response: it must not be cached, because it is meant for one caller, and browsers must not
 * guess its type.
 */
const SAFE_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const

/** How long the rest of a rejected body is read. */
const MAX_DISCARD_MS = 1_000

/**
 * Discards the rest of a body: closing a connection with unread input resets it, and the error response would be lost.
 */
function discardBody(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      for (const end of ENDS) body.off(end, finish)
      resolve()
    }
    const timer = setTimeout(finish, MAX_DISCARD_MS)
    for (const end of ENDS) body.once(end, finish)
    if (body.readableEnded || body.destroyed) finish()
    else body.resume()
  })
}

const ENDS = ['end', 'close', 'error'] as const

/** After this many consecutive requests of one connection, checks whether the event loop ran in between. */
const CHECK_AFTER_REQUESTS = 32
/** The maximum number of consecutive requests without a turn of the event loop. */
const MAX_PIPELINED_REQUESTS = 1_000

/**
 * Closes a connection that pipelines thousands of requests. Node parses and answers all requests of a received chunk,
 * which may be megabytes, before anything else runs.
 */
function limitPipelining(server: Server): void {
  let last: Socket | null = null
  let consecutive = 0
  server.on('request', ({ socket }: IncomingMessage) => {
    if (socket !== last) {
      last = socket
      consecutive = 0
    }
    consecutive += 1
    if (consecutive === CHECK_AFTER_REQUESTS)
      setImmediate(() => {
        consecutive = 0
      })
    if (consecutive > MAX_PIPELINED_REQUESTS) socket.destroy()
  })
}

const BODY_LIMIT = 1_048_576
/** A session key of 512 bytes, all of them percent-encoded. */
const MAX_PARAMETER_LENGTH = 3 * 512
/** Limits slow requests that only hold a connection. */
const REQUEST_TIMEOUT_MS = 30_000
/** How often slow requests are checked for. */
const TIMEOUT_CHECK_MS = 5_000
const SAFE = Object.entries(SAFE_HEADERS)
/** Closes connections without traffic. Longer than any response takes. */
const SILENCE_TIMEOUT_MS = 360_000

/** No route passes a schema to Fastify, and loading its schema compilers takes time. */
const noCompiler = (): never => {
  throw new Error('a route passes a schema to Fastify, which has no compiler here')
}
const NO_SCHEMAS = { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } }

/** Creates the HTTP server of a node. It does not listen before `listen` is called. */
export function createHttpServer(ctx: HttpContext, answers: AnswerMemory = createAnswerMemory()): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node applies the longer of both timeouts to the whole request, so they must be equal.
    http: { connectionsCheckingInterval: TIMEOUT_CHECK_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    connectionTimeout: SILENCE_TIMEOUT_MS,
    // A draining server answers with its own problem document.
    ...{ return503OnClosing: false, forceCloseConnections: 'idle', schemaController: NO_SCHEMAS },
    genReqId: createRequestIds(),
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: (error, request, reply) =>
      void sendRefusal(ctx, { error: checked(request) ?? error, request, reply }),
    clientErrorHandler: (error, socket) => rejectUnparsed(error, socket),
  })
  void app.register(cookie, { hook: false })
  app.decorateRequest('principal', null)
  readJson(app)
  const hosts = createHostCheck(ctx.settings, () => portOf(app))
  const connections = limitConnections(app, ctx)
  limitPipelining(app.server)
  const checked = (request: FastifyRequest): Error | undefined => {
    try {
      checkHead(request.raw, hosts)
      if (!HEALTH_PATHS.has(request.url)) connections.check(request.socket)
      return undefined
    } catch (error) {
      return error as Error
    }
  }
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.setHeader('x-request-id', request.id)
    for (const [name, value] of SAFE) reply.raw.setHeader(name, value)
    done(checked(request))
  })
  app.setErrorHandler((error, request, reply) => {
    const answer = (): FastifyReply => sendRefusal(ctx, { error, request, reply })
    return refusalOf(error)?.code === 'BODY_TOO_LARGE' ? discardBody(request.raw).then(answer) : answer()
  })
  // Streams never end by themselves, and closing the server waits for all responses.
  app.addHook('preClose', (done) => {
    ctx.events.close()
    done()
  })
  const routing = { app, ctx, limit: createRateLimit(), connections, answers, contextOf: createContexts(ctx) }
  limitAnswers(app, answers, routing)
  addRoutes(routing, withoutFacade(ctx.operations))
  addFacade(routing, onlyFacade(ctx.operations))
  addRpc(routing)
  addMcp(routing)
  addSockets(routing, hosts, { services: [rpcSockets, frameSockets, workerSockets] })
  addDocs(app, ctx.operations, ctx.version)
  const serveNotFoundPage = addConsole(app)
  app.setNotFoundHandler((request, reply) => {
    const error = new Refusal('NOT_FOUND', `Nothing found at ${pathOf(request)}; see /docs for the API`)
    return serveNotFoundPage(request, reply) ?? sendRefusal(ctx, { error, request, reply })
  })
  return app
}

/** Parses JSON bodies with our own parser. Bodies of signed requests are passed on as raw bytes. */
function readJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      done(null, request.routeOptions.config.raw === true ? bytes : readJsonBody(bytes as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** Health probes are answered even above the connection limit. */
const HEALTH_PATHS: ReadonlySet<string> = new Set(['/health', '/ready'])

function limitConnections({ server }: FastifyInstance, { settings, metrics, log }: HttpContext): Connections {
  const byDescriptors = connectionsByDescriptors()
  return watchConnections(server, {
    max: () => Math.min(settings().limits.connections, byDescriptors),
    dropped: () => {
      metrics.countRefusal('TOO_MANY_CONNECTIONS')
    },
    full: (open) => {
      log({
        level: 'warn',
        message: 'Connection limit reached; some connections are rejected',
        facts: { connections: open },
      })
    },
  })
}

/** The port it listens on; 80 if it does not listen, as in tests. */
function portOf(app: FastifyInstance): number {
  const address = app.server.address()
  return typeof address === 'object' && address !== null ? address.port : 80
}

/** Creates request ids; an id from a proxy is kept, so that a request has one id everywhere. */
function createRequestIds(): (request: { readonly headers: { readonly [name: string]: unknown } }) => string {
  const prefix = `req_${randomBytes(6).toString('hex')}_`
  let count = 0
  return ({ headers }) => {
    const given = headers['x-request-id']
    if (typeof given === 'string' && /^[\w.-]{1,64}$/.test(given)) return given
    count += 1
    return prefix + count.toString(36)
  }
}

const pathOf = ({ url }: FastifyRequest): string => url.slice(0, 200).split('?', 1)[0] ?? ''

interface FailedRequest {
  readonly error: unknown
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Sends an error response; an unexpected error is logged and its details are not sent. */
function sendRefusal(ctx: HttpContext, { error, request, reply }: FailedRequest): FastifyReply {
  const expected = refusalOf(error)
  if (expected === null)
    ctx.log({
      level: 'error',
      message: 'A request failed',
      facts: { request_id: request.id, method: request.method, path: pathOf(request), error: stackOf(error) },
    })
  const refusal = expected ?? internalError(request.id)
  const { status, retryAfterMs, code } = refusal
  ctx.metrics.countRefusal(code)
  if (retryAfterMs !== null) reply.header('retry-after', Math.max(1, Math.ceil(retryAfterMs / 1_000)))
  if (code === 'TOO_MANY_CONNECTIONS') reply.header('connection', 'close')
  if (code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer realm="escapement"')
  const isFacade = isFacadePath(pathOf(request))
  const problem = isFacade ? taskErrorOf(refusal, request) : problemOf(refusal, request.id, request.body)
  return reply
    .code(status)
    .headers({ 'x-request-id': request.id, ...SAFE_HEADERS })
    .header('content-type', isFacade ? TASK_ERROR_TYPE : PROBLEM_TYPE)
    .send(JSON.stringify(problem))
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

const PARSER_ERRORS: Readonly<Record<string, readonly [RefusalCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'REQUEST_TIMEOUT',
    `The request did not arrive within ${REQUEST_TIMEOUT_MS / 1_000} seconds`,
  ],
}

/** Answers a request that is not valid HTTP. */
function rejectUnparsed(error: Error & { readonly code?: string }, socket: Socket): void {
  // The client has been answered already, and has some time to read the response.
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable || isResponding(socket)) {
    socket.destroy()
    return
  }
  const [code, detail] = PARSER_ERRORS[error.code ?? ''] ?? ['MALFORMED', 'The request is not valid HTTP']
  rejectSocket(socket, new Refusal(code, detail), 'unread')
}

/** Whether a response is in progress: an error written now would be taken for a part of it. */
function isResponding(socket: Socket): boolean {
  const answer = responseOn(socket)
  return answer !== undefined && (answer.headersSent || answer.req.complete)
}
