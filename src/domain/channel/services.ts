import type { TryOutcome } from '../delivery/message.ts'
import type { ChannelKind, HeardMessage } from '../../core/channel/channel.ts'
import type { ChannelSettings } from './channel-settings.ts'

/** What lets us speak for a channel, in clear: only ever in memory. */
export interface ChannelCredentials {
  readonly token?: string
  readonly signing_secret?: string
}

/** A channel as the services behind channels have to know it. */
export interface OpenChannel {
  readonly kind: ChannelKind
  readonly credentials: ChannelCredentials
  readonly settings: ChannelSettings
  readonly identity: { readonly id: string; readonly username: string } | null
}

/** A request that came to a channel, with the very bytes its signature is of. */
export interface ChannelRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
  readonly now: number
}

/** What a request is to us once its signature is found to be good. */
export type ChannelHeard =
  /** It is not signed by whom it says. */
  | { readonly kind: 'unsigned'; readonly message: string }
  /** Somebody asks whether we are there, and wants this for an answer. */
  | { readonly kind: 'challenge'; readonly answer: Readonly<Record<string, unknown>> }
  /** There is nothing in it for us. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'message'; readonly message: HeardMessage }
  /** Anything: the settings of the channel say what it means. */
  | { readonly kind: 'body'; readonly id: string; readonly body: unknown }

/** Something that is said in a chat, and what stood there for it. */
export interface ChannelWords {
  readonly peer: string
  /** Nothing: only what stood for the answer is cleared. */
  readonly text: string
  readonly placeholder: string | null
  /** Messages that were marked as seen. */
  readonly marked: readonly string[]
}

/** Updates, or why there are none. */
export type Updates =
  | { readonly ok: true; readonly updates: readonly unknown[] }
  | { readonly ok: false; readonly message: string; readonly retryAfterMs: number | null }

/** The services behind channels. Nothing throws; what only decorates a chat may fail in silence. */
export interface ChannelsPort {
  /** Judges a request and reads it. `parse` is asked only for what is signed, and may refuse. */
  readonly hear: (channel: OpenChannel, request: ChannelRequest, parse: (bytes: Uint8Array) => unknown) => ChannelHeard
  /** Reads an update that was asked for; null: there is nothing in it for us. */
  readonly readUpdate: (channel: OpenChannel, update: unknown) => HeardMessage | null
  readonly updateId: (update: unknown) => number | null
  /** Asks for updates, and waits a while for some. Null: it was stopped. */
  readonly updates: (channel: OpenChannel, after: number | null, signal: AbortSignal) => Promise<Updates | null>
  /** Says something. Null: it was stopped, and nobody knows whether it arrived. */
  readonly say: (channel: OpenChannel, words: ChannelWords, signal: AbortSignal) => Promise<TryOutcome | null>
  /** Who the channel is for its service, or why nobody can say. Null: it was stopped, or the kind has no such thing. */
  readonly identify: (
    channel: OpenChannel,
    signal: AbortSignal,
  ) => Promise<{ readonly outcome: TryOutcome; readonly identity: OpenChannel['identity'] } | null>
  /** Lets updates be brought to an address, or, without one, be asked for. */
  readonly setWebhook: (channel: OpenChannel, url: string | null, signal: AbortSignal) => Promise<TryOutcome | null>
  /** Marks a message as seen. */
  readonly markSeen: (channel: OpenChannel, at: { readonly peer: string; readonly messageId: string }) => Promise<void>
  readonly showTyping: (channel: OpenChannel, peer: string) => Promise<void>
  /** Puts something where the answer will be. Null: nothing is there. */
  readonly holdPlace: (channel: OpenChannel, peer: string) => Promise<string | null>
  readonly removeMessage: (
    channel: OpenChannel,
    at: { readonly peer: string; readonly messageId: string },
  ) => Promise<void>
}
