import { because, type Why } from '../../domain/reasons.ts'
import { splitPeer, type HeardMessage } from './channel.ts'

/** Who may speak in a channel. */
export interface Admittance {
  /** Everybody who finds the channel. */
  readonly open: boolean
  readonly allowedUsers: readonly string[]
  readonly allowedChats: readonly string[]
}

export type AdmittanceDecision =
  | { readonly kind: 'admitted'; readonly why: Why }
  /** Nothing runs. `told`: a person who writes to us alone is told so; a group is not disturbed. */
  | { readonly kind: 'turned_away'; readonly told: boolean; readonly why: Why }

/**
 * Decides whether somebody is heard. Nobody is unless they are named: whoever speaks to an agent spends its owner's
 * money and reads what it knows. A group is let in as a whole, because everybody in it reads the answers.
 */
export function decideAdmittance(
  { open, allowedUsers, allowedChats }: Admittance,
  { chat, sender }: Pick<HeardMessage, 'chat' | 'sender'>,
): AdmittanceDecision {
  const place = splitPeer(chat.peer).chat
  const evidence = { chat: place, sender: sender?.id ?? 'Somebody without a name' }
  if (open) return { kind: 'admitted', why: because('known_sender', 'channel.open', evidence) }
  if (allowedChats.includes(place))
    return { kind: 'admitted', why: because('known_sender', 'channel.allowed_chats', evidence) }
  if (chat.kind === 'dm' && sender !== null && allowedUsers.includes(sender.id))
    return { kind: 'admitted', why: because('known_sender', 'channel.allowed_users', evidence) }
  const rule = chat.kind === 'dm' ? 'channel.allowed_users' : 'channel.allowed_chats'
  return { kind: 'turned_away', told: chat.kind === 'dm', why: because('unknown_sender', rule, evidence) }
}

/** What somebody unknown is told: how they can become known. */
export const strangerText = (sender: HeardMessage['sender']): string =>
  sender === null
    ? 'I only talk to people I know.'
    : `I only talk to people I know. Your id here is ${sender.id}: whoever runs this bot can let you in with it.`
