import { replyOf } from '../core/channel/reply.ts'
import { envelopeIn, writeLetter, type Envelope } from '../core/delivery/letter.ts'
import type { OutMessage, Post, SpeakTo, Speech, TryOutcome } from '../domain/delivery/message.ts'
import { runId, sessionKey } from '../domain/ids.ts'
import type { TerminalState } from '../domain/run/run-machine.ts'

/** Says something in a chat; made where channels and their secrets are known. */
export type Speak = (speech: Speech, signal: AbortSignal) => Promise<TryOutcome | null>

/** Sends messages into chats: the one that work came from, or one that a person has named. */
export const createChatPost =
  (speak: Speak): Post =>
  (message, signal) => {
    const { settings, orgId, run } = message
    const isReply = settings['reply'] === true
    const id = isReply && run !== null && run !== undefined ? runId(run.id) : null
    const envelope = envelopeIn(message.body)
    const text = isReply ? replyIn(envelope) : wordsOf(envelope)
    return speak({ orgId, to: placeOf(message), text, runId: id }, signal)
  }

function placeOf({ settings }: OutMessage): SpeakTo {
  const { session, channel, to, chat_id: chat } = settings as Readonly<Record<string, string | undefined>>
  return session === undefined ? { channel: channel ?? '', to: to ?? chat ?? '' } : { session: sessionKey(session) }
}

/** An answer in a conversation is the answer and nothing else. */
function replyIn({ data }: Envelope): string {
  const [status, error] = [data['status'], data['error_message']]
  const errorMessage = typeof error === 'string' ? error : null
  return replyOf({ state: status as TerminalState, output: data['output'], errorMessage }).text
}

/** What nobody has asked for says what it is about, unless it is a result as it should be. */
export function wordsOf(envelope: Envelope): string {
  const { type, data } = envelope
  const { subject, text } = writeLetter(envelope)
  return type === 'run.completed' && data['status'] === 'success' ? text : `${subject}\n${text}`
}
