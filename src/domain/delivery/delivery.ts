import { type QuietHours, quietUntil } from './quiet-hours.ts'
import { sessionKey, type SessionKey, type TargetId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import type { TerminalState } from '../run/run-machine.ts'

/**
 * Where the result of a run goes: a target of the org, the callback of a task, the session it came from, or a
 * recipient in a channel.
 */
export type RunDelivery =
  | { readonly target: TargetId }
  | { readonly callback: string }
  | { readonly session: SessionKey }
  | { readonly channel: string; readonly to: string }

/** The outbox queue of a delivery; messages to one receiver share a queue: the target, or the origin of a callback. */
export function outboxQueueOf(delivery: RunDelivery): string {
  if ('target' in delivery) return delivery.target
  if ('session' in delivery) return `session:${delivery.session}`
  if ('channel' in delivery) return `channel:${delivery.channel}:${delivery.to}`
  try {
    return new URL(delivery.callback).origin
  } catch {
    return delivery.callback
  }
}

/** The kinds of outbox row. */
const DELIVERY_KINDS = ['saved', 'callback', 'session', 'channel'] as const
export type DeliveryKind = (typeof DELIVERY_KINDS)[number]

/** The kind of the outbox row of a delivery. */
export function deliveryKindOf(delivery: RunDelivery): DeliveryKind {
  if ('target' in delivery) return 'saved'
  if ('callback' in delivery) return 'callback'
  return 'session' in delivery ? 'session' : 'channel'
}

/** The destination of a `session` or `channel` outbox row, parsed from its queue name. */
export function chatOfOutboxQueue(
  line: string,
): Extract<RunDelivery, { session: unknown } | { channel: unknown }> | null {
  const session = /^session:(.+)$/s.exec(line)?.[1]
  if (session !== undefined) return { session: sessionKey(session) }
  const [, channel, to] = /^channel:([^:]+):(.+)$/s.exec(line) ?? []
  return channel === undefined || to === undefined ? null : { channel, to }
}

/** The states of a delivery: in progress, held for a disabled target, delivered, given up, or not sent. */
export const DELIVERY_STATES = ['pending', 'held', 'delivered', 'failed', 'kept'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** A reply that is exactly this, ignoring surrounding whitespace, is stored and not delivered. */
export const NO_REPLY = 'NO_REPLY'

/** A resolved destination of a result; `name` is its display name. */
export type DeliveryTarget =
  | { readonly kind: 'none' }
  /** The chat that the run came from. */
  | { readonly kind: 'chat'; readonly name: string }
  /** The callback of a task, which receives every ending exactly once. */
  | { readonly kind: 'callback'; readonly name: string }
  | {
      readonly kind: 'saved'
      readonly name: string
      /** Programs receive every ending; people do not receive endings that a person caused. */
      readonly audience: 'people' | 'program'
      readonly isDisabled: boolean
      readonly failuresInARow: number
      readonly quietHours: QuietHours | null
    }

interface DeliveryFacts {
  readonly ending: TerminalState
  readonly reply: string
  readonly target: DeliveryTarget
  readonly now: Instant
}

type DeliveryDecision =
  | { readonly kind: 'deliver'; readonly why: Why }
  /** Sends one empty message, which clears typing indicators, placeholders and reactions. */
  | { readonly kind: 'clear'; readonly why: Why }
  /** The result is only stored with the run. */
  | { readonly kind: 'keep'; readonly why: Why }
  /** Stored in the outbox and sent when the target is enabled again. */
  | { readonly kind: 'hold'; readonly why: Why }
  | { readonly kind: 'digest'; readonly until: Instant; readonly why: Why }

/** Decides what happens to the result of a run that has ended. */
export function decideDelivery(facts: DeliveryFacts): DeliveryDecision {
  const { ending, target, now } = facts
  if (target.kind === 'none') return { kind: 'keep', why: because('target_none', 'delivery.target') }
  if (ending === 'cancelled' && target.kind === 'chat')
    return { kind: 'clear', why: because('cleared', 'ending=cancelled', { target: target.name, ending }) }
  if (!isAnnounced(ending, target))
    return { kind: 'keep', why: because('not_announced', `ending=${ending}`, { target: target.name, ending }) }
  // The result of a task is data for a program that waits for it; only a reply can ask not to be sent.
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

/** Whether an ending is delivered. Runs that never started are reported at admission or as an event instead. */
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
