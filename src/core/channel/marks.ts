import { MINUTE_MS, SECOND_MS, type Instant } from '../../domain/instant.ts'
import type { DeliveryState } from '../delivery/delivery-states.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'

/** Telegram shows that somebody types for five seconds. */
const TYPING_EVERY_MS = 4 * SECOND_MS
/** Who is answered sooner than this needs nothing that stands for the answer. */
const PLACEHOLDER_AFTER_MS = 2 * SECOND_MS
/** After so long a bot that still types is no news. */
const TYPES_AT_MOST_MS = 30 * MINUTE_MS

/** What shows in a chat that a run is at work, and how the run stands. */
export interface MarkFacts {
  /** Null when the run is not kept any more. */
  readonly state: RunState | null
  readonly startedAt: Instant | null
  readonly answer: DeliveryState | null
  readonly hasPlaceholder: boolean
  readonly typedAt: Instant | null
  readonly now: Instant
}

export type MarkDecision =
  /** Nothing: an answer is on its way, or the run waits. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'show'; readonly typing: boolean; readonly placeholder: boolean }
  /** The run is over and no answer will take the place of what stands there. */
  | { readonly kind: 'clear'; readonly removesPlaceholder: boolean }

/** Decides what is to be seen of a run in its chat. */
export function decideMark(facts: MarkFacts): MarkDecision {
  const { state, startedAt, answer, now } = facts
  if (answer === 'pending' || answer === 'held') return { kind: 'leave' }
  // An answer that has arrived stands where its placeholder was.
  if (state === null || state === 'stopping' || isTerminal(state))
    return { kind: 'clear', removesPlaceholder: answer !== 'delivered' }
  if (startedAt === null || (state !== 'running' && state !== 'awaiting_callback')) return { kind: 'leave' }
  const forMs = now - startedAt
  const typing = forMs < TYPES_AT_MOST_MS && (facts.typedAt === null || now - facts.typedAt >= TYPING_EVERY_MS)
  const placeholder = !facts.hasPlaceholder && forMs >= PLACEHOLDER_AFTER_MS
  return typing || placeholder ? { kind: 'show', typing, placeholder } : { kind: 'leave' }
}
