import { formatInstant, type Instant } from '../instant.ts'
import { quietUntil, type QuietHours } from './quiet-hours.ts'
import { because, type Why } from '../reasons.ts'
import type { TerminalState } from '../run/run-machine.ts'

/** A reply that is exactly this, blank space around it aside, is kept and not delivered. */
export const NO_REPLY = 'NO_REPLY'

/** Where a result may go. `name` is what people call it. */
export type DeliveryTarget =
  | { readonly kind: 'none' }
  /** The chat that the work came from. */
  | { readonly kind: 'chat'; readonly name: string }
  /** The callback of one task: it is told of every ending, exactly once. */
  | { readonly kind: 'callback'; readonly name: string }
  | {
      readonly kind: 'saved'
      readonly name: string
      /** Programs want to know of every ending; people do not want to hear of what a person ended. */
      readonly audience: 'people' | 'program'
      readonly isDisabled: boolean
      readonly failuresInARow: number
      readonly quietHours: QuietHours | null
    }

export interface DeliveryFacts {
  readonly ending: TerminalState
  readonly reply: string
  readonly target: DeliveryTarget
  readonly now: Instant
}

export type DeliveryDecision =
  | { readonly kind: 'deliver'; readonly why: Why }
  /** One empty outbound message: it clears typing indicators, placeholders and reactions. */
  | { readonly kind: 'clear'; readonly why: Why }
  /** The result stays with the run. */
  | { readonly kind: 'keep'; readonly why: Why }
  /** Written to the outbox and sent when the target is enabled again. */
  | { readonly kind: 'hold'; readonly why: Why }
  | { readonly kind: 'digest'; readonly until: Instant; readonly why: Why }

/** Decides what becomes of the result of a run that has ended. */
export function decideDelivery(facts: DeliveryFacts): DeliveryDecision {
  const { ending, target, now } = facts
  if (target.kind === 'none') return { kind: 'keep', why: because('target_none', 'delivery.target') }
  if (ending === 'cancelled' && target.kind === 'chat')
    return { kind: 'clear', why: because('cleared', 'ending=cancelled', { target: target.name, ending }) }
  if (!isAnnounced(ending, target))
    return { kind: 'keep', why: because('not_announced', `ending=${ending}`, { target: target.name, ending }) }
  // A task's result is data for a program that waits for it; only a reply can ask not to be sent.
  if (ending === 'success' && target.kind !== 'callback' && facts.reply.trim() === NO_REPLY)
    return { kind: 'keep', why: because('no_reply', 'delivery.no_reply') }
  const deliver: DeliveryDecision = {
    kind: 'deliver',
    why: because('deliver', 'delivery.target', { target: target.name }),
  }
  if (target.kind !== 'saved') return deliver
  if (target.isDisabled) {
    const evidence = { target: target.name, failures: target.failuresInARow }
    return { kind: 'hold', why: because('target_disabled', 'target.enabled', evidence) }
  }
  const until = quietUntil(target.quietHours, now)
  if (until === null) return deliver
  const evidence = { target: target.name, until: formatInstant(until) }
  return { kind: 'digest', until, why: because('quiet_hours', 'target.quiet_hours', evidence) }
}

/** Whether an ending is told at all. What never ran is told at admission or as an event, not as a result. */
function isAnnounced(ending: TerminalState, target: Exclude<DeliveryTarget, { readonly kind: 'none' }>): boolean {
  switch (ending) {
    case 'success':
    case 'failed':
    case 'timeout':
    case 'expired':
      return true
    case 'cancelled':
    case 'dropped':
      return target.kind === 'callback' || (target.kind === 'saved' && target.audience === 'program')
    case 'skipped':
    case 'rejected':
      return false
  }
}
