import { findAcknowledgement, trimBlank } from './acknowledgement.ts'
import { DAY_MS, formatInstant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'

/** The same content is not sent to the same target again before this much time has passed. */
const DUPLICATE_WINDOW_MS = DAY_MS

export interface HeartbeatReplyFacts {
  readonly ackMaxChars: number
  /** Where the answer would go, as the user wrote it. */
  readonly target: string
  /** The newest content that was delivered to this target with success: an alert that never arrived blocks nothing. */
  readonly lastDelivered: { readonly content: string; readonly at: Instant } | null
  readonly now: Instant
}

export type HeartbeatReplyDecision =
  | { readonly kind: 'suppressed'; readonly why: Why }
  | { readonly kind: 'deliver'; readonly content: string; readonly why: Why }

/** Decides whether an agent's answer to its checklist disturbs anybody, and with which words. */
export function decideHeartbeatReply(reply: string, facts: HeartbeatReplyFacts): HeartbeatReplyDecision {
  if (trimBlank(reply) === '') return { kind: 'suppressed', why: because('empty_reply', 'heartbeat.reply') }
  const acknowledgement = findAcknowledgement(reply)
  if (acknowledgement !== null) {
    const otherChars = countCodePoints(acknowledgement.other)
    if (otherChars <= facts.ackMaxChars)
      return {
        kind: 'suppressed',
        why: because('acknowledged', 'heartbeat.ack_max_chars', {
          other_chars: otherChars,
          ack_max_chars: facts.ackMaxChars,
        }),
      }
  }
  const content = acknowledgement?.other ?? reply
  const last = facts.lastDelivered
  if (last !== null && trimBlank(last.content) === trimBlank(content) && facts.now - last.at < DUPLICATE_WINDOW_MS) {
    const evidence = { target: facts.target, delivered_at: formatInstant(last.at) }
    return { kind: 'suppressed', why: because('duplicate', 'heartbeat.duplicate', evidence) }
  }
  return { kind: 'deliver', content, why: because('heartbeat_news', 'heartbeat.reply') }
}

/** Whether a reply says that nothing needs attention, with no more other text than that. */
export function isAcknowledged(reply: string, ackMaxChars: number): boolean {
  const acknowledgement = findAcknowledgement(reply)
  return acknowledgement !== null && countCodePoints(acknowledgement.other) <= ackMaxChars
}

/** A pair of surrogates is one character to everybody but UTF-16. */
function countCodePoints(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1
    count += 1
  }
  return count
}
