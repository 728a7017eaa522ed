import type { FastifyReply, FastifyRequest } from 'fastify'
import { INVALID_REQUEST, PARSE_ERROR } from '../../contract/rpc/errors.ts'
import { Refusal } from '../../api/refusals.ts'
import { batchFull, createBatchRoom } from '../answer-memory.ts'
import { goneSignal, type Exchange } from '../../server/http/exchange.ts'
import { readJsonBody } from '../../server/http/json-body.ts'
import { readKey } from '../../operations/perform.ts'
import { chargeRequest } from '../../server/http/rate-limit.ts'
import { gateOf, refuseOthers, type Routing } from '../../server/http/routes.ts'
import { MOST_IN_BATCH } from '../../server/rpc/answer.ts'
import { performTool, refusedTool } from './perform.ts'

const MCP_PATH = '/mcp'

/**
 * Adds `POST /mcp`, the streamable HTTP transport of MCP without a session: each message is answered by itself, so any
 * node can answer any of them, and a key that is revoked is refused with the next one.
 */
export function addMcp(routing: Routing): void {
  const { app } = routing
  // In a room of its own: what cannot be parsed is told in the shape of JSON-RPC.
  void app.register((room, _options, done) => {
    room.removeAllContentTypeParsers()
    room.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, parsed) => {
      parsed(null, bytes)
    })
    room.post(MCP_PATH, { onRequest: gateOf(routing, { permission: 'any', rails: 'free' }) }, (request, reply) =>
      answer(routing, { request, reply }),
    )
    done()
  })
  // No stream is offered and no session is kept: the protocol wants GET and DELETE answered with 405.
  refuseOthers(app, MCP_PATH, new Set(['POST']))
}

async function answer(routing: Routing, exchange: Exchange): Promise<FastifyReply> {
  const { ctx } = routing
  const { request, reply } = exchange
  const { body, flaw } = bodyIn(request)
  if (flaw !== undefined) return reply.code(400).send({ jsonrpc: '2.0', id: null, error: flaw })
  const call = callerOf(routing, { ...exchange, isBatch: Array.isArray(body) })
  const signal = goneSignal(reply)
  // Loaded with the first message: who speaks no MCP does not wait for it.
  const { answerPost } = await import('../../server/mcp/answer.ts')
  const asked = { headers: headersOf(request), body, signal, version: ctx.version, call }
  const { status, headers, text } = await answerPost(asked)
  reply.code(status).headers(headers)
  return reply.send(text ?? undefined)
}

function callerOf(routing: Routing, { request, reply, isBatch }: Exchange & { readonly isBatch: boolean }) {
  const { principal } = request
  if (principal === null) throw new Error('nobody has passed the gate')
  const header = request.headers['idempotency-key']
  const key = header === undefined ? undefined : readKey('Idempotency-Key', header)
  // The gate has charged one for the request; a batch is charged for each call.
  let isFirst = true
  const charge = (): void => {
    if (!isFirst) chargeRequest(routing, principal)
    isFirst = false
  }
  const asker = { ctx: routing.contextOf(principal), principal, request, reply, charge, key }
  const room = createBatchRoom()
  let before: Promise<unknown> = Promise.resolve()
  return async (name: string, input: unknown) => {
    const perform = async () => {
      if (room.isFull()) return refusedTool(asker, batchFull())
      const result = await performTool(asker, name, input)
      if (isBatch) room.add(result)
      return result
    }
    // One after the other: calls that begin together would all find room for their answers.
    const result = before.then(perform)
    before = result.catch(() => undefined)
    return result
  }
}

interface Flaw {
  readonly code: number
  readonly message: string
}

const parseError = (detail: string): { readonly flaw: Flaw } => ({
  flaw: { code: PARSE_ERROR, message: `Parse error: ${detail}` },
})
const invalid = (detail: string): { readonly flaw: Flaw } => ({
  flaw: { code: INVALID_REQUEST, message: `Invalid request: ${detail}` },
})

function bodyIn({ body: bytes, headers }: FastifyRequest): { readonly body?: unknown; readonly flaw?: Flaw } {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return parseError('nothing was sent')
  try {
    const body = readJsonBody(bytes)
    if (!Array.isArray(body)) return { body }
    if (body.length === 0 || body.length > MOST_IN_BATCH) return invalid(`a batch has 1 to ${MOST_IN_BATCH} messages`)
    if (headers['idempotency-key'] !== undefined) return invalid('an Idempotency-Key is for one call, not for a batch')
    return { body }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.flaws.length > 0 ? invalid(error.message) : parseError(error.message)
  }
}

/** Those that the protocol looks at; nothing of who asks leaves the gate. */
const LOOKED_AT = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

function headersOf({ headers }: FastifyRequest): Headers {
  const kept = new Headers()
  for (const name of LOOKED_AT) {
    const value = headers[name]
    if (typeof value === 'string') kept.set(name, value)
  }
  return kept
}
