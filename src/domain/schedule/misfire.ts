import { earlier, formatInstant, instant, later, SECOND_MS, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { MAX_HELD, type FiringSettings, type ScheduleRules } from './rules.ts'
import { countOccurrences, occurrencesBetween, previousOccurrence, type Timing } from '../time/timing.ts'

/** More missed occurrences than this are recorded as one range instead of one by one. */
const MAX_SINGLE_SKIPS = 100

/** An occurrence that goes on to the other policies. */
export interface TakenOccurrence {
  readonly nominal: Instant
  readonly trigger: 'schedule' | 'catchup'
  /** When the other policies are asked: now for the first, spaced for those after it. */
  readonly decideAt: Instant
}

export interface SkippedOccurrence {
  readonly nominal: Instant
  readonly why: Why
}

export interface SkippedRange {
  readonly first: Instant
  readonly last: Instant
  readonly count: number
  readonly why: Why
}

export interface MisfirePlan {
  /** In nominal order, the current one last. */
  readonly taken: readonly TakenOccurrence[]
  readonly skipped: readonly SkippedOccurrence[]
  readonly skippedRange: SkippedRange | null
}

export interface DueOccurrences {
  /** Everything up to and including this moment has been decided. */
  readonly watermark: Instant
  readonly seen: Instant
  /** The schedule's id: what its jitter hangs on. */
  readonly jitterSeed: string
}

/**
 * Which of the due occurrences are taken. The newest is *current* while it is no older than the grace; all others are
 * missed. Whatever the policy, the ones taken are the newest in a row, so we walk back from the present and stop at the
 * first that is not taken: three days of downtime cost no more than the few runs that come of them.
 */
export function planMisfire(
  schedule: { readonly rules: ScheduleRules; readonly timing: Timing },
  due: DueOccurrences,
  settings: FiringSettings,
): MisfirePlan {
  const nominals = takeNewest(schedule, due, settings)
  const currentFrom = earlier(due.seen, settings.misfireGraceSeconds * SECOND_MS)
  const taken = nominals.map((nominal, index): TakenOccurrence => {
    const decideAt = later(due.seen, index * settings.catchupSpacingMs)
    const isCurrent = index === nominals.length - 1 && nominal >= currentFrom
    return { nominal, trigger: isCurrent ? 'schedule' : 'catchup', decideAt }
  })
  const oldest = nominals[0]
  return { taken, ...planSkips(schedule, due, oldest === undefined ? due.seen : instant(oldest - 1)) }
}

function takeNewest(
  schedule: { readonly rules: ScheduleRules; readonly timing: Timing },
  due: DueOccurrences,
  settings: FiringSettings,
): readonly Instant[] {
  const { rules, timing } = schedule
  const currentFrom = earlier(due.seen, settings.misfireGraceSeconds * SECOND_MS)
  const windowFrom = catchupFrom(schedule, due.seen, settings)
  const limit = takeLimit(schedule)
  const nominals: Instant[] = []
  let next = previousOccurrence(timing, later(due.seen, 1))
  while (next !== null && next > due.watermark && nominals.length < limit) {
    const isCurrent = nominals.length === 0 && next >= currentFrom
    const isMissed = !isCurrent
    // SKIP makes up for nothing: only the current one is left.
    if (isMissed && (next < windowFrom || (rules.misfirePolicy === 'SKIP' && !firesHoweverLate(schedule)))) break
    nominals.push(next)
    next = previousOccurrence(timing, next)
  }
  return nominals.reverse()
}

/** A reminder that was missed is the complaint we exist for: unless it has a window of its own, it fires late. */
const firesHoweverLate = (schedule: { readonly rules: ScheduleRules; readonly timing: Timing }): boolean =>
  schedule.timing.kind === 'at' && schedule.rules.catchupWindowSeconds === null

function catchupFrom(
  schedule: { readonly rules: ScheduleRules; readonly timing: Timing },
  seen: Instant,
  settings: FiringSettings,
): Instant {
  if (firesHoweverLate(schedule)) return instant(Number.NEGATIVE_INFINITY)
  return earlier(seen, (schedule.rules.catchupWindowSeconds ?? settings.catchupWindowSeconds) * SECOND_MS)
}

function takeLimit(schedule: { readonly rules: ScheduleRules }): number {
  switch (schedule.rules.misfirePolicy) {
    case 'FIRE_NOW':
      return MAX_HELD
    case 'SKIP':
      return 1
    case 'CATCH_UP_LIMITED':
      return Math.min(schedule.rules.catchupLimit, MAX_HELD)
  }
}

/** Why an occurrence that was missed is not made up for. */
export const misfireWhy = (rules: ScheduleRules, nominal: Instant, seen: Instant): Why =>
  because('misfire', `misfire_policy=${rules.misfirePolicy}`, {
    policy: rules.misfirePolicy,
    nominal: formatInstant(nominal),
    late_seconds: Math.round((seen - nominal) / 1000),
  })

/** What is due but older than what was taken is skipped, one by one or as a range. */
function planSkips(
  schedule: { readonly rules: ScheduleRules; readonly timing: Timing },
  due: DueOccurrences,
  upTo: Instant,
): Pick<MisfirePlan, 'skipped' | 'skippedRange'> {
  const window = { after: due.watermark, upTo }
  const why = (nominal: Instant): Why => misfireWhy(schedule.rules, nominal, due.seen)
  const singles = occurrencesBetween(schedule.timing, { ...window, limit: MAX_SINGLE_SKIPS + 1 })
  const first = singles[0]
  if (first === undefined) return { skipped: [], skippedRange: null }
  if (singles.length <= MAX_SINGLE_SKIPS)
    return { skipped: singles.map((nominal) => ({ nominal, why: why(nominal) })), skippedRange: null }
  const last = previousOccurrence(schedule.timing, later(upTo, 1)) ?? first
  const count = countOccurrences(schedule.timing, window)
  return { skipped: [], skippedRange: { first, last, count, why: why(first) } }
}
