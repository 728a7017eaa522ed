import type { MessageId, RunId } from '../ids.ts'
import { later, type Instant } from '../instant.ts'

/** A burst is held back at most this many windows after its first message, or steady typing would never be answered. */
const MAX_WINDOWS = 5

/** A message of the same sender that still waits for more. */
export interface OpenWindow {
  readonly runId: RunId
  readonly firstAt: Instant
  readonly closesAt: Instant
  /** It has interrupted its session, so that what joins it need not. */
  readonly interrupts: boolean
}

export type Debounce =
  /** Not held back. `closes` is an open window of the same sender that must close now, so that its text stays ahead. */
  | { readonly kind: 'off'; readonly closes: RunId | null }
  | { readonly kind: 'open'; readonly closesAt: Instant }
  | { readonly kind: 'merge'; readonly into: RunId; readonly closesAt: Instant }

/** Whether a message is held back, joins one that is, or neither. Only messages with a sender are ever held back. */
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
  const closesAt = windowEnd(firstAt, message.at, message.debounceMs)
  return open === null ? { kind: 'open', closesAt } : { kind: 'merge', into: open.runId, closesAt }
}

function windowEnd(firstAt: Instant, lastAt: Instant, debounceMs: number): Instant {
  const restarted = later(lastAt, debounceMs)
  const atMost = later(firstAt, MAX_WINDOWS * debounceMs)
  return restarted < atMost ? restarted : atMost
}

/** What a message run carries. Fields beyond these three are kept as they are, the last message's winning. */
export interface MessageContent {
  readonly text: string
  readonly attachments: readonly unknown[]
  readonly messageIds: readonly MessageId[]
  readonly fields: Readonly<Record<string, unknown>>
}

/** The content of a run after another message has joined it, in order of arrival. */
export const mergeContent = (held: MessageContent, added: MessageContent): MessageContent => ({
  text: `${held.text}\n${added.text}`,
  attachments: [...held.attachments, ...added.attachments],
  messageIds: [...held.messageIds, ...added.messageIds],
  fields: { ...held.fields, ...added.fields },
})
