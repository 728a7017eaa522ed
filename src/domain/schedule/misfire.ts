import { earlier, formatInstant, instant, later, SECOND_MS, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { MAX_HELD, type FiringSettings, type ScheduleRules } from './rules.ts'
import { countOccurrences, occurrencesBetween, previousOccurrence, type Timing } from '../time/timing.ts'

/** More missed occurrences than this are recorded as one range instead of individually. */
const MAX_SINGLE_SKIPS = 100

/** An occurrence that the other policies decide about. */
export interface SelectedOccurrence {
  readonly nominal: Instant
  readonly trigger: 'schedule' | 'catchup'
  /** When the other policies decide: now for the first, spaced for those after it. */
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
  /** In nominal order; the current one is last. */
  readonly selected: readonly SelectedOccurrence[]
  readonly skipped: readonly SkippedOccurrence[]
  readonly skippedRange: SkippedRange | null
}

export interface DueOccurrences {
  /** Everything up to and including this time has been decided. */
  readonly watermark: Instant
  readonly seen: Instant
  /** The schedule's id, which seeds its jitter. */
  readonly jitterSeed: string
}

/**
 * Selects which of the due occurrences run. The newest is *current* while it is no older than the grace; all others
 * are missed. Whatever the policy, the selected ones are the newest in a row, so the search goes back from the
 * present and stops at the first that is not selected: three days of downtime cost no more than the few runs that
 * result.
 */
export function planMisfire(
  schedule: { readonly rules: ScheduleRules; readonly timing: Timing },
  due: DueOccurrences,
  settings: FiringSettings,
): MisfirePlan {
  const nominals = selectNewest(schedule, due, settings)
  const currentFrom = earlier(due.seen, settings.misfireGraceSeconds * SECOND_MS)
  const selected = nominals.map((nominal, index): SelectedOccurrence => {
    const decideAt = later(due.seen, index * settings.catchupSpacingMs)
    const isCurrent = index === nominals.length - 1 && nominal >= currentFrom
    return { nominal, trigger: isCurrent ? 'schedule' : 'catchup', decideAt }
  })
  const oldest = nominals[0]
  return { selected, ...planSkips(schedule, due, oldest === undefined ? due.seen : instant(oldest - 1)) }
}

function selectNewest(
  schedule: { readonly rules: ScheduleRules; readonly timing: Timing },
  due: DueOccurrences,
  settings: FiringSettings,
): readonly Instant[] {
  const { rules, timing } = schedule
  const currentFrom = earlier(due.seen, settings.misfireGraceSeconds * SECOND_MS)
  const windowFrom = catchupFrom(schedule, due.seen, settings)
  const limit = selectionLimit(schedule)
  const nominals: Instant[] = []
  let next = previousOccurrence(timing, later(due.seen, 1))
  while (next !== null && next > due.watermark && nominals.length < limit) {
    const isCurrent = nominals.length === 0 && next >= currentFrom
    const isMissed = !isCurrent
    // SKIP does not catch up: only the current one can run.
    if (isMissed && (next < windowFrom || (rules.misfirePolicy === 'SKIP' && !alwaysCatchesUp(schedule)))) break
    nominals.push(next)
    next = previousOccurrence(timing, next)
  }
  return nominals.reverse()
}

/** A missed reminder must still fire: without a catch-up window of its own, an `at` schedule fires however late. */
const alwaysCatchesUp = (schedule: { readonly rules: ScheduleRules; readonly timing: Timing }): boolean =>
  schedule.timing.kind === 'at' && schedule.rules.catchupWindowSeconds === null

function catchupFrom(
  schedule: { readonly rules: ScheduleRules; readonly timing: Timing },
  seen: Instant,
  settings: FiringSettings,
): Instant {
  if (alwaysCatchesUp(schedule)) return instant(Number.NEGATIVE_INFINITY)
  return earlier(seen, (schedule.rules.catchupWindowSeconds ?? settings.catchupWindowSeconds) * SECOND_MS)
}

function selectionLimit(schedule: { readonly rules: ScheduleRules }): number {
  switch (schedule.rules.misfirePolicy) {
    case 'FIRE_NOW':
      return MAX_HELD
    case 'SKIP':
      return 1
    case 'CATCH_UP_LIMITED':
      return Math.min(schedule.rules.catchupLimit, MAX_HELD)
  }
}

/** Why a missed occurrence is not caught up. */
export const misfireWhy = (rules: ScheduleRules, nominal: Instant, seen: Instant): Why =>
  because('misfire', `misfire_policy=${rules.misfirePolicy}`, {
    policy: rules.misfirePolicy,
    nominal: formatInstant(nominal),
    late_seconds: Math.round((seen - nominal) / 1000),
  })

/** Skips the due occurrences older than the selected ones, individually or as a range. */
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
