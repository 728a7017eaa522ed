import { ErrQueueFull, Refusal } from '../../api/refusals.ts'
import { decideAdmittance, strangerText } from '../../core/channel/admittance.ts'
import { CHAT_CONCURRENCY, chatSession, heardText, type HeardMessage } from '../../core/channel/channel.ts'
import { admittanceOf } from '../../domain/channel/channel-settings.ts'
import type { OpenChannel } from '../../domain/channel/services.ts'
import { laneName, messageId, type MessageId, type RunId, type SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { parseSessionCommand } from '../../domain/session/stop.ts'
import type { ChannelRow } from '../../features/channels/store.ts'
import { isMarkOpen, saveChat, saveMark } from '../../features/channels/chats-store.ts'
import type { Transaction } from '../../store/database.ts'
import { overDailyLimit } from '../daily-limit.ts'
import { submissionFor } from '../desk/submit.ts'
import { once, type Once } from '../idempotent.ts'
import { bindingOf, onceMarked, type Sent } from '../message-once.ts'
import { messageWork, stopWork, type MessageSubmission } from '../messages.ts'
import { overBudget } from '../over-budget.ts'
import type { Ports } from '../ports.ts'
import type { Work } from '../turn-port.ts'

/** What became of something that was said in a channel. */
export type Taken =
  | { readonly kind: 'accepted'; readonly runId: RunId; readonly duplicate: boolean }
  | { readonly kind: 'stopped'; readonly stopped: number; readonly drained: number }
  /** Nobody who may speak said it. */
  | { readonly kind: 'turned_away'; readonly told: boolean }

/** What became of something that was said in a chat, which has been told if it was refused. */
export type TakenInChat =
  | Taken
  /** `failure`: what is wrong with the channel, if that is why. */
  | { readonly kind: 'refused'; readonly failure: string | null }

/** Something that was said, where, and what a repetition of it would say. */
export interface Said {
  readonly row: ChannelRow
  readonly heard: HeardMessage
  readonly body: unknown
  readonly trace?: string | null | undefined
}

/** Takes in what was said in a channel: as a command, or as a message that becomes a run. Refuses as messages are refused. */
export async function takeSaid(ports: Ports, said: Said): Promise<Taken> {
  const { row, heard } = said
  if (heard.chat.kind !== 'hook') {
    const admitted = decideAdmittance(admittanceOf(row.settings), heard)
    if (admitted.kind === 'turned_away') return { kind: 'turned_away', told: admitted.told }
  }
  const key = chatSession({ agentId: row.agentId, channel: row.name }, heard.chat)
  const command = heard.chat.kind === 'hook' ? null : parseSessionCommand(heard.text)
  // The id of a call to a hook names its message, whatever else is in it.
  const body = heard.chat.kind === 'hook' ? undefined : said.body
  const bound: Once = { principal: `channel:${row.id}`, route: 'channels.hear', key: heard.eventId, body }
  if (command !== null) {
    const work = stopWork({ orgId: row.orgId, principal: `channel:${row.id}` }, key, {
      ...{ how: command, sentAt: heard.sentAt, sender: heard.sender?.id ?? null },
    })
    return { kind: 'stopped', ...(await ports.turns.take(once(work, bound, () => true))) }
  }
  const work = saidWork(said, key)
  const named = { principal: `channel:${row.id}`, session: key, messageId: messageIdOf(said) }
  const { submitted, duplicate } = await ports.turns.take(onceMarked(work, [bindingOf(named), bound]))
  if (submitted.kind === 'rejected')
    throw overBudget(submitted) ?? overDailyLimit(submitted) ?? new ErrQueueFull(submitted.runId)
  return { kind: 'accepted', runId: submitted.runId, duplicate: duplicate === true }
}

function saidWork(said: Said, key: SessionKey): Work<Sent> {
  const { row, heard } = said
  const { kind } = heard.chat
  return {
    ...messageWork(row, submissionOf(said, key), (desk) => {
      const own = desk.sessions.get(key)?.own.maxConcurrent
      // What a person has set for the conversation stays.
      return kind === 'hook' || own !== undefined ? {} : { maxConcurrent: CHAT_CONCURRENCY[kind] }
    }),
    conclude: (tx, { submitted }, now) => {
      if (kind !== 'hook') remember(tx, { row, heard, key, kind, now })
      const isMarked = submitted.kind === 'accepted' || submitted.kind === 'merged'
      if (row.kind === 'telegram' && isMarked) {
        const { orgId, id: channelId } = row
        const at = { peer: heard.chat.peer, messages: [heard.messageId] }
        saveMark(tx, { orgId, runId: submitted.runId, channelId, ...at }, now)
      }
      return Promise.resolve()
    },
  }
}

function remember(
  tx: Transaction,
  of: {
    readonly row: ChannelRow
    readonly heard: HeardMessage
    readonly key: SessionKey
    readonly kind: 'dm' | 'group'
    readonly now: Instant
  },
): void {
  const { orgId, id: channelId, agentId } = of.row
  const { peer, title } = of.heard.chat
  saveChat(tx, { orgId, channelId, peer, kind: of.kind, title, agentId, sessionKey: of.key }, of.now)
}

/** A channel numbers messages by conversation. */
const messageIdOf = ({ row, heard }: Pick<Said, 'row' | 'heard'>): MessageId =>
  messageId(`${row.name}:${heard.chat.peer}:${heard.messageId}`)

function submissionOf({ row, heard, trace }: Said, key: SessionKey): MessageSubmission {
  const isHook = heard.chat.kind === 'hook'
  const id = messageIdOf({ row, heard })
  const { lane } = row.settings
  const name = heard.sender?.name ?? null
  return submissionFor({
    trigger: isHook ? 'webhook' : 'message',
    agentId: row.agentId,
    sessionKey: key,
    content: {
      ...{ text: heardText(heard), attachments: heard.attachments, messageIds: [id] },
      fields: { channel: row.name, ...(name === null ? {} : { sender_name: name }) },
    },
    sender: heard.sender?.id ?? null,
    sentAt: heard.sentAt,
    lane: lane === null ? null : laneName(lane),
    trace,
    delivery: isHook ? null : { session: key },
  })
}

/**
 * Takes in what was said in a chat and tells the chat what it has to know at once. Answers with nothing to do again:
 * whoever is refused was told so. Only what nobody can help, such as a database that is away, is thrown.
 */
export async function takeInChat(ports: Ports, open: OpenChannel, said: Said): Promise<TakenInChat> {
  const { heard } = said
  const { peer } = heard.chat
  try {
    const taken = await takeSaid(ports, said)
    if (taken.kind === 'accepted') void markSeen(ports, open, { said, runId: taken.runId }).catch(() => undefined)
    // Whoever brought it waits for an answer, and what is said in the chat may take its time.
    if (taken.kind === 'stopped') void tell(ports, open, { peer, text: stoppedText(taken) })
    if (taken.kind === 'turned_away' && taken.told) void tell(ports, open, { peer, text: strangerText(heard.sender) })
    return taken
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error
    void tell(ports, open, { peer, text: refusedText(error) })
    return { kind: 'refused', failure: CHAT_LIMITS.has(error.code) ? null : error.message }
  }
}

/** Refusals that say nothing about the channel. */
const CHAT_LIMITS: ReadonlySet<string> = new Set(['SESSION_QUEUE_FULL', 'BUDGET', 'RUNS_PER_DAY'])

/** Marks a message as seen. When its answer was quicker, the mark would stay for ever: then it goes again. */
async function markSeen(
  ports: Ports,
  open: OpenChannel,
  { said: { row, heard }, runId }: { readonly said: Said; readonly runId: RunId },
): Promise<void> {
  const { messageId } = heard
  const { peer } = heard.chat
  await ports.channels.markSeen(open, { peer, messageId })
  if (row.kind !== 'telegram' || (await isMarkOpen(ports.database, { orgId: row.orgId, runId }))) return
  const nothing = { peer, text: '', placeholder: null, marked: [messageId] }
  await ports.channels.say(open, nothing, new AbortController().signal)
}

async function tell(
  { channels }: Pick<Ports, 'channels'>,
  open: OpenChannel,
  { peer, text }: { readonly peer: string; readonly text: string },
): Promise<void> {
  await channels.say(open, { peer, text, placeholder: null, marked: [] }, new AbortController().signal)
}

const stoppedText = ({ stopped, drained }: { readonly stopped: number; readonly drained: number }): string =>
  stopped + drained === 0 ? 'There was nothing to stop.' : `Stopped: ${stopped}. Not begun any more: ${drained}.`

/** People in a chat cannot change what is wrong with a channel, but they can come back later. */
function refusedText({ code, retryAfterMs }: Refusal): string {
  if (code === 'SESSION_QUEUE_FULL') return 'Too many messages are waiting here. Please send this one again later.'
  if (code !== 'BUDGET' && code !== 'RUNS_PER_DAY') return 'I cannot answer at the moment.'
  return `I may not do more for now${retryAfterMs === null ? '' : `; try again in ${waitText(retryAfterMs)}`}.`
}

const waitText = (ms: number): string =>
  ms < 3_600_000 ? `${Math.max(1, Math.ceil(ms / 60_000))} min` : `${Math.ceil(ms / 3_600_000)} h`
