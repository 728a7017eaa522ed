import type { OrgId, RunId, SessionKey } from '../ids.ts'
import type { TargetKind, TargetSettings } from '../../core/delivery/target-kinds.ts'

/** What is sent: an envelope or a task, or the JSON of one that was stored. Kinds for people write a letter of it. */
export type OutBody = object | string

/** What is sent, as JSON. */
export const jsonOf = (body: OutBody): string => (typeof body === 'string' ? body : JSON.stringify(body))

/** Something that is sent to a receiver, the same on every try but for its time and signature. */
export interface OutMessage {
  /** What receivers recognise a repetition by. */
  readonly id: string
  /** How it is carried. A callback goes as a webhook does. */
  readonly kind: TargetKind
  readonly orgId: OrgId
  readonly url: string
  /** What its target was set up with; empty for a callback. */
  readonly settings: TargetSettings
  readonly body: OutBody
  readonly headers: Readonly<Record<string, string>>
  /** Each signs it; while a secret is being changed there are two. */
  readonly secrets: readonly string[]
  /** Who chose the address: a person for a target, or a program for one task. */
  readonly purpose: 'callback' | 'webhook'
  /** The trace its run belongs to. */
  readonly trace?: string | null
  /** The run it is the result of, and its session; null for an alert or a digest. */
  readonly run?: { readonly id: string; readonly sessionKey: string | null } | null
}

/** Why a try failed, for programs. */
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

/** What came of one try. */
export type TryOutcome =
  | { readonly ok: true; readonly statusCode: number | null }
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

/** Who a chat message is for: the conversation of a session, or a person or group in a channel. */
export type SpeakTo = { readonly session: SessionKey } | { readonly channel: string; readonly to: string }

/** A message to a chat. */
export interface Speech {
  readonly orgId: OrgId
  readonly to: SpeakTo
  /** Empty: what stands for an answer is cleared. */
  readonly text: string
  /** The run whose answer it is; what shows that it is at work goes. */
  readonly runId: RunId | null
}
