import type { RunDelivery } from '../delivery/delivery.ts'
import { findAcknowledgement, trimBlank } from './acknowledgement.ts'
import type { SessionKey } from '../ids.ts'
import { DAY_MS, formatInstant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'

/** Where the report of a heartbeat goes. Whether it is sent, and its content, is decided when the run ends. */
export interface HeartbeatDelivery {
  readonly heartbeat: {
    /** As the user wrote it. */
    readonly target: string
    readonly ackMaxChars: number
    /** Null: the target is `none`. */
    readonly to: RunDelivery | null
    /** The session that the report is added to; undefined: none. */
    readonly session?: SessionKey
    /** The planned time; null for a manual heartbeat. */
    readonly dueAt: Instant | null
    /** The probe that is checked before the agent runs, as it was given; undefined: none. */
    readonly probe?: unknown
  }
}

/** The message that an agent receives when its checklist is due. */
export const heartbeatMessage = (prompt: string, checklist: string): string => `${prompt}\n\n${checklist}`

/** How long the same content is not sent again to the same target. */
const DUPLICATE_WINDOW_MS = DAY_MS

export interface HeartbeatReplyFacts {
  readonly ackMaxChars: number
  /** The target as the user wrote it. */
  readonly target: string
  /** The newest content that was successfully delivered to this target; a failed delivery suppresses nothing. */
  readonly lastDelivered: { readonly content: string; readonly at: Instant } | null
  readonly now: Instant
}

type HeartbeatReplyDecision =
  | { readonly kind: 'suppressed'; readonly why: Why }
  | { readonly kind: 'deliver'; readonly content: string; readonly why: Why }

/** Decides whether a heartbeat reply is delivered, and its content. */
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

/** Whether a reply is an acknowledgement with at most `ackMaxChars` of other text. */
export function isAcknowledged(reply: string, ackMaxChars: number): boolean {
  const acknowledgement = findAcknowledgement(reply)
  return acknowledgement !== null && countCodePoints(acknowledgement.other) <= ackMaxChars
}

/** Counts a surrogate pair as one character. */
function countCodePoints(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1
    count += 1
  }
  return count
}
