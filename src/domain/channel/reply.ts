import { type DeliveryState, NO_REPLY } from '../delivery/delivery.ts'
import { type Instant, MINUTE_MS, SECOND_MS } from '../instant.ts'
import { isTerminal, type RunState, type TerminalState } from '../run/run-machine.ts'

/** Telegram shows the typing indicator for 5 s. */
const TYPING_EVERY_MS = 4 * SECOND_MS
/** A faster answer needs no placeholder. */
const PLACEHOLDER_AFTER_MS = 2 * SECOND_MS
/** The typing indicator is no longer renewed after this time. */
const MAX_TYPING_MS = 30 * MINUTE_MS

/** The input of the decision about a chat's typing indicator and placeholder. */
export interface IndicatorFacts {
  /** Null when the run is no longer stored. */
  readonly state: RunState | null
  readonly startedAt: Instant | null
  readonly answer: DeliveryState | null
  readonly hasPlaceholder: boolean
  readonly typedAt: Instant | null
  readonly now: Instant
}

type IndicatorDecision =
  /** No change: an answer is being delivered, or the run waits. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'show'; readonly typing: boolean; readonly placeholder: boolean }
  /** The run has ended and no answer will replace the placeholder. */
  | { readonly kind: 'clear'; readonly removesPlaceholder: boolean }

/** Decides which indicators of a run its chat shows. */
export function decideIndicators(facts: IndicatorFacts): IndicatorDecision {
  const { state, startedAt, answer, now } = facts
  if (answer === 'pending' || answer === 'held') return { kind: 'leave' }
  // A delivered answer has already replaced its placeholder.
  if (state === null || state === 'stopping' || isTerminal(state))
    return { kind: 'clear', removesPlaceholder: answer !== 'delivered' }
  if (startedAt === null || (state !== 'running' && state !== 'awaiting_callback')) return { kind: 'leave' }
  const forMs = now - startedAt
  const typing = forMs < MAX_TYPING_MS && (facts.typedAt === null || now - facts.typedAt >= TYPING_EVERY_MS)
  const placeholder = !facts.hasPlaceholder && forMs >= PLACEHOLDER_AFTER_MS
  return typing || placeholder ? { kind: 'show', typing, placeholder } : { kind: 'leave' }
}

/** The reply to a chat about a run that has ended; an empty text only clears the indicators. */
interface ChatReply {
  readonly text: string
}

const EMPTY_REPLY: ChatReply = { text: '' }

/** The reply for each ending of a run. */
export function chatReplyOf(run: {
  readonly state: TerminalState
  readonly output: unknown
  readonly errorMessage: string | null
}): ChatReply {
  switch (run.state) {
    case 'success':
      return replyOfOutput(run.output)
    case 'failed':
      return { text: `I could not answer: ${run.errorMessage ?? 'something went wrong'}` }
    case 'timeout':
      return { text: 'I could not answer in time.' }
    case 'expired':
      return { text: 'Your message waited too long and was not answered.' }
    case 'dropped':
      return { text: 'Too many messages were waiting, so this one was dropped. Please send it again.' }
    case 'cancelled':
    case 'skipped':
    case 'rejected':
      return EMPTY_REPLY
  }
}

function replyOfOutput(output: unknown): ChatReply {
  if (output === null || output === undefined) return EMPTY_REPLY
  const text = typeof output === 'string' ? output : outputText(output)
  return text.trim() === NO_REPLY ? EMPTY_REPLY : { text: text.trim() }
}

/** Agents that answer with an object usually put the text in one of these fields. */
function outputText(output: unknown): string {
  const fields = output as Readonly<Record<string, unknown>>
  for (const name of ['text', 'reply', 'message', 'output']) {
    const found = typeof output === 'object' ? fields[name] : undefined
    if (typeof found === 'string') return found
  }
  return JSON.stringify(output, null, 2)
}

/**
 * Splits a text into pieces of at most `most` UTF-16 units, which is what messengers count. It splits at the end of a
 * paragraph, a line or a word, as long as the piece is at least half full, and never inside a character. Only
 * whitespace at a split is lost.
 */
export function splitText(text: string, max: number): readonly string[] {
  const pieces: string[] = []
  let rest = text.trimEnd()
  while (rest.length > max) {
    const at = splitPosition(rest, max)
    pieces.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).replace(/^[^\S\n]*\n+|^[^\S\n]+/, '')
  }
  if (rest !== '' || pieces.length === 0) pieces.push(rest)
  return pieces.filter((piece, index) => piece !== '' || (index === 0 && pieces.length === 1))
}

function splitPosition(text: string, max: number): number {
  const head = text.slice(0, max)
  for (const end of ['\n\n', '\n', ' ']) {
    const at = head.lastIndexOf(end)
    if (at >= max / 2) return at
  }
  // A high surrogate at the end belongs to the next piece.
  const last = head.charCodeAt(max - 1)
  return last >= 0xd800 && last <= 0xdbff && max > 1 ? max - 1 : max
}
