import type { Instant } from '../instant.ts'
import type { RunState } from '../run/run-machine.ts'
import { nextOccurrence, type Timing } from '../time/timing.ts'

export const SCHEDULE_STATES = ['active', 'paused', 'finished', 'failed', 'pending_approval'] as const
export type ScheduleState = (typeof SCHEDULE_STATES)[number]

/** The legacy spelling of whether a schedule is enabled. */
export const ENABLED_WORDS = ['ENABLED', 'DISABLED'] as const

export interface ScheduleStatus {
  readonly state: ScheduleState
  readonly nextRunAt: Instant | null
}

/** The state of a schedule after everything up to `after` has been decided. */
export function statusAfter(
  schedule: { readonly timing: Timing; readonly maxFires: number | null; readonly fires: number },
  after: Instant,
): ScheduleStatus {
  if (tooDense(schedule.timing) !== null) return { state: 'failed', nextRunAt: null }
  const spent = schedule.maxFires !== null && schedule.fires >= schedule.maxFires
  const nextRunAt = spent ? null : nextOccurrence(schedule.timing, after)
  return { state: nextRunAt === null ? 'finished' : 'active', nextRunAt }
}

/** Why a timing stored by an earlier version is too dense to continue; null when it is not. */
export const tooDense = (timing: Timing): string | null => (timing.kind === 'rrule' ? timing.rule.tooDense : null)

export type AfterRun =
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'end'; readonly state: 'finished' | 'failed' }

/**
 * Decides what the end of a run does to its schedule. Only `at` schedules change: a completed reminder is deleted,
 * one that failed permanently stays, disabled, with its error. Manually requested runs do not affect the plan.
 */
export function decideAfterRun(
  schedule: { readonly timing: Timing; readonly deleteAfterRun: boolean },
  ended: { readonly state: RunState; readonly planned: boolean },
): AfterRun {
  if (schedule.timing.kind !== 'at' || !ended.planned) return { kind: 'keep' }
  switch (ended.state) {
    case 'success':
      return schedule.deleteAfterRun ? { kind: 'delete' } : { kind: 'end', state: 'finished' }
    case 'failed':
    case 'timeout':
    case 'expired':
    case 'dropped':
    case 'rejected':
      return { kind: 'end', state: 'failed' }
    case 'cancelled':
    case 'skipped':
      return { kind: 'end', state: 'finished' }
    case 'waiting':
    case 'queued':
    case 'assigned':
    case 'running':
    case 'awaiting_callback':
    case 'stopping':
      return { kind: 'keep' }
  }
}

/** Whether an `at` schedule is deleted after its run; the default is true for `at`. */
export const deletesAfterRun = (timing: Timing, requested: boolean | null): boolean => requested ?? timing.kind === 'at'
