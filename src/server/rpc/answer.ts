import type { z } from 'zod'
import { schemaReader } from '../../api/read-input.ts'
import { ErrGatewayDraining, invalid, Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { callerFrom } from '../../operations/context.ts'
import { admit, admitToObject } from '../../operations/perform.ts'
import { batchFullRefusal, createBatchRoom } from '../http/answer-memory.ts'
import type { HttpContext } from '../http/context.ts'
import { readJsonBody } from '../http/json-body.ts'
import { internalError, refusalOf } from '../http/problem.ts'
import type { RpcCall } from './cron.ts'
import { RPC_HANDLERS } from './handlers.ts'
import {
  answered,
  failed,
  invalidRequest,
  unknownMethod,
  parseError,
  readRequest,
  rpcRefusal,
  type RpcAnswer,
  type RpcError,
  type RpcRequest,
} from './message.ts'
import { RPC_METHODS, type RpcMethodName, type RpcMethodSpec } from './methods.ts'

/** Finds a method by name. GoClaw documents the cron methods without `cron.`, so those names are accepted too. */
function findMethod(name: string): RpcMethodName | null {
  return [name, `cron.${name}`].find(isMethod) ?? null
}

const isMethod = (name: string): name is RpcMethodName => Object.hasOwn(RPC_METHODS, name)

/** Verbs of other systems, mapped to the ones used here. */
const OTHER_VERBS: ReadonlyMap<string, string> = new Map([
  ['add', 'create'],
  ['new', 'create'],
  ['edit', 'update'],
  ['patch', 'update'],
  ['remove', 'delete'],
  ['enable', 'toggle'],
  ['disable', 'toggle'],
  ['trigger', 'run'],
  ['history', 'runs'],
])

/** The method that an unknown name probably means; null if there is none. */
function suggestMethod(name: string): string | null {
  const dot = name.lastIndexOf('.') + 1
  const verb = OTHER_VERBS.get(name.slice(dot))
  const suggestion = verb === undefined ? null : findMethod(name.slice(0, dot) + verb)
  return suggestion ?? nearestWord(name, Object.keys(RPC_METHODS))
}

/** The caller of a method, with its limits. */
export interface RpcCaller {
  readonly ctx: HttpContext
  readonly principal: Principal
  readonly requestId: string
  /** Charges one call to the rate limit, or rejects it. */
  readonly charge: () => void
  /** The idempotency key. */
  readonly key: string | undefined
  /** The `traceparent` header. */
  readonly traceparent: unknown
}

/** The maximum number of calls in a batch. */
export const MAX_BATCH_SIZE = 50

/** Executes a call, or the calls of a batch in order. Null if no response is expected. */
export async function answerRpc(asker: RpcCaller, bytes: Buffer): Promise<RpcAnswer | readonly RpcAnswer[] | null> {
  const read = parseRpcBody(bytes)
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

function parseRpcBody(bytes: Buffer): { readonly body: unknown } | { readonly error: RpcError } {
  if (bytes.length === 0) return { error: parseError('the body is empty') }
  try {
    return { body: readJsonBody(bytes) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { error: error.flaws.length > 0 ? invalidRequest(error.message) : parseError(error.message) }
  }
}

function flawOfBatch({ key }: RpcCaller, batch: readonly unknown[]): string | null {
  if (batch.length === 0) return 'the batch is empty'
  if (batch.length > MAX_BATCH_SIZE)
    return `a batch may have at most ${MAX_BATCH_SIZE} calls, and this one has ${batch.length}`
  return key === undefined ? null : 'an Idempotency-Key cannot be used with a batch, only with a single call'
}

async function answerOne(asker: RpcCaller, given: unknown, isFull = false): Promise<RpcAnswer | null> {
  const request = readRequest(given)
  if ('error' in request) return failed(request.id, request.error)
  if (isFull) return failed(request.id ?? null, rpcRefusal(batchFullRefusal(), asker.requestId, undefined))
  const outcome = await executeCall(asker, request)
  if (request.id === undefined) return null
  return 'error' in outcome ? failed(request.id, outcome.error) : answered(request.id, outcome.result)
}

type Outcome = { readonly result: unknown } | { readonly error: RpcError }

/** Executes one call, with the access checks of its operation. */
export async function executeCall(
  asker: RpcCaller,
  { method: methodName, params }: Omit<RpcRequest, 'id'>,
): Promise<Outcome> {
  const { ctx, principal, requestId } = asker
  try {
    asker.charge()
    const method = findMethod(methodName)
    if (method === null) return { error: unknownMethod(methodName, suggestMethod(methodName)) }
    const spec: RpcMethodSpec = RPC_METHODS[method]
    admit(ctx, spec, principal)
    const read = readParams(spec.params, params)
    if (principal.restricted !== undefined) await admitToObject(ctx, spec, { principal, id: targetIdOf(read) })
    if (spec.newWork === true && ctx.isDraining()) throw new ErrGatewayDraining()
    const once =
      spec.creates === true && asker.key !== undefined
        ? { route: `rpc ${method}`, key: asker.key, body: params ?? {} }
        : undefined
    const caller = callerFrom(principal, once)
    const call = (trace: string | null): Promise<unknown> =>
      handlerOf(method)({ ctx, caller: { ...caller, trace }, principal, params: read })
    return { result: await (spec.admits === true ? ctx.traceSubmission(method, asker.traceparent, call) : call(null)) }
  } catch (error) {
    const refusal = refusalOf(error) ?? unexpectedCallError(asker, methodName, error)
    ctx.metrics.countRefusal(refusal.code)
    return { error: rpcRefusal(refusal, requestId, params) }
  }
}

/** The id of the job or session that a call is about, under any of its parameter names. */
function targetIdOf(params: unknown): unknown {
  const { jobId, id, key, sessionKey } = params as Readonly<Record<string, unknown>>
  return [jobId, id, key, sessionKey].find((given) => typeof given === 'string' && given !== '')
}

/** Every method in the table has a handler. */
const handlerOf = (method: RpcMethodName): ((call: RpcCall<unknown>) => Promise<unknown>) =>
  (RPC_HANDLERS as Readonly<Record<string, unknown>>)[method] as (call: RpcCall<unknown>) => Promise<unknown>

function readParams(schema: z.ZodType, params: unknown): unknown {
  const given = params ?? {}
  if (Array.isArray(given))
    throw invalid([{ field: '', value: undefined, message: 'params must be named', allowed: 'an object' }])
  return schemaReader(schema)(given)
}

function unexpectedCallError({ ctx, requestId }: RpcCaller, method: string, error: unknown): Refusal {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  ctx.log({ level: 'error', message: 'A call failed', facts: { request_id: requestId, method, error: text } })
  return internalError(requestId)
}
