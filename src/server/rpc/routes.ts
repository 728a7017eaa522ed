import type { FastifyRequest } from 'fastify'
import { readKey } from '../../operations/perform.ts'
import { noRoomRefusal } from '../http/answer-memory.ts'
import type { HostCheck } from '../http/hosts.ts'
import { chargeAnswer, chargeRequest } from '../http/rate-limit.ts'
import { createAccessCheck, addMethodNotAllowed, type Routing } from '../http/routes.ts'
import { answerRpc } from './answer.ts'
import { createMessageQueue } from './message-lane.ts'
import { failed, rpcRefusal } from './message.ts'
import { addSockets, type SocketConnection, type SocketService } from '../sockets/sockets.ts'
import type { SocketLimits } from '../sockets/upgrade.ts'

const RPC_PATH = '/rpc'

/** Adds `POST /rpc`. Errors of calls are in the JSON-RPC response; errors of the HTTP request are problem documents. */
export function addRpc(routing: Routing): void {
  const { app } = routing
  // In its own plugin scope, because parse errors are answered in the format of JSON-RPC.
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, parsed) => {
      parsed(null, bytes)
    })
    scope.post(
      RPC_PATH,
      { onRequest: createAccessCheck(routing, { permission: 'any', restrictedAccess: 'free' }) },
      async (request, reply) => {
        const { principal, id } = request
        if (principal === null) throw new Error('the request is not authenticated')
        const header = request.headers['idempotency-key']
        const key = header === undefined ? undefined : readKey('Idempotency-Key', header)
        const charge = chargeAfterFirst(() => {
          chargeRequest(routing, principal)
        })
        const answer = await answerRpc(
          {
            ctx: routing.contextOf(principal),
            principal,
            requestId: id,
            charge,
            key,
            traceparent: request.headers['traceparent'],
          },
          bytesIn(request),
        )
        return answer === null ? reply.code(204).send() : reply.code(200).send(answer)
      },
    )
    done()
  })
  addMethodNotAllowed(app, RPC_PATH, new Set(['POST']))
}

/** Authentication has charged one call for the request; a batch is charged for each call. */
function chargeAfterFirst(charge: () => void): () => void {
  let isFirst = true
  return () => {
    if (!isFirst) charge()
    isFirst = false
  }
}

const bytesIn = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? Buffer.from(body) : Buffer.alloc(0))

/** Calls over WebSockets: each message is like a body of `POST /rpc` and gets one response. */
export const rpcSockets: SocketService = {
  path: RPC_PATH,
  needs: { permission: 'any', restrictedAccess: 'free' },
  open: (connection) =>
    createMessageQueue(
      connection.socket,
      (message) => answerMessage(connection, message),
      connection.routing.answers.hold,
    ),
}

/** Adds WebSockets for calls only. */
export function addRpcSockets(routing: Routing, hosts: HostCheck, limits: Partial<SocketLimits> = {}): void {
  addSockets(routing, hosts, { services: [rpcSockets], limits })
}

/**
 * The response to a message; null if there is none. Access is checked for each message, because keys may be revoked
 * meanwhile.
 */
async function answerMessage(
  { routing, nameMessage, checkAccess }: SocketConnection,
  message: Buffer,
): Promise<string | null> {
  const { ctx } = routing
  const requestId = nameMessage()
  const known = await checkAccess()
  if (known.kind === 'shown_out') return null
  if (known.kind === 'unknown') {
    ctx.metrics.countRefusal(known.why.code)
    return JSON.stringify(failed(null, rpcRefusal(known.why, requestId, undefined)))
  }
  const { principal } = known
  // The bytes of a batch are charged with its first call.
  let bytes = message.length
  const charge = (): void => {
    chargeRequest(routing, principal, bytes)
    bytes = 0
  }
  const caller = {
    ctx: routing.contextOf(principal),
    principal,
    requestId,
    charge,
    key: undefined,
    traceparent: undefined,
  }
  const response = await answerRpc(caller, message)
  if (response === null) return null
  const text = JSON.stringify(response)
  chargeAnswer(routing, principal, text.length)
  if (routing.answers.hasRoom(text.length)) return text
  const refusal = noRoomRefusal()
  ctx.metrics.countRefusal(refusal.code)
  return JSON.stringify(failed('id' in response ? response.id : null, rpcRefusal(refusal, requestId, undefined)))
}
