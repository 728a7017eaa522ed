import { judgeNews } from '../../core/cadence/news.ts'
import { paceAfter, pacedOf, plannedTiming, whyThen, type Pace } from '../../domain/schedule/pace/pace.ts'
import { findProposal } from '../../domain/schedule/pace/proposal.ts'
import { latest, type Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { lifeAfter } from '../../domain/schedule/lifecycle.ts'
import type { Timing } from '../../domain/time/timing.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { Desk } from './desk.ts'

/**
 * A run of the plan has ended with success: what it found, or what its agent asked for, decides how soon the next one
 * comes. Every node hears of it, because the next moment may be earlier than the one they wait for.
 */
export function keepPace(desk: Desk, row: ScheduleRow, run: RunRow): void {
  const timing = pacedOf(row.timing)
  if (row.pace === null || timing === null || run.nominal === null) return
  const { now } = desk
  const said = { nextCheck: desk.changes.nextChecks.get(run.id), output: run.output }
  const news = judgeNews(
    { reason: (run.why ?? run.decision).reason, output: run.output, summary: run.summary },
    row.pace.digest,
  )
  const ended = { id: run.id, nominal: run.nominal, news, proposal: findProposal(said, now) }
  const pace = paceAfter(row.pace, timing, { ...ended, now, watermark: row.watermark, nextRunAt: row.nextRunAt })
  if (pace === row.pace) return
  row.pace = pace
  if (row.state !== 'active' && row.state !== 'finished') return
  // A shorter interval may have a moment before the end where the longer one had none, and the other way round.
  const { maxFires } = row.rules
  const isDue = row.nextRunAt !== null && row.nextRunAt <= now
  if (!isDue) {
    const life = lifeAfter({ timing: plannedTiming(row), maxFires, fires: row.fires }, latest(now, row.watermark))
    row.state = life.state
    row.nextRunAt = life.nextRunAt
  }
  const owner = row.owner === null ? {} : { owner: row.owner }
  desk.changes.events.push({
    kind: 'schedule.changed',
    subject: row.id,
    data: { change: 'paced', state: row.state, reason: pace.why.reason, ...owner },
  })
}

/** What was decided about an occurrence, with why its moment was the one it was. */
export function withPace(why: Why, row: { readonly timing: Timing; readonly pace: Pace }, nominal: Instant): Why {
  const paced = whyThen(row.pace, row.timing, nominal)
  return { ...why, evidence: { ...paced.evidence, ...why.evidence, pace: paced.reason } }
}

const PACES = ['pace_started', 'pace_quiet', 'pace_changed', 'pace_proposed', 'pace_kept'] as const

/** Why an occurrence that was made at some pace had its moment; null: its schedule had no cadence. */
export function whyPaced({ evidence }: Why): Why | null {
  const reason = PACES.find((one) => one === evidence['pace'])
  // As it was written: whatever is missing is told as missing.
  return reason === undefined ? null : { reason, rule: 'cadence', evidence }
}
