import {
  decideNews,
  type Pace,
  paceAfter,
  pacedOf,
  plannedTiming,
  whyOccurrence,
} from '../../domain/schedule/pace/pace.ts'
import { findProposal } from '../../domain/schedule/pace/proposal.ts'
import { latest, type Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { statusAfter } from '../../domain/schedule/lifecycle.ts'
import type { Timing } from '../../domain/time/timing.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { ScheduleRow } from '../../features/schedules/store.ts'
import type { OrgState } from '../org-state/org-state.ts'

/**
 * Adapts the pace of a schedule after a planned run has succeeded: its result, or what its agent asked for, decides
 * when the next one is due. The change is published, because the next occurrence may be earlier than the one other
 * nodes wait for.
 */
export function updatePace(state: OrgState, row: ScheduleRow, run: RunRow): void {
  const timing = pacedOf(row.timing)
  if (row.pace === null || timing === null || run.nominal === null) return
  const { now } = state
  const reply = { nextCheck: state.changes.nextChecks.get(run.id), output: run.output }
  const news = decideNews(
    { reason: (run.why ?? run.decision).reason, output: run.output, summary: run.summary },
    row.pace.digest,
  )
  const ended = { id: run.id, nominal: run.nominal, news, proposal: findProposal(reply, now) }
  const pace = paceAfter(row.pace, timing, { ...ended, now, watermark: row.watermark, nextRunAt: row.nextRunAt })
  if (pace === row.pace) return
  row.pace = pace
  if (row.state !== 'active' && row.state !== 'finished') return
  // A shorter interval may have an occurrence before the end where the longer one had none, and the other way round.
  const { maxFires } = row.rules
  const isDue = row.nextRunAt !== null && row.nextRunAt <= now
  if (!isDue) {
    const life = statusAfter({ timing: plannedTiming(row), maxFires, fires: row.fires }, latest(now, row.watermark))
    row.state = life.state
    row.nextRunAt = life.nextRunAt
  }
  const owner = row.owner === null ? {} : { owner: row.owner }
  state.changes.events.push({
    kind: 'schedule.changed',
    subject: row.id,
    data: { change: 'paced', state: row.state, reason: pace.why.reason, ...owner },
  })
}

/** The decision about an occurrence, extended by the reason for its time. */
export function withPace(why: Why, row: { readonly timing: Timing; readonly pace: Pace }, nominal: Instant): Why {
  const paced = whyOccurrence(row.pace, row.timing, nominal)
  return { ...why, evidence: { ...paced.evidence, ...why.evidence, pace: paced.reason } }
}

const PACE_REASONS = ['pace_started', 'pace_quiet', 'pace_changed', 'pace_proposed', 'pace_kept'] as const

/** Why an occurrence decided at some pace had its time; null: its schedule had no cadence. */
export function paceReasonOf({ evidence }: Why): Why | null {
  const reason = PACE_REASONS.find((one) => one === evidence['pace'])
  // As stored: missing evidence is shown as missing.
  return reason === undefined ? null : { reason, rule: 'cadence', evidence }
}
