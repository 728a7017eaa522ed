import { randomBytes } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { OperationTable } from '../contract/operations/operation.ts'
import { OPERATIONS } from '../contract/operations/table.ts'
import { Refusal } from '../contract/refusals.ts'
import { addConsole } from './console/routes.ts'
import type { HttpContext } from './context.ts'
import { addDocs } from './docs/routes.ts'
import { HANDLERS } from './handlers.ts'
import { createHostCheck } from './hosts.ts'
import { readJsonBody } from './json-body.ts'
import { addFacade, isFacadePath, onlyFacade, withoutFacade } from './tasks/facade.ts'
import { TASK_ERROR_TYPE, taskErrorOf } from './tasks/task-error.ts'
import { PROBLEM_TYPE, problemOf } from './problem.ts'
import { createRateLimit } from './rate-limit.ts'
import { addRoutes } from './routes.ts'
import { addRpc } from './rpc/routes.ts'
import { rpcSockets } from './rpc/sockets.ts'
import { addSockets } from './sockets.ts'
import { internal, refusalOf } from './unexpected.ts'
import { workerSockets } from './worker-sockets.ts'

const BODY_LIMIT = 1_048_576
/** A session key of 512 bytes, every byte of it escaped. */
const LONGEST_PARAMETER = 3 * 512
/** Whoever takes longer to say what they want is holding a connection, not asking. */
const REQUEST_TIMEOUT_MS = 30_000

/** The operations that are answered, and who carries them out. */
export interface Api {
  readonly operations: OperationTable
  readonly handlers: Readonly<Record<string, (call: never) => unknown>>
}

/** The HTTP side of a node. Nothing is listened on before `listen`. */
export function createHttpServer(
  ctx: HttpContext,
  api: Api = { operations: OPERATIONS, handlers: HANDLERS },
): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // What drains answers for itself, as a problem.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: createRequestIds(),
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    frameworkErrors: (error, request, reply) => void refuse(ctx, { error: checked(request) ?? error, request, reply }),
    clientErrorHandler: (error, socket) => refuseUnread(error, socket),
  })
  void app.register(cookie, { hook: false })
  app.decorateRequest('principal', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      done(null, request.routeOptions.config.raw === true ? bytes : readJsonBody(bytes as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  const hosts = createHostCheck(ctx.settings, () => portOf(app))
  const checked = (request: FastifyRequest): Error | undefined => {
    try {
      hosts.check(request.headers.host, request.headers.origin)
      return undefined
    } catch (error) {
      return error as Error
    }
  }
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.setHeader('x-request-id', request.id)
    done(checked(request))
  })
  app.setErrorHandler((error, request, reply) => refuse(ctx, { error, request, reply }))
  app.setNotFoundHandler((request, reply) =>
    refuse(ctx, { error: new Refusal('NOT_FOUND', `There is nothing at ${pathOf(request)}`), request, reply }),
  )
  // Streams never end by themselves, and whoever closes the door waits for everybody inside.
  app.addHook('preClose', (done) => {
    ctx.events.close()
    done()
  })
  const routing = { app, ctx, limit: createRateLimit() }
  addRoutes(routing, withoutFacade(api.operations), api.handlers)
  addFacade(routing, onlyFacade(api.operations), api.handlers)
  addRpc(routing)
  addSockets(routing, hosts, { services: [rpcSockets, workerSockets] })
  addDocs(app, api.operations, ctx.version)
  addConsole(app)
  return app
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
  if (code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer realm="escapement"')
  const isFacade = isFacadePath(pathOf(request))
  const told = isFacade ? taskErrorOf(refusal, request) : problemOf(refusal, request.id, request.body)
  return reply
    .code(status)
    .header('x-request-id', request.id)
    .header('content-type', isFacade ? TASK_ERROR_TYPE : PROBLEM_TYPE)
    .send(JSON.stringify(told))
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** What could not even be read as HTTP gets its problem by hand. */
function refuseUnread(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Refusal('HEADERS_TOO_LARGE', 'The headers are too large')
      : new Refusal('MALFORMED', 'This is not HTTP')
  const body = JSON.stringify(problemOf(refusal, 'unread'))
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
