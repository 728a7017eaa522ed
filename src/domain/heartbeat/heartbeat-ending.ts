import { NO_REPLY } from '../delivery/delivery.ts'
import { because, type Reason, type Why } from '../reasons.ts'
import type { TerminalState } from '../run/run-machine.ts'
import { decideHeartbeatReply, type HeartbeatReplyFacts } from './heartbeat-reply.ts'
import type { StreakOutcome } from './heartbeat.ts'

/** The recorded outcomes of a heartbeat. `news` is a report worth sending, `suppressed` a reply that is not. */
export const RECORDED_HEARTBEAT_OUTCOMES = [
  'skipped',
  'busy',
  'running',
  'suppressed',
  'news',
  'failed',
  'cancelled',
] as const
export type RecordedHeartbeatOutcome = (typeof RECORDED_HEARTBEAT_OUTCOMES)[number]

export interface HeartbeatEndingFacts extends HeartbeatReplyFacts {
  readonly ending: TerminalState
  /** Why the run ended. */
  readonly endedWhy: Why
  readonly reply: string
  /** False: the target is `none`. */
  readonly isSent: boolean
}

export interface HeartbeatEnding {
  readonly outcome: Exclude<RecordedHeartbeatOutcome, 'busy' | 'running'>
  /** How it counts in the streak of acknowledgements. */
  readonly counts: StreakOutcome
  readonly why: Why
  /** The report without the token; the target decides whether it is sent. */
  readonly content: string | null
}

/** Decides the outcome of a heartbeat whose run has ended; only a successful run's reply is read. */
export function decideHeartbeatEnding(facts: HeartbeatEndingFacts): HeartbeatEnding {
  const { ending, endedWhy: why } = facts
  switch (ending) {
    case 'success':
      // The probe found nothing, so the agent did not run: counts like an acknowledgement.
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

function decideReply(facts: HeartbeatEndingFacts): HeartbeatEnding {
  if (facts.reply.trim() === NO_REPLY) {
    const why = because('no_reply', 'delivery.no_reply')
    return { outcome: 'suppressed', counts: 'empty_reply', why, content: null }
  }
  const decision = decideHeartbeatReply(facts.reply, facts)
  if (decision.kind === 'suppressed') {
    const counts = STREAK_OUTCOMES[decision.why.reason] ?? 'empty_reply'
    return { outcome: 'suppressed', counts, why: decision.why, content: null }
  }
  const why = facts.isSent ? decision.why : because('target_none', 'heartbeat.target')
  return { outcome: 'news', counts: 'news', why, content: decision.content }
}

const STREAK_OUTCOMES: Partial<Record<Reason, StreakOutcome>> = { acknowledged: 'acknowledged', duplicate: 'duplicate' }
