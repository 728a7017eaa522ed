import type { Purpose } from '../../domain/outbound/ssrf-guard.ts'

/** An outbound request. */
export interface OutboundRequest {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | null
  /** Time limit from name resolution to the last byte of the response, including redirects. Left out: no limit. */
  readonly timeoutMs?: number
  /** Aborts the request and closes its connection. */
  readonly signal?: AbortSignal
  /** Maximum size of the response; a larger one fails the request. */
  readonly maxBytes: number
  readonly purpose: Purpose
  /** It carries a secret for this origin only, so that redirects to other origins are not followed. */
  readonly sameOriginOnly?: boolean
  /**
   * Streams the response body if it returns a function; `maxBytes` does not apply then. Left out, or null: the body is read
   * into memory.
   */
  readonly receive?: (answer: { readonly status: number; readonly headers: ResponseHeaders }) => ReceiveChunk | null
}

/** Receives the next chunk of a response and returns whether to continue; `cut` closes the connection at once. */
export type ReceiveChunk = (portion: Buffer) => 'more' | 'enough' | 'cut'

/** The result of a request. Requests never throw. */
export type OutboundResponse =
  | { readonly kind: 'answered'; readonly status: number; readonly headers: ResponseHeaders; readonly body: Buffer }
  /** Blocked by the guard before anything was sent. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Could not be resolved or reached, or the connection broke. */
  | { readonly kind: 'network'; readonly message: string }
  | { readonly kind: 'timeout'; readonly message: string }
  /** The response is not valid HTTP. */
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'too_large'; readonly message: string; readonly status: number }
  /** Aborted by `signal`. */
  | { readonly kind: 'aborted'; readonly message: string }

/** Response headers with lower-case names; a repeated header is a list. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The time limit and abort signal of a request. */
export interface Limit {
  readonly signal: AbortSignal
  readonly ended: () => 'timeout' | 'aborted' | null
  readonly end: () => OutboundResponse
  readonly clear: () => void
}

/**
 * The delay in a `Retry-After` header. A date is compared with the `Date` header of the same response, because clocks
 * differ. Null: missing or invalid.
 */
export function retryAfterMs(headers: ResponseHeaders): number | null {
  const retryAfter = headers['retry-after']
  if (typeof retryAfter !== 'string') return null
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * 1_000
  const { date } = headers
  const [until, from] = [Date.parse(retryAfter), typeof date === 'string' ? Date.parse(date) : Number.NaN]
  return Number.isNaN(until) || Number.isNaN(from) ? null : Math.max(0, until - from)
}
