import { NO_REPLY } from '../delivery/delivery.ts'
import { because, type Reason, type Why } from '../reasons.ts'
import type { TerminalState } from '../run/run-machine.ts'
import { decideHeartbeatReply, type HeartbeatReplyFacts } from './heartbeat-reply.ts'
import type { HeartbeatOutcome } from './heartbeat.ts'

/** What can be on record about a heartbeat. `news` is what somebody should hear of, `suppressed` what nobody needs to. */
export const BEAT_OUTCOMES = ['skipped', 'busy', 'running', 'suppressed', 'news', 'failed', 'cancelled'] as const
export type BeatOutcome = (typeof BEAT_OUTCOMES)[number]

export interface BeatEndingFacts extends HeartbeatReplyFacts {
  readonly ending: TerminalState
  /** Why the run ended as it did. */
  readonly endedWhy: Why
  readonly reply: string
  /** False: the target is `none`. */
  readonly isSent: boolean
}

export interface BeatEnding {
  readonly outcome: Exclude<BeatOutcome, 'busy' | 'running'>
  /** What it means for the streak of acknowledgements. */
  readonly counts: HeartbeatOutcome
  readonly why: Why
  /** The news, without the token. Whether it is sent depends on the target. */
  readonly content: string | null
}

/** Decides what becomes of a heartbeat whose run has ended: only the answer of one that succeeded is looked at. */
export function decideBeatEnding(facts: BeatEndingFacts): BeatEnding {
  const { ending, endedWhy: why } = facts
  switch (ending) {
    case 'success':
      // Nobody was woken, because there was nothing: as good as if the agent had said so.
      if (why.reason === 'probe_no') return { outcome: 'suppressed', counts: 'acknowledged', why, content: null }
      return decideReply(facts)
    case 'failed':
    case 'timeout':
    case 'expired':
      return { outcome: 'failed', counts: 'failed', why, content: null }
    case 'cancelled':
    case 'dropped':
      return { outcome: 'cancelled', counts: 'skipped', why, content: null }
    case 'skipped':
    case 'rejected':
      return { outcome: 'skipped', counts: 'skipped', why, content: null }
  }
}

function decideReply(facts: BeatEndingFacts): BeatEnding {
  if (facts.reply.trim() === NO_REPLY) {
    const why = because('no_reply', 'delivery.no_reply')
    return { outcome: 'suppressed', counts: 'empty_reply', why, content: null }
  }
  const decision = decideHeartbeatReply(facts.reply, facts)
  if (decision.kind === 'suppressed') {
    const counts = STREAK_OF[decision.why.reason] ?? 'empty_reply'
    return { outcome: 'suppressed', counts, why: decision.why, content: null }
  }
  const why = facts.isSent ? decision.why : because('target_none', 'heartbeat.target')
  return { outcome: 'news', counts: 'news', why, content: decision.content }
}

const STREAK_OF: Partial<Record<Reason, HeartbeatOutcome>> = { acknowledged: 'acknowledged', duplicate: 'duplicate' }
