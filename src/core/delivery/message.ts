/** Something that is sent to a receiver, the same on every try but for its time and signature. */
export interface OutMessage {
  /** What receivers recognise a repetition by. */
  readonly id: string
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Each signs it; while a secret is being changed there are two. */
  readonly secrets: readonly string[]
  /** Who chose the address: a person for a target, or a program for one task. */
  readonly purpose: 'callback' | 'webhook'
  /** The trace its run belongs to. */
  readonly trace?: string | null
}

/** Why a try failed, for programs. */
export const TRY_ERRORS = ['http', 'refused', 'network', 'timeout', 'malformed', 'target_gone', 'run_gone'] as const
export type TryError = (typeof TRY_ERRORS)[number]

/** What came of one try. */
export type TryOutcome =
  | { readonly ok: true; readonly statusCode: number }
  | {
      readonly ok: false
      readonly statusCode: number | null
      readonly error: TryError
      readonly message: string
      /** What the receiver asked for. */
      readonly retryAfterMs?: number | undefined
    }

/** Sends a message once. Null: it was stopped, and nobody knows whether it arrived. */
export type Post = (message: OutMessage, signal: AbortSignal) => Promise<TryOutcome | null>
