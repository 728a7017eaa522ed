import type { ComingMoment, PaceView } from '../contract/pace.ts'
import { pacedOf, paceInterval, plannedTiming, type Pace } from '../domain/schedule/pace/pace.ts'
import { paceSentence } from '../domain/schedule/pace/describe.ts'
import { earlier, formatInstant, instant, SECOND_MS, type Instant } from '../domain/instant.ts'
import { explainWhy, type Why } from '../domain/reasons.ts'
import { occurrencesBetween, type Timing } from '../domain/time/timing.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'

/** So many moments are told with a schedule. */
const MOMENTS_SHOWN = 5

const END_OF_TIME = instant(8.64e15)

/** How often the schedule comes now, and why; null: its interval never moves. */
export function viewPace(row: Pick<ScheduleRow, 'timing' | 'pace' | 'nextRunAt'>): PaceView | null {
  const { pace } = row
  const timing = pacedOf(row.timing)
  if (pace === null || timing === null) return null
  return {
    interval_seconds: paceInterval(timing, pace.level) / SECOND_MS,
    quiet_streak: pace.quiet,
    change_streak: pace.changed,
    sentence: paceSentence(timing, pace),
    because: { ...pace.why, sentence: explainWhy(pace.why) },
    proposed: proposedIn(pace.why),
    next: row.nextRunAt === null ? [] : coming(plannedTiming(row), row.nextRunAt),
    recent: pace.recent.map(viewStep),
  }
}

const viewStep = ({ at, runId, intervalSeconds, reason, next }: Pace['recent'][number]) => ({
  ...{ at: formatInstant(at), run_id: runId, interval_seconds: intervalSeconds, reason },
  next: formatInstant(next),
})

function proposedIn({ reason, evidence }: Why): PaceView['proposed'] {
  if (reason !== 'pace_proposed') return null
  const { asked, asked_seconds: wanted, got_seconds: got, clamped } = evidence
  return {
    asked: String(asked),
    ...{ asked_seconds: Number(wanted), got_seconds: Number(got), clamped: clamped === true },
  }
}

/** The first moment stands; whatever its run finds may move those behind it. */
const coming = (timing: Timing, first: Instant): readonly ComingMoment[] =>
  asComing(occurrencesBetween(timing, { after: earlier(first, 1), upTo: END_OF_TIME, limit: MOMENTS_SHOWN }))

/** Moments in their order, the first of which no run can move any more. */
export const asComing = (moments: readonly Instant[]): readonly ComingMoment[] =>
  moments.map((at, index) => ({ at: formatInstant(at), certainty: index === 0 ? 'firm' : 'likely' }))
