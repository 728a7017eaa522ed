import { findAcknowledgement } from '../../domain/heartbeat/acknowledgement.ts'
import { HEARTBEAT_DEFAULTS } from '../../domain/heartbeat/heartbeat-config.ts'
import type { RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Trigger } from '../../domain/run/run.ts'
import { estimateTokens } from '../../domain/input-fields.ts'

/** An answered, or interrupted, run of a session: the message and its reply. */
export interface ChatExchange {
  readonly runId: RunId
  readonly trigger: Trigger
  readonly sender: string | null
  readonly payload: unknown
  readonly reply: unknown
  /** The run that it retries. */
  readonly retryOf: RunId | null
  readonly startedAt: Instant
}

/** The new message. */
export type NewMessage = Pick<ChatExchange, 'payload' | 'sender' | 'retryOf'>

/** A message in the protocol's form. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string | readonly unknown[]
}

export interface Conversation {
  readonly messages: readonly ChatMessage[]
  /** The number of exchanges left out for lack of room. */
  readonly omitted: number
  /** The number of exchanges included. */
  readonly kept: number
  /** The estimated tokens of the messages. */
  readonly tokens: number
}

export interface ConversationFacts {
  readonly systemPrompt: string | null
  readonly past: readonly ChatExchange[]
  readonly newest: NewMessage
  /** The maximum number of tokens. */
  readonly maxTokens: number
}

/**
 * Builds the messages for a model: the system prompt, as many of the latest exchanges as fit, oldest first, and the
 * new message. The system prompt and the new message are always included; the oldest exchanges are left out first.
 */
export function conversationOf(facts: ConversationFacts): Conversation {
  const { systemPrompt, newest } = facts
  const past = relevantExchanges(facts)
  const name = senderNamer([...past.map(({ sender }) => sender), newest.sender])
  const message = prefixSender(userMessageIn(newest.payload), name(newest.sender))
  const system = systemPrompt === null || systemPrompt === '' ? [] : [systemPrompt]
  let tokens = [...system, message.text].reduce((sum, text) => sum + estimateTokens(text), 0)
  const taken: { readonly user: string; readonly assistant: string }[] = []
  for (const exchange of past.toReversed()) {
    const user = withoutParts(prefixSender(userMessageIn(exchange.payload), name(exchange.sender)))
    const assistant = replyAsText(exchange.reply)
    const cost = estimateTokens(user) + (assistant === '' ? 0 : estimateTokens(assistant))
    // No gaps: a conversation without its middle would be confusing.
    if (tokens + cost > facts.maxTokens) break
    tokens += cost
    taken.unshift({ user, assistant })
  }
  const messages: ChatMessage[] = [
    ...system.map((content) => ({ role: 'system', content }) as const),
    ...joinMessages(taken, message),
  ]
  return { messages, omitted: past.length - taken.length, kept: taken.length, tokens }
}

/** The exchanges that belong to the conversation, by start time; retried runs and quiet heartbeats do not. */
function relevantExchanges({ past, newest }: ConversationFacts): readonly ChatExchange[] {
  const repeated = new Set([newest.retryOf, ...past.map(({ retryOf }) => retryOf)])
  return past
    .filter((exchange) => !repeated.has(exchange.runId) && !isQuietHeartbeat(exchange))
    .toSorted((a, b) => a.startedAt - b.startedAt || (a.runId < b.runId ? -1 : 1))
}

/** A heartbeat without news is left out, because each would cost tokens in every later request. */
function isQuietHeartbeat({ trigger, reply }: ChatExchange): boolean {
  if (trigger !== 'heartbeat') return false
  const found = findAcknowledgement(replyAsText(reply))
  return found !== null && found.other.length <= HEARTBEAT_DEFAULTS.ackMaxChars
}

/** With several senders, messages are prefixed with the sender's name. */
function senderNamer(senders: readonly (string | null)[]): (sender: string | null) => string | null {
  const several = new Set(senders.filter((sender) => sender !== null)).size > 1
  return (sender) => (several ? sender : null)
}

const prefixSender = (message: UserMessage, name: string | null): UserMessage =>
  name === null ? message : { ...message, text: `${name}: ${message.text}` }

/** Images and files are sent only with their own message, not in later requests. */
const withoutParts = ({ text, parts }: UserMessage): string =>
  parts.length === 0 ? text : `${text}\n[${parts.length} attached]`.trimStart()

/** Joins consecutive user messages into one, because some servers require alternating roles. */
function joinMessages(
  past: readonly { readonly user: string; readonly assistant: string }[],
  newest: UserMessage,
): readonly ChatMessage[] {
  const messages: ChatMessage[] = []
  const unanswered: string[] = []
  for (const { user, assistant } of past) {
    unanswered.push(user)
    if (assistant === '') continue
    messages.push(
      { role: 'user', content: unanswered.splice(0).join('\n\n') },
      { role: 'assistant', content: assistant },
    )
  }
  const text = [...unanswered, newest.text].join('\n\n')
  const content = newest.parts.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text', text }]), ...newest.parts]
  return [...messages, { role: 'user', content }]
}

/** A user message. */
interface UserMessage {
  readonly text: string
  /** Attachments in the protocol's form: images, audio, files. */
  readonly parts: readonly unknown[]
}

type Fields = Readonly<Partial<Record<string, unknown>>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const asJsonText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The text in place of an attachment that an API does not support. */
export const attachmentText = (part: unknown): string =>
  `[attachment of type ${isObject(part) ? String(part['type']) : 'unknown'}]`

/** The types of content part that the protocol supports. */
const PART_TYPES: readonly unknown[] = ['image_url', 'input_audio', 'file']
const isPart = (value: unknown): boolean => isObject(value) && PART_TYPES.includes(value['type'])

/**
 * The message in a payload: the text of a message with its attachments, the prompt of a schedule with its context and
 * requested output, or anything else as JSON.
 */
export function userMessageIn(payload: unknown): UserMessage {
  if (!isObject(payload))
    return { text: payload === null || payload === undefined ? '' : asJsonText(payload), parts: [] }
  const { text, prompt, context = null, output = null, attachments } = payload
  if (typeof prompt === 'string') {
    const lines = [
      prompt,
      ...(context === null ? [] : [`Context:\n${asJsonText(context)}`]),
      ...(output === null ? [] : [`Output:\n${asJsonText(output)}`]),
    ]
    return { text: lines.join('\n\n'), parts: [] }
  }
  if (typeof text !== 'string') return { text: JSON.stringify(payload), parts: [] }
  const all: readonly unknown[] = Array.isArray(attachments) ? attachments : []
  // Unsupported attachments are described as text, so that the model at least knows of them.
  const described = all.filter((one) => !isPart(one)).map((one) => `[attachment] ${asJsonText(one)}`)
  return { text: [...(text === '' ? [] : [text]), ...described].join('\n'), parts: all.filter(isPart) }
}

/** A reply as text: texts as they are, other values as JSON, no reply as an empty text. */
const replyAsText = (reply: unknown): string => (reply === null || reply === undefined ? '' : asJsonText(reply))
