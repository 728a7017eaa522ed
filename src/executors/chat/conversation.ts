import { findAcknowledgement } from '../../domain/heartbeat/acknowledgement.ts'
import { HEARTBEAT_DEFAULTS } from '../../domain/heartbeat/heartbeat-config.ts'
import type { RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Trigger } from '../../domain/run/run.ts'
import { estimateTokens } from '../../core/chat/tokens.ts'

/** A run of a session that was answered, or stopped while it was: what was said, and what came back. */
export interface Exchange {
  readonly runId: RunId
  readonly trigger: Trigger
  readonly sender: string | null
  readonly payload: unknown
  readonly reply: unknown
  /** The run it repeats. */
  readonly retryOf: RunId | null
  readonly startedAt: Instant
}

/** What is said now. */
export type Newest = Pick<Exchange, 'payload' | 'sender' | 'retryOf'>

/** A message as the protocol has it. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string | readonly unknown[]
}

export interface Conversation {
  readonly messages: readonly ChatMessage[]
  /** How many exchanges were left out because they did not fit any more. */
  readonly left: number
  /** How many are told. */
  readonly kept: number
  /** What the messages are, roughly. */
  readonly tokens: number
}

export interface ConversationFacts {
  readonly systemPrompt: string | null
  readonly past: readonly Exchange[]
  readonly newest: Newest
  /** How many tokens all of it may have. */
  readonly room: number
}

/**
 * What a model is sent: the system prompt, as many of the last exchanges as fit, oldest first, and what is said now. The
 * first and the last are sent whatever they measure; what does not fit is left out from the oldest on.
 */
export function conversationOf(facts: ConversationFacts): Conversation {
  const { systemPrompt, newest } = facts
  const past = remembered(facts)
  const name = namer([...past.map(({ sender }) => sender), newest.sender])
  const said = named(saidIn(newest.payload), name(newest.sender))
  const system = systemPrompt === null || systemPrompt === '' ? [] : [systemPrompt]
  let tokens = [...system, said.text].reduce((sum, text) => sum + estimateTokens(text), 0)
  const taken: { readonly user: string; readonly assistant: string }[] = []
  for (const exchange of past.toReversed()) {
    const user = withoutParts(named(saidIn(exchange.payload), name(exchange.sender)))
    const assistant = replyIn(exchange.reply)
    const cost = estimateTokens(user) + (assistant === '' ? 0 : estimateTokens(assistant))
    // No gaps: a conversation that skips its middle makes no sense to anybody.
    if (tokens + cost > facts.room) break
    tokens += cost
    taken.unshift({ user, assistant })
  }
  const messages: ChatMessage[] = [
    ...system.map((content) => ({ role: 'system', content }) as const),
    ...joined(taken, said),
  ]
  return { messages, left: past.length - taken.length, kept: taken.length, tokens }
}

/** Exchanges that belong to the conversation, in the order in which they began. */
function remembered({ past, newest }: ConversationFacts): readonly Exchange[] {
  const repeated = new Set([newest.retryOf, ...past.map(({ retryOf }) => retryOf)])
  return past
    .filter((exchange) => !repeated.has(exchange.runId) && !isQuietHeartbeat(exchange))
    .toSorted((a, b) => a.startedAt - b.startedAt || (a.runId < b.runId ? -1 : 1))
}

/** A heartbeat that found nothing is nothing to remember: every one of them would cost tokens ever after. */
function isQuietHeartbeat({ trigger, reply }: Exchange): boolean {
  if (trigger !== 'heartbeat') return false
  const found = findAcknowledgement(replyIn(reply))
  return found !== null && found.other.length <= HEARTBEAT_DEFAULTS.ackMaxChars
}

/** Among several people it has to be told who speaks. */
function namer(senders: readonly (string | null)[]): (sender: string | null) => string | null {
  const several = new Set(senders.filter((sender) => sender !== null)).size > 1
  return (sender) => (several ? sender : null)
}

const named = (said: Said, name: string | null): Said =>
  name === null ? said : { ...said, text: `${name}: ${said.text}` }

/** Pictures and files are sent once, with the message they came with. */
const withoutParts = ({ text, parts }: Said): string =>
  parts.length === 0 ? text : `${text}\n[${parts.length} attached]`.trimStart()

/** Turns by turns: what one side says in a row is one message, for servers that insist on it. */
function joined(
  past: readonly { readonly user: string; readonly assistant: string }[],
  newest: Said,
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

/** What somebody says to a model. */
interface Said {
  readonly text: string
  /** What goes with it in the words of the protocol: pictures, sound, files. */
  readonly parts: readonly unknown[]
}

type Fields = Readonly<Partial<Record<string, unknown>>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Parts of a message that the protocol knows. */
const PART_TYPES: readonly unknown[] = ['image_url', 'input_audio', 'file']
const isPart = (value: unknown): boolean => isObject(value) && PART_TYPES.includes(value['type'])

/**
 * What a payload says: the text of a message with its attachments; the prompt of a schedule with its context and what is
 * wanted of the answer; anything else as JSON.
 */
export function saidIn(payload: unknown): Said {
  if (!isObject(payload)) return { text: payload === null || payload === undefined ? '' : written(payload), parts: [] }
  const { text, prompt, context = null, output = null, attachments } = payload
  if (typeof prompt === 'string') {
    const lines = [
      prompt,
      ...(context === null ? [] : [`Context:\n${written(context)}`]),
      ...(output === null ? [] : [`Output:\n${written(output)}`]),
    ]
    return { text: lines.join('\n\n'), parts: [] }
  }
  if (typeof text !== 'string') return { text: JSON.stringify(payload), parts: [] }
  const all: readonly unknown[] = Array.isArray(attachments) ? attachments : []
  // What the protocol has no part for is told in words: the model should at least know of it.
  const told = all.filter((one) => !isPart(one)).map((one) => `[attachment] ${written(one)}`)
  return { text: [...(text === '' ? [] : [text]), ...told].join('\n'), parts: all.filter(isPart) }
}

/** What an answer says: a text as it is, anything else as JSON, nothing as nothing. */
const replyIn = (reply: unknown): string => (reply === null || reply === undefined ? '' : written(reply))
