import type { z } from 'zod'
import { RPC_METHODS, type RpcMethodName, type RpcMethodSpec } from './methods.ts'
import { ErrGatewayDraining, invalid, Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import { batchFull, createBatchRoom } from '../../http/answer-memory.ts'
import type { HttpContext } from '../../http/context.ts'
import { admit, admitTo } from '../../operations/admit.ts'
import { callerFrom } from '../../operations/caller-from.ts'
import { readJsonBody } from '../http/json-body.ts'
import { schemaReader } from '../../api/read-input.ts'
import { internal, refusalOf } from '../../http/unexpected.ts'
import type { RpcCall } from '../../http/rpc/call.ts'
import { RPC_HANDLERS } from '../../http/rpc/handlers.ts'
import {
  answered,
  failed,
  invalidRequest,
  noMethod,
  parseError,
  readRequest,
  refusedWith,
  type RpcAnswer,
  type RpcError,
  type RpcRequest,
} from './message.ts'
import { methodMeant, methodNamed } from '../../http/rpc/method-names.ts'

/** Somebody who calls, and how they are reined in. */
export interface RpcAsker {
  readonly ctx: HttpContext
  readonly principal: Principal
  readonly requestId: string
  /** Takes one call from what they may make a second, or refuses. */
  readonly charge: () => void
  /** What was brought along so that it is done at most once. */
  readonly key: string | undefined
  /** The header of that name. */
  readonly traceparent: unknown
}

/** More calls are not taken at once. */
export const MOST_IN_BATCH = 50

/** Answers what was sent: a call, or a batch of them, one after the other. Null: nobody wants an answer. */
export async function answerRpc(asker: RpcAsker, sent: Buffer): Promise<RpcAnswer | readonly RpcAnswer[] | null> {
  const read = readSent(sent)
  if ('error' in read) return failed(null, read.error)
  const { body } = read
  if (!Array.isArray(body)) return answerOne(asker, body)
  const wrong = flawOfBatch(asker, body)
  if (wrong !== null) return failed(null, invalidRequest(wrong))
  const answers: RpcAnswer[] = []
  const room = createBatchRoom()
  for (const one of body as readonly unknown[]) {
    const answer = await answerOne(asker, one, room.isFull())
    if (answer === null) continue
    answers.push(answer)
    room.add(answer)
  }
  return answers.length === 0 ? null : answers
}

function readSent(sent: Buffer): { readonly body: unknown } | { readonly error: RpcError } {
  if (sent.length === 0) return { error: parseError('nothing was sent') }
  try {
    return { body: readJsonBody(sent) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { error: error.flaws.length > 0 ? invalidRequest(error.message) : parseError(error.message) }
  }
}

function flawOfBatch({ key }: RpcAsker, batch: readonly unknown[]): string | null {
  if (batch.length === 0) return 'the batch is empty'
  if (batch.length > MOST_IN_BATCH) return `a batch may have ${MOST_IN_BATCH} calls, and this one has ${batch.length}`
  return key === undefined ? null : 'an Idempotency-Key is for one call, not for a batch'
}

async function answerOne(asker: RpcAsker, given: unknown, isFull = false): Promise<RpcAnswer | null> {
  const request = readRequest(given)
  if ('error' in request) return failed(request.id, request.error)
  if (isFull) return failed(request.id ?? null, refusedWith(batchFull(), asker.requestId, undefined))
  const outcome = await perform(asker, request)
  if (request.id === undefined) return null
  return 'error' in outcome ? failed(request.id, outcome.error) : answered(request.id, outcome.result)
}

type Outcome = { readonly result: unknown } | { readonly error: RpcError }

async function perform(asker: RpcAsker, { method: called, params }: RpcRequest): Promise<Outcome> {
  const { ctx, principal, requestId } = asker
  try {
    asker.charge()
    const method = methodNamed(called)
    if (method === null) return { error: noMethod(called, methodMeant(called)) }
    const spec: RpcMethodSpec = RPC_METHODS[method]
    admit(ctx, spec, principal)
    const read = readParams(spec.params, params)
    if (principal.railed !== undefined) await admitTo(ctx, spec, { principal, id: idIn(read) })
    if (spec.newWork === true && ctx.isDraining()) throw new ErrGatewayDraining()
    const once =
      spec.creates === true && asker.key !== undefined
        ? { route: `rpc ${method}`, key: asker.key, body: params ?? {} }
        : undefined
    const caller = callerFrom(principal, once)
    const call = (trace: string | null): Promise<unknown> =>
      handlerOf(method)({ ctx, caller: { ...caller, trace }, principal, params: read })
    return { result: await (spec.admits === true ? ctx.admit(method, asker.traceparent, call) : call(null)) }
  } catch (error) {
    const refusal = refusalOf(error) ?? unexpected(asker, called, error)
    ctx.metrics.refused(refusal.code)
    return { error: refusedWith(refusal, requestId, params) }
  }
}

/** The job or the conversation that a call is about, under whichever of its names it is given. */
function idIn(params: unknown): unknown {
  const { jobId, id, key, sessionKey } = params as Readonly<Record<string, unknown>>
  return [jobId, id, key, sessionKey].find((given) => typeof given === 'string' && given !== '')
}

/** The table of methods says that each that is there has one. */
const handlerOf = (method: RpcMethodName): ((call: RpcCall<unknown>) => Promise<unknown>) =>
  (RPC_HANDLERS as Readonly<Record<string, unknown>>)[method] as (call: RpcCall<unknown>) => Promise<unknown>

function readParams(schema: z.ZodType, params: unknown): unknown {
  const given = params ?? {}
  if (Array.isArray(given))
    throw invalid([{ field: '', value: undefined, message: 'params must be named', allowed: 'an object' }])
  return schemaReader(schema)(given)
}

function unexpected({ ctx, requestId }: RpcAsker, method: string, error: unknown): Refusal {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  ctx.log({ level: 'error', message: 'A call failed', facts: { request_id: requestId, method, error: text } })
  return internal(requestId)
}
