import type { FastifyRequest } from 'fastify'
import { refuseOthers, gateOf, type Routing } from '../../server/http/routes.ts'
import { readKey } from '../../operations/perform.ts'
import { chargeRequest } from '../../server/http/rate-limit.ts'
import { answerRpc } from '../../server/rpc/answer.ts'

export const RPC_PATH = '/rpc'

/** Adds `POST /rpc`. What is said about a call is in the body; what the door refuses is a problem like everywhere. */
export function addRpc(routing: Routing): void {
  const { app } = routing
  // In a room of its own: what cannot be parsed is told in the shape of JSON-RPC.
  void app.register((room, _options, done) => {
    room.removeAllContentTypeParsers()
    room.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, parsed) => {
      parsed(null, bytes)
    })
    room.post(
      RPC_PATH,
      { onRequest: gateOf(routing, { permission: 'any', rails: 'free' }) },
      async (request, reply) => {
        const { principal, id } = request
        if (principal === null) throw new Error('nobody has passed the gate')
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
  refuseOthers(app, RPC_PATH, new Set(['POST']))
}

/** The gate has charged one for the request; a batch is charged for each call. */
function chargeAfterFirst(charge: () => void): () => void {
  let isFirst = true
  return () => {
    if (!isFirst) charge()
    isFirst = false
  }
}

const bytesIn = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? Buffer.from(body) : Buffer.alloc(0))
