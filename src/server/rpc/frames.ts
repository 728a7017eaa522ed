import { Refusal } from '../../api/refusals.ts'
import type { Principal, Role } from '../../domain/access/access.ts'
import { callerFrom } from '../../operations/context.ts'
import { admit, executeOperation } from '../../operations/perform.ts'
import { OPERATIONS } from '../../operations/table.ts'
import { noRoomRefusal } from '../http/answer-memory.ts'
import { readJsonBody } from '../http/json-body.ts'
import { internalError, refusalOf } from '../http/problem.ts'
import { chargeAnswer, chargeRequest } from '../http/rate-limit.ts'
import type { GuestMessage, SocketConnection, SocketService } from '../sockets/sockets.ts'
import { executeCall, type RpcCaller } from './answer.ts'
import { createMessageQueue } from './message-lane.ts'
import { type RpcError, rpcRefusal } from './message.ts'

/** The version of GoClaw's protocol. */
const PROTOCOL = 3

/** GoClaw's own frames: requests and responses as objects, and a first request that authenticates. */
export const frameSockets: SocketService = {
  path: '/ws',
  needs: { permission: 'any', restrictedAccess: 'free' },
  guest: readConnect,
  open: (connection) =>
    createMessageQueue(
      connection.socket,
      (message) => answerFrame(connection, message),
      connection.routing.answers.hold,
    ),
}

interface Frame {
  readonly id: string
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

const MAX_ID_LENGTH = 512

/** Parses a request. Rejects with the id, if it can be read, so that the client finds its request. */
function readFrame(message: Buffer): Frame | { readonly id: string; readonly flaw: Refusal } {
  const wrong = (detail: string, known = ''): { readonly id: string; readonly flaw: Refusal } => ({
    ...{ id: known, flaw: new Refusal('MALFORMED', detail) },
  })
  try {
    const body = readJsonBody(message)
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return wrong('A frame must be an object')
    const { type, id, method, params } = body as Readonly<Record<string, unknown>>
    if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH)
      return wrong(`id must be a text of 1 to ${MAX_ID_LENGTH} characters`)
    if (type !== 'req') return wrong('type must be "req"', id)
    if (typeof method !== 'string' || method === '') return wrong('method must be a text', id)
    if (params !== undefined && params !== null && (typeof params !== 'object' || Array.isArray(params)))
      return wrong('params must be an object', id)
    return { id, method, params: (params ?? {}) as Frame['params'] }
  } catch (error) {
    return { id: '', flaw: refusalOf(error) ?? new Refusal('MALFORMED', 'The frame is not JSON') }
  }
}

/** The codes of GoClaw for those of JSON-RPC; any other means that the state does not allow it. */
const CODES: Readonly<Record<number, string>> = {
  [-32_700]: 'INVALID_REQUEST',
  [-32_600]: 'INVALID_REQUEST',
  [-32_601]: 'INVALID_REQUEST',
  [-32_602]: 'INVALID_REQUEST',
  [-32_603]: 'INTERNAL',
  [-32_001]: 'UNAUTHORIZED',
  [-32_003]: 'FORBIDDEN',
  [-32_004]: 'NOT_FOUND',
  [-32_029]: 'RESOURCE_EXHAUSTED',
  [-32_053]: 'UNAVAILABLE',
}

const accepted = (id: string, payload: unknown): string => JSON.stringify({ type: 'res', id, ok: true, payload })

function rejected(id: string, { code, message, data }: RpcError): string {
  const { retry_after_ms: retryAfterMs, ...details } = data ?? {}
  const error = {
    ...{ code: CODES[code] ?? 'FAILED_PRECONDITION', message, details },
    ...(retryAfterMs === undefined ? {} : { retryable: true, retryAfterMs }),
  }
  return JSON.stringify({ type: 'res', id, ok: false, error })
}

const rejectedBy = (id: string, refusal: Refusal, requestId: string): string =>
  rejected(id, rpcRefusal(refusal, requestId, undefined))

/** The first request of a client without an Authorization header. */
function readConnect(
  message: Buffer,
  { version, requestId }: Parameters<NonNullable<SocketService['guest']>>[1],
): GuestMessage {
  const frame = readFrame(message)
  const refuse = (refusal: Refusal): string => rejectedBy(frame.id, refusal, requestId)
  if ('flaw' in frame) return { flaw: frame.flaw, refuse }
  const { id, method, params } = frame
  const { token } = params
  if (method !== 'connect')
    return { flaw: new Refusal('UNAUTHENTICATED', 'The first request must be connect, with a key as token'), refuse }
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,512}$/.test(token))
    return { flaw: new Refusal('UNAUTHENTICATED', 'token must be a key'), refuse }
  return { token, refuse, accept: (principal) => accepted(id, greetingOf(principal, { params, version })) }
}

/** The roles of GoClaw. */
const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: 'admin',
  admin: 'admin',
  member: 'operator',
  viewer: 'viewer',
}

const greetingOf = (
  { id, role }: Principal,
  { params, version }: { readonly params: Frame['params']; readonly version: string },
): unknown => ({
  ...{ protocol: PROTOCOL, role: ROLE_NAMES[role] },
  user_id: typeof params['user_id'] === 'string' && params['user_id'] !== '' ? params['user_id'] : id,
  server: { name: 'escapement', version },
})

/** Answers one request. Access is checked for each, because keys may be revoked meanwhile. */
async function answerFrame(connection: SocketConnection, message: Buffer): Promise<string | null> {
  const { routing, nameMessage, checkAccess } = connection
  const requestId = nameMessage()
  const known = await checkAccess()
  if (known.kind === 'shown_out') return null
  const frame = readFrame(message)
  const refuse = (refusal: Refusal): string => {
    routing.ctx.metrics.countRefusal(refusal.code)
    return rejectedBy(frame.id, refusal, requestId)
  }
  if (known.kind === 'unknown') return refuse(known.why)
  const { principal } = known
  const caller: RpcCaller = {
    ctx: routing.contextOf(principal),
    ...{ principal, requestId, key: undefined, traceparent: undefined },
    charge: () => {
      chargeRequest(routing, principal, message.length)
    },
  }
  const text = 'flaw' in frame ? refuse(frame.flaw) : await executeFrame(caller, frame)
  chargeAnswer(routing, principal, text.length)
  return routing.answers.hasRoom(text.length) ? text : refuse(noRoomRefusal())
}

async function executeFrame(caller: RpcCaller, { id, method, params }: Frame): Promise<string> {
  const own = Object.hasOwn(OWN_METHODS, method) ? OWN_METHODS[method] : undefined
  if (own === undefined) {
    const outcome = await executeCall(caller, { method, params })
    return 'error' in outcome ? rejected(id, outcome.error) : accepted(id, outcome.result)
  }
  const { ctx, requestId } = caller
  try {
    caller.charge()
    return accepted(id, await own(caller, params))
  } catch (error) {
    const refusal = refusalOf(error) ?? internalError(requestId)
    if (refusal.code === 'INTERNAL')
      ctx.log({
        level: 'error',
        message: 'A call failed',
        facts: { request_id: requestId, method, error: String(error) },
      })
    ctx.metrics.countRefusal(refusal.code)
    return rejectedBy(id, refusal, requestId)
  }
}

const MAX_AGENTS = 200

/** The methods that only these frames have. */
const OWN_METHODS: Readonly<Record<string, (caller: RpcCaller, params: Frame['params']) => unknown>> = {
  connect: ({ ctx, principal }, params) => greetingOf(principal, { params, version: ctx.version }),
  health: ({ ctx }) => {
    const { ready, database } = ctx.health()
    return { status: ready ? 'ok' : 'degraded', version: ctx.version, database: database === 'up' ? 'ok' : database }
  },
  status: async ({ ctx, principal }) => {
    const operation = OPERATIONS['agents.list']
    admit(ctx, operation, principal)
    const call = {
      ...{ ctx, ports: ctx.ports, principal, caller: callerFrom(principal, undefined), params: {} },
      ...{ query: { limit: MAX_AGENTS }, body: undefined },
      ...{ ifMatch: undefined, http: null, signal: () => new AbortController().signal },
    }
    const { items } = (await executeOperation(operation, call, (work) => work(null))) as {
      readonly items: readonly { readonly id: string; readonly name: string }[]
    }
    return { agents: items.map(({ id, name }) => ({ id, name })), agentTotal: items.length }
  },
}
