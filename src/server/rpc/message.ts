import { INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, rpcCodeOf } from './schema.ts'
import type { Refusal } from '../../api/refusals.ts'
import { problemOf } from '../http/problem.ts'

export type RpcId = string | number | null

/** A request. If `id` is undefined, no response is expected. */
export interface RpcRequest {
  readonly id: RpcId | undefined
  readonly method: string
  readonly params: unknown
}

/** A JSON-RPC error. */
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

/** The error for input that is not JSON. */
export const parseError = (detail: string): RpcError => ({ code: PARSE_ERROR, message: `Parse error: ${detail}` })

/** The error for JSON that is not a request. */
export const invalidRequest = (detail: string): RpcError => ({
  code: INVALID_REQUEST,
  message: `Invalid request: ${detail}`,
})

/** The error for an unknown method, with a suggestion. */
export const unknownMethod = (method: string, near: string | null): RpcError => ({
  code: METHOD_NOT_FOUND,
  message: `Unknown method ${method.slice(0, 100)}${near === null ? '' : `; did you mean ${near}?`}`,
  data: { code: 'METHOD_NOT_FOUND', ...(near === null ? {} : { did_you_mean: near }) },
})

/** An API error with the fields of its problem document. */
export function rpcRefusal(refusal: Refusal, requestId: string, params: unknown): RpcError {
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

/** Parses one request. An error carries the request's id if it can be read. */
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
