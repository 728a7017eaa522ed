import { sessionKey, type SessionKey, type TargetId } from '../../domain/ids.ts'

/**
 * Where the result of a run goes: a target of the org, the address that came with a task, back to the conversation it
 * came from, or to somebody in a channel, which is called by its name.
 */
export type RunDelivery =
  | { readonly target: TargetId }
  | { readonly callback: string }
  | { readonly session: SessionKey }
  | { readonly channel: string; readonly to: string }

/** What is sent to one receiver stands in one line: the target, or the server that a callback names. */
export function lineOf(delivery: RunDelivery): string {
  if ('target' in delivery) return delivery.target
  if ('session' in delivery) return `session:${delivery.session}`
  if ('channel' in delivery) return `channel:${delivery.channel}:${delivery.to}`
  try {
    return new URL(delivery.callback).origin
  } catch {
    return delivery.callback
  }
}

/** The kind of an outbox row, by where it goes. */
export const DELIVERY_KINDS = ['saved', 'callback', 'session', 'channel'] as const
export type DeliveryKind = (typeof DELIVERY_KINDS)[number]

/** The kind of the outbox row of a delivery. */
export function kindOf(delivery: RunDelivery): DeliveryKind {
  if ('target' in delivery) return 'saved'
  if ('callback' in delivery) return 'callback'
  return 'session' in delivery ? 'session' : 'channel'
}

/** Where an outbox row of one of the two chat kinds goes, read back from its line. */
export function chatOfLine(line: string): Extract<RunDelivery, { session: unknown } | { channel: unknown }> | null {
  const session = /^session:(.+)$/s.exec(line)?.[1]
  if (session !== undefined) return { session: sessionKey(session) }
  const [, channel, to] = /^channel:([^:]+):(.+)$/s.exec(line) ?? []
  return channel === undefined || to === undefined ? null : { channel, to }
}
