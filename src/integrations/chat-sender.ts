import { chatReplyOf } from '../domain/channel/reply.ts'
import { parseEnvelope, renderTextMessage, type Envelope } from '../domain/delivery/email-message.ts'
import type {
  OutgoingMessage,
  SendOnce,
  ChatDestination,
  OutgoingChatMessage,
  TryOutcome,
} from '../domain/delivery/message.ts'
import { runId, sessionKey } from '../domain/ids.ts'
import type { TerminalState } from '../domain/run/run-machine.ts'

/** Sends a text to a chat. */
export type SendToChat = (chatMessage: OutgoingChatMessage, signal: AbortSignal) => Promise<TryOutcome | null>

/** Sends messages to chats: the chat of the run, or one given by a user. */
export const createChatSender =
  (sendToChat: SendToChat): SendOnce =>
  (message, signal) => {
    const { settings, orgId, run } = message
    const isReply = settings['reply'] === true
    const id = isReply && run !== null && run !== undefined ? runId(run.id) : null
    const envelope = parseEnvelope(message.body)
    const text = isReply ? replyContent(envelope) : envelopeText(envelope)
    return sendToChat({ orgId, to: recipientOf(message), text, runId: id }, signal)
  }

function recipientOf({ settings }: OutgoingMessage): ChatDestination {
  const { session, channel, to, chat_id: chat } = settings as Readonly<Record<string, string | undefined>>
  return session === undefined ? { channel: channel ?? '', to: to ?? chat ?? '' } : { session: sessionKey(session) }
}

/** A reply contains the answer only. */
function replyContent({ data }: Envelope): string {
  const [status, error] = [data['status'], data['error_message']]
  const errorMessage = typeof error === 'string' ? error : null
  return chatReplyOf({ state: status as TerminalState, output: data['output'], errorMessage }).text
}

/** A message that is not a reply starts with its subject, unless it is a successful result. */
export function envelopeText(envelope: Envelope): string {
  const { type, data } = envelope
  const { subject, text } = renderTextMessage(envelope)
  return type === 'run.completed' && data['status'] === 'success' ? text : `${subject}\n${text}`
}
