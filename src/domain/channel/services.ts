import type { TryOutcome } from '../delivery/message.ts'
import type { ChannelKind, ReceivedChannelMessage } from './channel.ts'
import type { ChannelSettings } from './channel-settings.ts'

/** The credentials of a channel in plain text; kept in memory only. */
export interface ChannelCredentials {
  readonly token?: string
  readonly signing_secret?: string
}

/** A channel as the adapters of the services need it. */
export interface OpenChannel {
  readonly kind: ChannelKind
  readonly credentials: ChannelCredentials
  readonly settings: ChannelSettings
  readonly identity: { readonly id: string; readonly username: string } | null
}

/** A request to a channel, with the raw body that its signature covers. */
export interface ChannelRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
  readonly now: number
}

/** The result of verifying and reading a channel request. */
export type ChannelRequestResult =
  /** The signature is missing or invalid. */
  | { readonly kind: 'unsigned'; readonly message: string }
  /** The service verifies the address and expects this answer. */
  | { readonly kind: 'challenge'; readonly answer: Readonly<Record<string, unknown>> }
  /** It contains no message. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'message'; readonly message: ReceivedChannelMessage }
  /** Any body; the templates of the channel turn it into a message. */
  | { readonly kind: 'body'; readonly id: string; readonly body: unknown }

/** A message to a chat, and the indicators it replaces. */
export interface OutgoingChannelMessage {
  readonly peer: string
  /** Empty: only the indicators are cleared. */
  readonly text: string
  readonly placeholder: string | null
  /** Messages that have a "seen" reaction. */
  readonly seenMessages: readonly string[]
}

/** Polled updates, or why polling failed. */
export type PolledUpdates =
  | { readonly ok: true; readonly updates: readonly unknown[] }
  | { readonly ok: false; readonly message: string; readonly retryAfterMs: number | null }

/** The adapters of the services behind channels. No method throws; failures of indicators are ignored. */
export interface ChannelsPort {
  /** Verifies and reads a request. `parse` is called only for signed bodies and may refuse them. */
  readonly receive: (
    channel: OpenChannel,
    request: ChannelRequest,
    parse: (bytes: Uint8Array) => unknown,
  ) => ChannelRequestResult
  /** Reads a polled update; null when it contains no message. */
  readonly readUpdate: (channel: OpenChannel, update: unknown) => ReceivedChannelMessage | null
  readonly updateId: (update: unknown) => number | null
  /** Polls for updates and waits a while for some; null when it was stopped. */
  readonly pollUpdates: (
    channel: OpenChannel,
    after: number | null,
    signal: AbortSignal,
  ) => Promise<PolledUpdates | null>
  /** Sends a message; null when it was stopped and it is unknown whether the message arrived. */
  readonly send: (
    channel: OpenChannel,
    words: OutgoingChannelMessage,
    signal: AbortSignal,
  ) => Promise<TryOutcome | null>
  /**
   * The identity of the channel at its service, or why it cannot be determined; null when it was stopped or the kind
   * has no identity.
   */
  readonly identify: (
    channel: OpenChannel,
    signal: AbortSignal,
  ) => Promise<{ readonly outcome: TryOutcome; readonly identity: OpenChannel['identity'] } | null>
  /** Registers a webhook address, or with null switches to polling. */
  readonly setWebhook: (channel: OpenChannel, url: string | null, signal: AbortSignal) => Promise<TryOutcome | null>
  /** Adds a "seen" reaction to a message. */
  readonly markSeen: (channel: OpenChannel, at: { readonly peer: string; readonly messageId: string }) => Promise<void>
  readonly showTyping: (channel: OpenChannel, peer: string) => Promise<void>
  /** Sends a placeholder for the answer; null when none was sent. */
  readonly showPlaceholder: (channel: OpenChannel, peer: string) => Promise<string | null>
  readonly removeMessage: (
    channel: OpenChannel,
    at: { readonly peer: string; readonly messageId: string },
  ) => Promise<void>
}
