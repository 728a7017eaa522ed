import { type AgentId, type SessionKey, sessionKey } from '../ids.ts'
import type { Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'

/** The sources of messages besides the API: two messengers, and clients that sign their requests. */
export const CHANNEL_KINDS = ['telegram', 'slack', 'hook'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** The kinds of chat. */
const CHAT_KINDS = ['dm', 'group', 'hook'] as const
export type ChatKind = (typeof CHAT_KINDS)[number]

/** A message received through a channel, in a form common to all kinds. */
export interface ReceivedChannelMessage {
  /** Identifies repeated deliveries of the same message. */
  readonly eventId: string
  readonly chat: {
    readonly kind: ChatKind
    /** Where a reply goes, as the service has it: a chat, optionally followed by a slash and a thread. */
    readonly peer: string
    readonly title: string | null
  }
  readonly sender: { readonly id: string; readonly name: string | null } | null
  /** The id of the message at the service. */
  readonly messageId: string
  readonly text: string
  readonly attachments: readonly unknown[]
  /** The send time of the service, if it has millisecond precision. */
  readonly sentAt: Instant | null
}

/** The maximum number of concurrent runs per chat: a group has several senders, a direct chat one. */
export const CHAT_CONCURRENCY: Readonly<Record<ChatKind, number>> = { dm: 1, group: 3, hook: 1 }

/** The session key of a chat. */
export const chatSession = (
  of: { readonly agentId: AgentId; readonly channel: string },
  chat: Pick<ReceivedChannelMessage['chat'], 'kind' | 'peer'>,
): SessionKey => sessionKey(`agent:${of.agentId}:${of.channel}:${chat.kind}:${chat.peer}`)

/** Joins and splits a chat and its thread. */
export const joinPeer = (chat: string, thread: string | null): string => (thread === null ? chat : `${chat}/${thread}`)
export function splitPeer(peer: string): { readonly chat: string; readonly thread: string | null } {
  const at = peer.indexOf('/')
  return at === -1 ? { chat: peer, thread: null } : { chat: peer.slice(0, at), thread: peer.slice(at + 1) }
}

/** The text that the agent receives; in a group it includes the sender's name. */
export const receivedMessageText = ({
  chat,
  sender,
  text,
}: Pick<ReceivedChannelMessage, 'chat' | 'sender' | 'text'>): string =>
  chat.kind === 'group' && sender !== null ? `${sender.name ?? sender.id}: ${text}` : text

/** Who may send messages in a channel. */
export interface ChannelAccess {
  /** Whether every sender is allowed. */
  readonly open: boolean
  readonly allowedUsers: readonly string[]
  readonly allowedChats: readonly string[]
}

type ChannelAccessDecision =
  | { readonly kind: 'admitted'; readonly why: Why }
  /** Nothing runs. With `told`, the sender gets a reply that says so: in direct chats only, not in groups. */
  | { readonly kind: 'turned_away'; readonly told: boolean; readonly why: Why }

/**
 * Decides whether a message is accepted. Only listed senders are, because a message to an agent spends its owner's
 * money and can read what it knows. A group is allowed as a whole, because all its members read the answers.
 */
export function decideChannelAccess(
  { open, allowedUsers, allowedChats }: ChannelAccess,
  { chat, sender }: Pick<ReceivedChannelMessage, 'chat' | 'sender'>,
): ChannelAccessDecision {
  const chatId = splitPeer(chat.peer).chat
  const evidence = { chat: chatId, sender: sender?.id ?? 'An unnamed sender' }
  if (open) return { kind: 'admitted', why: because('known_sender', 'channel.open', evidence) }
  if (allowedChats.includes(chatId))
    return { kind: 'admitted', why: because('known_sender', 'channel.allowed_chats', evidence) }
  if (chat.kind === 'dm' && sender !== null && allowedUsers.includes(sender.id))
    return { kind: 'admitted', why: because('known_sender', 'channel.allowed_users', evidence) }
  const rule = chat.kind === 'dm' ? 'channel.allowed_users' : 'channel.allowed_chats'
  return { kind: 'turned_away', told: chat.kind === 'dm', why: because('unknown_sender', rule, evidence) }
}

/** The reply to an unknown sender: how to get access. */
export const unknownSenderText = (sender: ReceivedChannelMessage['sender']): string =>
  sender === null
    ? 'I only talk to people I know.'
    : `I only talk to people I know. Your id here is ${sender.id}; ask the operator of this bot to allow it.`
