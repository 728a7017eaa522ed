import { isBackfilled } from '../../domain/schedule/backfill.ts'
import type { RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { isWaitingRun } from '../../domain/run/run.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { isCatchUp } from '../../domain/schedule/held.ts'
import { cancelSuperseded } from '../../domain/schedule/overlap.ts'
import type { PendingRun, ScheduleHistory } from '../../domain/schedule/history.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { ScheduleRow } from '../../features/schedules/store.ts'
import { applyCancellations, cancelWaiting } from '../commands/cancel.ts'
import { pendingOfSchedule, type OrgState } from './org-state.ts'

/** What has happened to the runs of a schedule so far. */
export function historyOf(state: OrgState, row: ScheduleRow): ScheduleHistory {
  return {
    previous: row.previousRunId === null ? null : previousOf(state, row.previousRunId),
    pending: pendingOfSchedule(state, row.id).map(pendingRun),
    lastEnding: row.lastEnding,
    failureStreak: row.failureStreak,
    skippedFor: row.skippedFor,
    fires: row.fires,
  }
}

const pendingRun = (run: RunRow): PendingRun => ({
  id: run.id,
  slot: run.slot ?? 'parked',
  nominal: run.nominal ?? run.createdAt,
  isCatchUp: isCatchUp(run),
})

/**
 * A run that is not in the org state has ended; its exact ending does not matter here, because the last one is stored
 * separately.
 */
function previousOf(state: OrgState, id: RunId): NonNullable<ScheduleHistory['previous']> {
  const run = state.runs.get(id)
  return { id, state: run === undefined || run.superseded ? 'cancelled' : run.state }
}

/**
 * Superseded runs give up their schedule slot in the same transaction and keep everything else until they end. An
 * occurrence of a backfill is not superseded by a newer one.
 */
export function supersede(state: OrgState, ids: readonly RunId[], nominal: Instant): void {
  const runs = ids
    .flatMap((id) => state.runs.get(id) ?? [])
    .filter((run) => !isTerminal(run.state) && !isBackfilled(run))
  const [waiting, others] = [runs.filter(isWaitingRun), runs.filter((run) => !isWaitingRun(run))]
  for (const run of others) {
    run.superseded = true
    run.slot = null
    state.changes.changed.add(run)
  }
  const { stopGraceMs } = state.settings.node
  applyCancellations(state, cancelSuperseded(others, { nominal, now: state.now, stopGraceMs }))
  const [first] = waiting
  if (first === undefined || first.scheduleId === null) return
  const [one] = cancelSuperseded([first], { nominal, now: state.now, stopGraceMs })
  if (one === undefined) return
  cancelWaiting(state, waiting, { subject: 'schedule', key: first.scheduleId, why: one.why, superseded: true })
}
