import { replyOf } from '../core/channel/reply.ts'
import { writeLetter, type Envelope } from '../core/delivery/letter.ts'
import type { OutMessage, Post, TryOutcome } from '../core/delivery/message.ts'
import { runId, sessionKey, type OrgId, type RunId, type SessionKey } from '../core/ids.ts'
import type { TerminalState } from '../core/run/run-machine.ts'

/** Says something in a chat; made where channels and their secrets are known. */
export type Speak = (
  speech: {
    readonly orgId: OrgId
    readonly to: { readonly session: SessionKey } | { readonly channel: string; readonly to: string }
    readonly text: string
    readonly runId: RunId | null
  },
  signal: AbortSignal,
) => Promise<TryOutcome | null>

/** Sends messages into chats: the one that work came from, or one that a person has named. */
export const createChatPost =
  (speak: Speak): Post =>
  (message, signal) => {
    const { settings, orgId, run } = message
    const isReply = settings['reply'] === true
    const id = isReply && run !== null && run !== undefined ? runId(run.id) : null
    return speak(
      { orgId, to: placeOf(message), text: isReply ? replyIn(message.body) : wordsOf(message.body), runId: id },
      signal,
    )
  }

function placeOf({ settings }: OutMessage): Parameters<Speak>[0]['to'] {
  const { session, channel, to, chat_id: chat } = settings as Readonly<Record<string, string | undefined>>
  return session === undefined ? { channel: channel ?? '', to: to ?? chat ?? '' } : { session: sessionKey(session) }
}

/** An answer in a conversation is the answer and nothing else. */
function replyIn(body: string): string {
  const { data } = JSON.parse(body) as Envelope
  const [status, error] = [data['status'], data['error_message']]
  const errorMessage = typeof error === 'string' ? error : null
  return replyOf({ state: status as TerminalState, output: data['output'], errorMessage }).text
}

/** What nobody has asked for says what it is about, unless it is a result as it should be. */
export function wordsOf(body: string): string {
  const { subject, text } = writeLetter(body)
  const { type, data } = JSON.parse(body) as Envelope
  return type === 'run.completed' && data['status'] === 'success' ? text : `${subject}\n${text}`
}
