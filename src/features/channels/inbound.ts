import { ErrQueueFull, Refusal } from '../../api/refusals.ts'
import {
  CHAT_CONCURRENCY,
  chatSession,
  decideChannelAccess,
  type ReceivedChannelMessage,
  receivedMessageText,
  unknownSenderText,
} from '../../domain/channel/channel.ts'
import { channelAccessOf } from '../../domain/channel/channel-settings.ts'
import type { OpenChannel } from '../../domain/channel/services.ts'
import { laneName, messageId, type MessageId, type RunId, type SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { parseSessionCommand } from '../../domain/session/stop.ts'
import type { ChannelRow } from './store.ts'
import { isIndicatorOpen, saveChat, saveIndicator } from './chats-store.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { budgetError, dailyLimitError } from '../budgets/limits.ts'
import { submissionFor } from '../../engine/commands/submit.ts'
import { executeOnce, type IdempotentRequest } from '../../engine/idempotency.ts'
import {
  messageBindingOf,
  type MessageSubmission,
  sendMessageCommand,
  oncePerBinding,
  type SentMessage,
  stopSessionCommand,
} from '../sessions/service.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Command } from '../../engine/commands-port.ts'

/** The outcome of a message to a channel. */
export type ChannelOutcome =
  | { readonly kind: 'accepted'; readonly runId: RunId; readonly duplicate: boolean }
  | { readonly kind: 'stopped'; readonly stopped: number; readonly drained: number }
  /** The sender is not allowed to use the channel. */
  | { readonly kind: 'turned_away'; readonly told: boolean }

/** The outcome of a chat message. The chat was notified if the message was refused. */
export type ChatOutcome =
  | ChannelOutcome
  /** `failure`: the error to show for the channel, if it caused the refusal. */
  | { readonly kind: 'refused'; readonly failure: string | null }

/** A received message, and the body by which a repetition is recognized. */
export interface ReceivedMessage {
  readonly row: ChannelRow
  readonly heard: ReceivedChannelMessage
  readonly body: unknown
  readonly trace?: string | null | undefined
}

/** Handles a message to a channel: as a command, or by submitting a run. Throws like the submission of messages. */
export async function receiveMessage(ports: Ports, received: ReceivedMessage): Promise<ChannelOutcome> {
  const { row, heard: message } = received
  if (message.chat.kind !== 'hook') {
    const admitted = decideChannelAccess(channelAccessOf(row.settings), message)
    if (admitted.kind === 'turned_away') return { kind: 'turned_away', told: admitted.told }
  }
  const key = chatSession({ agentId: row.agentId, channel: row.name }, message.chat)
  const command = message.chat.kind === 'hook' ? null : parseSessionCommand(message.text)
  // A webhook request is identified by its id alone, whatever its body.
  const body = message.chat.kind === 'hook' ? undefined : received.body
  const bound: IdempotentRequest = {
    principal: `channel:${row.id}`,
    route: 'channels.hear',
    key: message.eventId,
    body,
  }
  if (command !== null) {
    const orgCommand = stopSessionCommand({ orgId: row.orgId, principal: `channel:${row.id}` }, key, {
      ...{ how: command, sentAt: message.sentAt, sender: message.sender?.id ?? null },
    })
    return { kind: 'stopped', ...(await ports.commands.execute(executeOnce(orgCommand, bound, () => true))) }
  }
  const orgCommand = submitMessageCommand(received, key)
  const named = { principal: `channel:${row.id}`, session: key, messageId: messageIdOf(received) }
  const { submitted, duplicate } = await ports.commands.execute(
    oncePerBinding(orgCommand, [messageBindingOf(named), bound]),
  )
  if (submitted.kind === 'rejected')
    throw budgetError(submitted) ?? dailyLimitError(submitted) ?? new ErrQueueFull(submitted.runId)
  return { kind: 'accepted', runId: submitted.runId, duplicate: duplicate === true }
}

function submitMessageCommand(received: ReceivedMessage, key: SessionKey): Command<SentMessage> {
  const { row, heard: message } = received
  const { kind } = message.chat
  return {
    ...sendMessageCommand(row, submissionOf(received, key), (state) => {
      const own = state.sessions.get(key)?.own.maxConcurrent
      // A limit that a user set for the session is kept.
      return kind === 'hook' || own !== undefined ? {} : { maxConcurrent: CHAT_CONCURRENCY[kind] }
    }),
    afterApply: (tx, { submitted }, now) => {
      if (kind !== 'hook') saveMessageChat(tx, { row, heard: message, key, kind, now })
      const isAccepted = submitted.kind === 'accepted' || submitted.kind === 'merged'
      if (row.kind === 'telegram' && isAccepted) {
        const { orgId, id: channelId } = row
        const at = { peer: message.chat.peer, messages: [message.messageId] }
        saveIndicator(tx, { orgId, runId: submitted.runId, channelId, ...at }, now)
      }
      return Promise.resolve()
    },
  }
}

function saveMessageChat(
  tx: Transaction,
  of: {
    readonly row: ChannelRow
    readonly heard: ReceivedChannelMessage
    readonly key: SessionKey
    readonly kind: 'dm' | 'group'
    readonly now: Instant
  },
): void {
  const { orgId, id: channelId, agentId } = of.row
  const { peer, title } = of.heard.chat
  saveChat(tx, { orgId, channelId, peer, kind: of.kind, title, agentId, sessionKey: of.key }, of.now)
}

/** Message ids of a service are only unique within a chat. */
const messageIdOf = ({ row, heard: message }: Pick<ReceivedMessage, 'row' | 'heard'>): MessageId =>
  messageId(`${row.name}:${message.chat.peer}:${message.messageId}`)

function submissionOf({ row, heard: message, trace }: ReceivedMessage, key: SessionKey): MessageSubmission {
  const isHook = message.chat.kind === 'hook'
  const id = messageIdOf({ row, heard: message })
  const { lane } = row.settings
  const name = message.sender?.name ?? null
  return submissionFor({
    trigger: isHook ? 'webhook' : 'message',
    agentId: row.agentId,
    sessionKey: key,
    content: {
      ...{ text: receivedMessageText(message), attachments: message.attachments, messageIds: [id] },
      fields: { channel: row.name, ...(name === null ? {} : { sender_name: name }) },
    },
    sender: message.sender?.id ?? null,
    sentAt: message.sentAt,
    lane: lane === null ? null : laneName(lane),
    trace,
    delivery: isHook ? null : { session: key },
  })
}

/**
 * Handles a chat message and notifies the chat. A refusal is reported to the chat, so the message need not be sent
 * again. Only failures of the server, such as an unavailable database, are thrown.
 */
export async function receiveChatMessage(
  ports: Ports,
  open: OpenChannel,
  received: ReceivedMessage,
): Promise<ChatOutcome> {
  const { heard: message } = received
  const { peer } = message.chat
  try {
    const outcome = await receiveMessage(ports, received)
    if (outcome.kind === 'accepted')
      void markSeen(ports, open, { said: received, runId: outcome.runId }).catch(() => undefined)
    // Not awaited: the request must not wait for the reply in the chat.
    if (outcome.kind === 'stopped') void sendNotice(ports, open, { peer, text: stoppedText(outcome) })
    if (outcome.kind === 'turned_away' && outcome.told)
      void sendNotice(ports, open, { peer, text: unknownSenderText(message.sender) })
    return outcome
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error
    void sendNotice(ports, open, { peer, text: refusedText(error) })
    return { kind: 'refused', failure: CHAT_LIMITS.has(error.code) ? null : error.message }
  }
}

/** Refusals that are not caused by the channel's configuration. */
const CHAT_LIMITS: ReadonlySet<string> = new Set(['SESSION_QUEUE_FULL', 'BUDGET', 'RUNS_PER_DAY'])

/**
 * Marks a message as seen. If the answer was sent first, the mark is removed again, because nothing else would remove
 * it.
 */
async function markSeen(
  ports: Ports,
  open: OpenChannel,
  { said: { row, heard: message }, runId }: { readonly said: ReceivedMessage; readonly runId: RunId },
): Promise<void> {
  const { messageId } = message
  const { peer } = message.chat
  await ports.channels.markSeen(open, { peer, messageId })
  if (row.kind !== 'telegram' || (await isIndicatorOpen(ports.database, { orgId: row.orgId, runId }))) return
  const nothing = { peer, text: '', placeholder: null, seenMessages: [messageId] }
  await ports.channels.send(open, nothing, new AbortController().signal)
}

async function sendNotice(
  { channels }: Pick<Ports, 'channels'>,
  open: OpenChannel,
  { peer, text }: { readonly peer: string; readonly text: string },
): Promise<void> {
  await channels.send(open, { peer, text, placeholder: null, seenMessages: [] }, new AbortController().signal)
}

const stoppedText = ({ stopped, drained }: { readonly stopped: number; readonly drained: number }): string =>
  stopped + drained === 0 ? 'There was nothing to stop.' : `Stopped: ${stopped}. Removed from the queue: ${drained}.`

/** Chat users cannot fix a channel, but they can try again later. */
function refusedText({ code, retryAfterMs }: Refusal): string {
  if (code === 'SESSION_QUEUE_FULL') return 'Too many messages are waiting here. Please send this one again later.'
  if (code !== 'BUDGET' && code !== 'RUNS_PER_DAY') return 'I cannot answer at the moment.'
  return `I have reached my limit for now${retryAfterMs === null ? '' : `; try again in ${waitText(retryAfterMs)}`}.`
}

const waitText = (ms: number): string =>
  ms < 3_600_000 ? `${Math.max(1, Math.ceil(ms / 60_000))} min` : `${Math.ceil(ms / 3_600_000)} h`
