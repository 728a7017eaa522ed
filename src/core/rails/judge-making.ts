import type { ScheduleId } from '../ids.ts'
import { HOUR_MS, SECOND_MS, type Instant } from '../instant.ts'
import { breach, tooSoon, type RailBreach } from './breach.ts'
import type { GuardRails } from './guard-rails.ts'
import { schedulesAbove, type Railed } from './railed.ts'

/** Chains of runs that wake runs are no longer than this. */
const DEEPEST = 3

/** Whether there is room for one more schedule. */
export function judgeCount({ maxSchedules }: GuardRails, has: number): RailBreach | null {
  if (has < maxSchedules) return null
  return breach('max_schedules', `It may have ${maxSchedules} schedules and has ${has}; delete one it does not need`, {
    ...{ max_schedules: maxSchedules, schedules: has },
  })
}

/** What somebody has done in the last hour that counts. */
export interface LastHour {
  readonly count: number
  /** When the first of them was; null: there was none. */
  readonly oldest: Instant | null
}

/** Whether somebody may do so many things more in this hour. */
export function judgeRate(
  { maxRunsPerHour }: GuardRails,
  { done, more }: { readonly done: LastHour; readonly more: number },
  now: Instant,
): RailBreach | null {
  if (done.count + more <= maxRunsPerHour) return null
  return tooSoon(
    'max_runs_per_hour',
    `It may ask for ${maxRunsPerHour} things an hour, and has asked for ${done.count}`,
    {
      retryAfterMs: done.oldest === null ? HOUR_MS : done.oldest + HOUR_MS - now,
      facts: { max_runs_per_hour: maxRunsPerHour, last_hour: done.count },
    },
  )
}

/** Whether a run of a schedule may be asked for again so soon; `last` is when it was asked for before. */
export function judgeWaking({ minIntervalSeconds }: GuardRails, last: Instant | null, now: Instant): RailBreach | null {
  const wait = last === null ? 0 : last + minIntervalSeconds * SECOND_MS - now
  if (wait <= 0) return null
  return tooSoon(
    'min_interval_seconds',
    `A run of it was asked for ${Math.floor((now - (last ?? now)) / SECOND_MS)} seconds ago, and ${minIntervalSeconds} seconds must be between two`,
    { retryAfterMs: wait, facts: { min_interval_seconds: minIntervalSeconds } },
  )
}

/** Whether a moment is too close to another one at which something of the same owner happens, which is none or the nearest. */
export function judgeMoment(
  { minIntervalSeconds }: GuardRails,
  moment: Instant,
  nearest: Instant | null,
): RailBreach | null {
  const gap = nearest === null ? Infinity : Math.abs(moment - nearest)
  if (gap >= minIntervalSeconds * SECOND_MS) return null
  return breach(
    'min_interval_seconds',
    `Another run of the same owner is ${Math.floor(gap / SECOND_MS)} seconds away, and ${minIntervalSeconds} seconds must be between two`,
    { min_interval_seconds: minIntervalSeconds, interval_seconds: Math.floor(gap / SECOND_MS) },
  )
}

/** Whether an attempt may make something at all, after as many runs that woke one another. */
export function judgeDepth({ attempt }: Railed): RailBreach | null {
  const depth = attempt === null ? 0 : (attempt.lineage?.depth ?? 0) + 1
  if (depth <= DEEPEST) return null
  return {
    ...{ code: 'LINEAGE_DEPTH', rail: 'lineage', retryAfterMs: null, facts: { depth, deepest: DEEPEST } },
    message: `This run is the last of ${depth} that woke one another; what it makes would be one too many`,
  }
}

/** Whether an attempt would wake what it comes from. */
export function judgeLoop({ attempt }: Railed, id: ScheduleId): RailBreach | null {
  if (attempt === null || !schedulesAbove(attempt).includes(id)) return null
  return {
    ...{ code: 'LINEAGE_LOOP', rail: 'lineage', retryAfterMs: null, facts: { schedule_id: id } },
    message: `This run comes from schedule ${id}, and would wake what it comes from`,
  }
}
