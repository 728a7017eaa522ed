import type { Purpose } from '../domain/outbound/ssrf-guard.ts'

/** A request to the outside. */
export interface OutboundRequest {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | null
  /** For everything together: resolving, connecting, redirects, the answer to its last byte. Left out: `signal` decides. */
  readonly timeoutMs?: number
  /** Drops the connection at once. */
  readonly signal?: AbortSignal
  /** The largest answer that is read; more of it ends the request. */
  readonly maxBytes: number
  readonly purpose: Purpose
  /** It carries what only this place may see: a redirect to another one is not followed. */
  readonly bound?: boolean
  /**
   * Takes the answer as it comes, if it wants this one: then it is not kept, and its size is the taker's business. Left
   * out, or null: the answer is read whole.
   */
  readonly take?: (answer: { readonly status: number; readonly headers: AnswerHeaders }) => TakePortion | null
}

/** Takes the next portion of an answer, and says whether there may be more; `cut` lets go of the connection at once. */
export type TakePortion = (portion: Buffer) => 'more' | 'enough' | 'cut'

/** What came of a request. Nothing is thrown: whatever the other side does is an answer of this kind. */
export type OutboundAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly headers: AnswerHeaders; readonly body: Buffer }
  /** The guard does not let it go there; nothing was sent there. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Could not be resolved or reached, or the connection broke. */
  | { readonly kind: 'network'; readonly message: string }
  | { readonly kind: 'timeout'; readonly message: string }
  /** Something came that is not HTTP. */
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'too_large'; readonly message: string; readonly status: number }
  /** `signal` said so. */
  | { readonly kind: 'aborted'; readonly message: string }

/** In lower case; a header that came several times is a list. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What ends a request before the other side does. */
export interface Limit {
  readonly signal: AbortSignal
  readonly ended: () => 'timeout' | 'aborted' | null
  readonly end: () => OutboundAnswer
  readonly clear: () => void
}
