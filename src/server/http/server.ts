import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Refusal, type RefusalCode } from '../../api/refusals.ts'
import { createAnswerMemory, limitAnswers, type AnswerMemory } from '../../http/answer-memory.ts'
import { connectionsByDescriptors, watchConnections, type Connections } from '../../http/connections.ts'
import { addConsole } from '../../http/console/routes.ts'
import type { HttpContext } from '../../http/context.ts'
import { addDocs } from '../docs/routes.ts'
import { hangUp } from './hang-up.ts'
import { createHostCheck } from '../../http/hosts.ts'
import { readJsonBody } from './json-body.ts'
import { addMcp } from '../../http/mcp/routes.ts'
import { addFacade, isFacadePath, onlyFacade, withoutFacade } from '../../http/tasks/facade.ts'
import { TASK_ERROR_TYPE, taskErrorOf } from '../../http/tasks/task-error.ts'
import { PROBLEM_TYPE, problemOf } from '../../http/problem.ts'
import { createContexts } from '../../http/org-connections.ts'
import { createRateLimit } from './rate-limit.ts'
import { checkHead } from '../../http/request-head.ts'
import { readRest } from '../../http/rest-of-body.ts'
import { addRoutes } from './routes.ts'
import { addRpc } from '../../http/rpc/routes.ts'
import { rpcSockets } from '../../http/rpc/sockets.ts'
import { SAFE_HEADERS } from '../../http/safe-headers.ts'
import { addSockets } from '../../http/sockets.ts'
import { limitPipelining } from '../../http/turns.ts'
import { internal, refusalOf } from '../../http/unexpected.ts'
import { answerOn } from '../sockets/upgrade.ts'
import { workerSockets } from '../../http/worker-sockets.ts'

const BODY_LIMIT = 1_048_576
/** A session key of 512 bytes, every byte of it escaped. */
const LONGEST_PARAMETER = 3 * 512
/** Whoever takes longer to say what they want is holding a connection, not asking. */
const REQUEST_TIMEOUT_MS = 30_000
/** How often it is looked whether a request has taken too long. */
const LOOK_EVERY_MS = 5_000
const SAFE = Object.entries(SAFE_HEADERS)
/** Whoever neither sends nor takes anything for so long is not there. Nobody waits so long for an answer. */
const SILENCE_TIMEOUT_MS = 360_000

/** No route hands a schema to the framework, whose own compilers would only take time to load. */
const noCompiler = (): never => {
  throw new Error('a route has a schema for the framework')
}
const NO_SCHEMAS = { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } }

/** The HTTP side of a node. Nothing is listened on before `listen`. */
export function createHttpServer(ctx: HttpContext, answers: AnswerMemory = createAnswerMemory()): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node gives the whole request the longer of the two times, so the headers must not have more.
    http: { connectionsCheckingInterval: LOOK_EVERY_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    connectionTimeout: SILENCE_TIMEOUT_MS,
    // What drains answers for itself, as a problem.
    ...{ return503OnClosing: false, forceCloseConnections: 'idle', schemaController: NO_SCHEMAS },
    genReqId: createRequestIds(),
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    frameworkErrors: (error, request, reply) => void refuse(ctx, { error: checked(request) ?? error, request, reply }),
    clientErrorHandler: (error, socket) => refuseUnread(error, socket),
  })
  void app.register(cookie, { hook: false })
  app.decorateRequest('principal', null)
  readJson(app)
  const hosts = createHostCheck(ctx.settings, () => portOf(app))
  const connections = watchOver(app, ctx)
  limitPipelining(app.server)
  const checked = (request: FastifyRequest): Error | undefined => {
    try {
      checkHead(request.raw, hosts)
      if (!PROBES.has(request.url)) connections.check(request.socket)
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
    const answer = (): FastifyReply => refuse(ctx, { error, request, reply })
    return refusalOf(error)?.code === 'BODY_TOO_LARGE' ? readRest(request.raw).then(answer) : answer()
  })
  // Streams never end by themselves, and whoever closes the door waits for everybody inside.
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
  addSockets(routing, hosts, { services: [rpcSockets, workerSockets] })
  addDocs(app, ctx.operations, ctx.version)
  const nowhere = addConsole(app)
  app.setNotFoundHandler((request, reply) => {
    const error = new Refusal('NOT_FOUND', `There is nothing at ${pathOf(request)}; /docs lists what there is`)
    return nowhere(request, reply) ?? refuse(ctx, { error, request, reply })
  })
  return app
}

/** Bodies are JSON, read by us: what they may be is ours to say. Signed ones are left as they came. */
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

/** Whoever looks whether we live is answered also when there are too many others. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/ready'])

function watchOver({ server }: FastifyInstance, { settings, metrics, log }: HttpContext): Connections {
  const byDescriptors = connectionsByDescriptors()
  return watchConnections(server, {
    most: () => Math.min(settings().limits.connections, byDescriptors),
    dropped: () => {
      metrics.refused('TOO_MANY_CONNECTIONS')
    },
    full: (open) => {
      log({ level: 'warn', message: 'Too many are connected; some are refused', facts: { connections: open } })
    },
  })
}

/** Where it listens; in process, where there is no port, the one that goes without saying. */
function portOf(app: FastifyInstance): number {
  const address = app.server.address()
  return typeof address === 'object' && address !== null ? address.port : 80
}

/** Ids of requests: an id that a proxy has given stays, so that one request has one id everywhere. */
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

interface Failed {
  readonly error: unknown
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Tells a refusal, whatever it came from; what nobody expected is logged, and nothing of it is told. */
function refuse(ctx: HttpContext, { error, request, reply }: Failed): FastifyReply {
  const expected = refusalOf(error)
  if (expected === null)
    ctx.log({
      level: 'error',
      message: 'A request failed',
      facts: { request_id: request.id, method: request.method, path: pathOf(request), error: stackOf(error) },
    })
  const refusal = expected ?? internal(request.id)
  const { status, retryAfterMs, code } = refusal
  ctx.metrics.refused(code)
  if (retryAfterMs !== null) reply.header('retry-after', Math.max(1, Math.ceil(retryAfterMs / 1_000)))
  if (code === 'TOO_MANY_CONNECTIONS') reply.header('connection', 'close')
  if (code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer realm="escapement"')
  const isFacade = isFacadePath(pathOf(request))
  const told = isFacade ? taskErrorOf(refusal, request) : problemOf(refusal, request.id, request.body)
  return reply
    .code(status)
    .headers({ 'x-request-id': request.id, ...SAFE_HEADERS })
    .header('content-type', isFacade ? TASK_ERROR_TYPE : PROBLEM_TYPE)
    .send(JSON.stringify(told))
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

const UNREAD: Readonly<Record<string, readonly [RefusalCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'REQUEST_TIMEOUT',
    `A request has to be here within ${REQUEST_TIMEOUT_MS / 1_000} seconds`,
  ],
}

/** What could not even be read as HTTP gets its problem by hand. */
function refuseUnread(error: Error & { readonly code?: string }, socket: Socket): void {
  // It has been told already, and has a moment to read it.
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy()
    return
  }
  const [code, detail] = UNREAD[error.code ?? ''] ?? ['MALFORMED', 'This is not HTTP']
  hangUp(socket, new Refusal(code, detail), 'unread')
}

/** What would be said now would be taken for the answer, or for a part of it, to what was asked before. */
function isAnswering(socket: Socket): boolean {
  const answer = answerOn(socket)
  return answer !== undefined && (answer.headersSent || answer.req.complete)
}
