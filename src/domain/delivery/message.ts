import type { OrgId, RunId, SessionKey } from '../ids.ts'
import type { TargetKind, TargetSettings } from './target-kinds.ts'

/**
 * The body of an outgoing message: an envelope or a task, or its stored JSON. Targets for people render a text of it.
 */
export type MessageBody = object | string

/** The body as JSON. */
export const bodyJson = (body: MessageBody): string => (typeof body === 'string' ? body : JSON.stringify(body))

/** An outgoing message; every try is the same except for its time and signature. */
export interface OutgoingMessage {
  /** Identifies repeated deliveries for the receiver. */
  readonly id: string
  /** The transport. A callback uses the webhook transport. */
  readonly kind: TargetKind
  readonly orgId: OrgId
  readonly url: string
  /** The settings of the target; empty for a callback. */
  readonly settings: TargetSettings
  readonly body: MessageBody
  readonly headers: Readonly<Record<string, string>>
  /** The signing secrets; two while a secret is rotated. */
  readonly secrets: readonly string[]
  /** Whether the address is a task's callback or a saved target's. */
  readonly purpose: 'callback' | 'webhook'
  /** The trace of its run. */
  readonly trace?: string | null
  /** The run whose result it is, with its session; null for an alert or a digest. */
  readonly run?: { readonly id: string; readonly sessionKey: string | null } | null
}

/** Machine-readable reasons why a try failed. */
export const TRY_ERRORS = [
  'http',
  'refused',
  'network',
  'timeout',
  'malformed',
  'smtp',
  'not_configured',
  'target_gone',
  'run_gone',
] as const
export type TryError = (typeof TRY_ERRORS)[number]

/** The result of one try. */
export type TryOutcome =
  | { readonly ok: true; readonly statusCode: number | null }
  | {
      readonly ok: false
      readonly statusCode: number | null
      readonly error: TryError
      readonly message: string
      /** The receiver's Retry-After. */
      readonly retryAfterMs?: number | undefined
    }

/** Sends a message once; null when it was stopped and it is unknown whether the message arrived. */
export type SendOnce = (message: OutgoingMessage, signal: AbortSignal) => Promise<TryOutcome | null>

/** The destination of a chat message: the chat of a session, or a recipient in a channel. */
export type ChatDestination = { readonly session: SessionKey } | { readonly channel: string; readonly to: string }

/** A message to a chat. */
export interface OutgoingChatMessage {
  readonly orgId: OrgId
  readonly to: ChatDestination
  /** Empty: only the indicators are cleared. */
  readonly text: string
  /** The run that it answers, whose indicators are cleared. */
  readonly runId: RunId | null
}
