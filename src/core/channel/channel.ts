import { type AgentId, type SessionKey, sessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'

/** Where messages come from besides the API: two messengers, and whoever can sign a request. */
export const CHANNEL_KINDS = ['telegram', 'slack', 'hook'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** How many take part in a conversation; what a hook brings has nobody who reads along. */
export const CHAT_KINDS = ['dm', 'group', 'hook'] as const
export type ChatKind = (typeof CHAT_KINDS)[number]

/** Something that was said in a channel, whatever the channel calls its parts. */
export interface HeardMessage {
  /** What a repetition of it is recognised by. */
  readonly eventId: string
  readonly chat: {
    readonly kind: ChatKind
    /** Where an answer goes, as the channel knows it: a chat, and after a slash the thread in it. */
    readonly peer: string
    readonly title: string | null
  }
  readonly sender: { readonly id: string; readonly name: string | null } | null
  /** The message itself, as the channel knows it. */
  readonly messageId: string
  readonly text: string
  readonly attachments: readonly unknown[]
  /** The channel's own time, if it has milliseconds. */
  readonly sentAt: Instant | null
}

/** At most so many runs of one conversation at a time: a group has several askers, a chat with one person has one. */
export const CHAT_CONCURRENCY: Readonly<Record<ChatKind, number>> = { dm: 1, group: 3, hook: 1 }

/** The session of a conversation. */
export const chatSession = (
  of: { readonly agentId: AgentId; readonly channel: string },
  chat: Pick<HeardMessage['chat'], 'kind' | 'peer'>,
): SessionKey => sessionKey(`agent:${of.agentId}:${of.channel}:${chat.kind}:${chat.peer}`)

/** A peer with its thread, and back again. */
export const joinPeer = (chat: string, thread: string | null): string => (thread === null ? chat : `${chat}/${thread}`)
export function splitPeer(peer: string): { readonly chat: string; readonly thread: string | null } {
  const at = peer.indexOf('/')
  return at === -1 ? { chat: peer, thread: null } : { chat: peer.slice(0, at), thread: peer.slice(at + 1) }
}

/** What an agent reads: in a group it has to know who speaks. */
export const heardText = ({ chat, sender, text }: Pick<HeardMessage, 'chat' | 'sender' | 'text'>): string =>
  chat.kind === 'group' && sender !== null ? `${sender.name ?? sender.id}: ${text}` : text
