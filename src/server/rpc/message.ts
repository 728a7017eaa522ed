import { INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, rpcCodeOf } from '../../contract/rpc/errors.ts'
import type { Refusal } from '../../api/refusals.ts'
import { problemOf } from '../../http/problem.ts'

export type RpcId = string | number | null

/** A request, as far as it is one. Undefined as id: nobody wants an answer. */
export interface RpcRequest {
  readonly id: RpcId | undefined
  readonly method: string
  readonly params: unknown
}

/** Something that is wrong, in the shape of JSON-RPC. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: Readonly<Record<string, unknown>>
}

export type RpcAnswer =
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly result: unknown }
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly error: RpcError }

export const answered = (id: RpcId, result: unknown): RpcAnswer => ({ jsonrpc: '2.0', id, result })
export const failed = (id: RpcId, error: RpcError): RpcAnswer => ({ jsonrpc: '2.0', id, error })

/** What cannot be read at all. */
export const parseError = (detail: string): RpcError => ({ code: PARSE_ERROR, message: `Parse error: ${detail}` })

/** What can be read and is no request. */
export const invalidRequest = (detail: string): RpcError => ({
  code: INVALID_REQUEST,
  message: `Invalid request: ${detail}`,
})

/** A method that nobody knows, and which one may have been meant. */
export const noMethod = (method: string, near: string | null): RpcError => ({
  code: METHOD_NOT_FOUND,
  message: `There is no method ${method.slice(0, 100)}${near === null ? '' : `; did you mean ${near}?`}`,
  data: { code: 'METHOD_NOT_FOUND', ...(near === null ? {} : { did_you_mean: near }) },
})

/** What REST would refuse, with everything its problem says. */
export function refusedWith(refusal: Refusal, requestId: string, params: unknown): RpcError {
  const { title: _title, type: _type, detail, ...facts } = problemOf(refusal, requestId, params)
  const { retryAfterMs } = refusal
  return {
    code: rpcCodeOf(refusal),
    message: detail,
    data: { ...facts, ...(retryAfterMs === null ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }) },
  }
}

const isId = (id: unknown): id is RpcId =>
  id === null || typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))

/** Reads one request. What is wrong with it is answered under its id, if it has one that can be read. */
export function readRequest(given: unknown): RpcRequest | { readonly id: RpcId; readonly error: RpcError } {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { id: null, error: invalidRequest('it must be an object') }
  const { jsonrpc, id, method, params } = given as Readonly<Record<string, unknown>>
  const known = isId(id) ? id : null
  const wrong = (detail: string): { readonly id: RpcId; readonly error: RpcError } => ({
    ...{ id: known, error: invalidRequest(detail) },
  })
  if (jsonrpc !== '2.0') return wrong('jsonrpc must be "2.0"')
  if (id !== undefined && !isId(id)) return wrong('id must be a text, a number or null')
  if (typeof method !== 'string' || method === '') return wrong('method must be a text')
  if (params !== undefined && (typeof params !== 'object' || params === null)) return wrong('params must be an object')
  return { id, method, params }
}
