import type { Instant } from '../instant.ts'
import type { RunState } from '../run/run-machine.ts'
import { nextOccurrence, type Timing } from '../time/timing.ts'

export const SCHEDULE_STATES = ['active', 'paused', 'finished', 'failed', 'pending_approval'] as const
export type ScheduleState = (typeof SCHEDULE_STATES)[number]

/** How the seeds say that a schedule is on, or off. */
export const ENABLED_WORDS = ['ENABLED', 'DISABLED'] as const

export interface ScheduleLife {
  readonly state: ScheduleState
  readonly nextRunAt: Instant | null
}

/** Where a schedule stands after everything up to `after` has been decided. */
export function lifeAfter(
  schedule: { readonly timing: Timing; readonly maxFires: number | null; readonly fires: number },
  after: Instant,
): ScheduleLife {
  if (tooDense(schedule.timing) !== null) return { state: 'failed', nextRunAt: null }
  const spent = schedule.maxFires !== null && schedule.fires >= schedule.maxFires
  const nextRunAt = spent ? null : nextOccurrence(schedule.timing, after)
  return { state: nextRunAt === null ? 'finished' : 'active', nextRunAt }
}

/** Why a timing that an earlier version has stored cannot go on, or null for one that can. */
export const tooDense = (timing: Timing): string | null => (timing.kind === 'rrule' ? timing.rule.tooDense : null)

export type AfterRun =
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'end'; readonly state: 'finished' | 'failed' }

/**
 * What the end of a run does to the schedule that made it. Only `at` is touched: a reminder that was given is gone, one
 * that failed for good stays, switched off, with its error. A run that a person asked for says nothing about the plan.
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

/** Whether a finished run of an `at` schedule deletes it when nobody has said. */
export const deletesAfterRun = (timing: Timing, asked: boolean | null): boolean => asked ?? timing.kind === 'at'
