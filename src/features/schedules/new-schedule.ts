import type { ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ScheduleRow } from './store.ts'
import type { Caller } from '../access/caller.ts'
import type { ParsedSchedule } from './input.ts'
import { initialPlanState } from './next-run.ts'

/** A new schedule row, without history. */
export function newScheduleRow(
  { timingChanged: _timing, enabled: _enabled, ...read }: ParsedSchedule,
  creation: { readonly caller: Pick<Caller, 'orgId' | 'principal'>; readonly now: Instant; readonly id: ScheduleId },
): ScheduleRow {
  const { caller, now, id } = creation
  return {
    ...read,
    ...initialPlanState({ ...read, timingChanged: _timing, enabled: _enabled }, now),
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
