import type { MessageId, RunId } from '../ids.ts'
import { later, type Instant } from '../instant.ts'

/** A burst waits at most this many windows after its first message, so that steady typing still gets an answer. */
const MAX_WINDOWS = 5

/** A message that still waits for more from the same sender. */
export interface OpenWindow {
  readonly runId: RunId
  readonly firstAt: Instant
  readonly closesAt: Instant
  /** It has already interrupted its session, so messages merged into it need not. */
  readonly interrupts: boolean
}

export type Debounce =
  /** Not debounced. `closes` is an open window of the same sender that must close now, so that its text stays first. */
  | { readonly kind: 'off'; readonly closes: RunId | null }
  | { readonly kind: 'open'; readonly closesAt: Instant }
  | { readonly kind: 'merge'; readonly into: RunId; readonly closesAt: Instant }

/**
 * Decides whether a message opens a debounce window, joins one, or neither. Only messages with a sender are
 * debounced.
 */
export function decideDebounce(message: {
  readonly at: Instant
  readonly sender: string | null
  readonly debounceMs: number
  readonly open: Omit<OpenWindow, 'interrupts'> | null
}): Debounce {
  if (message.sender === null) return { kind: 'off', closes: null }
  const open = message.open !== null && message.at < message.open.closesAt ? message.open : null
  if (message.debounceMs === 0) return { kind: 'off', closes: open?.runId ?? null }
  const firstAt = open?.firstAt ?? message.at
  const closesAt = debounceEnd(firstAt, message.at, message.debounceMs)
  return open === null ? { kind: 'open', closesAt } : { kind: 'merge', into: open.runId, closesAt }
}

function debounceEnd(firstAt: Instant, lastAt: Instant, debounceMs: number): Instant {
  const restarted = later(lastAt, debounceMs)
  const atMost = later(firstAt, MAX_WINDOWS * debounceMs)
  return restarted < atMost ? restarted : atMost
}

/** The content of a message run. Other fields are merged; the last message wins. */
export interface MessageContent {
  readonly text: string
  readonly attachments: readonly unknown[]
  readonly messageIds: readonly MessageId[]
  readonly fields: Readonly<Record<string, unknown>>
}

/** The content of a run after another message was merged into it, in order of arrival. */
export const mergeContent = (held: MessageContent, added: MessageContent): MessageContent => ({
  text: `${held.text}\n${added.text}`,
  attachments: [...held.attachments, ...added.attachments],
  messageIds: [...held.messageIds, ...added.messageIds],
  fields: { ...held.fields, ...added.fields },
})
