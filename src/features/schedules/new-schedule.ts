import type { ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { Caller } from '../../service/caller.ts'
import type { ReadSchedule } from '../../service/schedule-input.ts'
import { firstStanding } from '../../service/schedule-plan.ts'

/** A schedule that nothing has happened to yet. */
export function newSchedule(
  { timingChanged: _timing, enabled: _enabled, ...read }: ReadSchedule,
  made: { readonly caller: Pick<Caller, 'orgId' | 'principal'>; readonly now: Instant; readonly id: ScheduleId },
): ScheduleRow {
  const { caller, now, id } = made
  return {
    ...read,
    ...firstStanding({ ...read, timingChanged: _timing, enabled: _enabled }, now),
    ...{ id, orgId: caller.orgId },
    createdBy: caller.principal,
    owner: null,
    createdByRun: null,
    lineage: null,
    approval: null,
    failureStreak: 0,
    failureCount: 0,
    skippedFor: null,
    fires: 0,
    ...{ previousRunId: null, lastReleaseAt: null, lastEnding: null, lastRunAt: null, lastStatus: null },
    lastError: null,
    alerts: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
}
