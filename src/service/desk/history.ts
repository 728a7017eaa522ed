import { isBackfilled } from '../../core/backfill/backfill.ts'
import type { RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { isWaitingWork } from '../../domain/run/run.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { isMadeUp } from '../../domain/schedule/held.ts'
import { cancelSuperseded } from '../../domain/schedule/overlap.ts'
import type { PendingRun, ScheduleHistory } from '../../domain/schedule/history.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { applyCancellations } from './cancel.ts'
import { cancelWaiting } from './clearing.ts'
import { pendingOfSchedule, type Desk } from './desk.ts'

/** What has become of the runs of a schedule so far. */
export function historyOf(desk: Desk, row: ScheduleRow): ScheduleHistory {
  return {
    previous: row.previousRunId === null ? null : previousOf(desk, row.previousRunId),
    pending: pendingOfSchedule(desk, row.id).map(pendingRun),
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
  madeUp: isMadeUp(run),
})

/** What is not on the desk any more has ended, and nobody asks how: the last ending is on record by itself. */
function previousOf(desk: Desk, id: RunId): NonNullable<ScheduleHistory['previous']> {
  const run = desk.runs.get(id)
  return { id, state: run === undefined || run.superseded ? 'cancelled' : run.state }
}

/**
 * Superseded runs give up their schedule slot in the same transaction; everything else they keep until they end. A moment
 * that is made up for is not superseded by a newer one.
 */
export function supersede(desk: Desk, ids: readonly RunId[], nominal: Instant): void {
  const runs = ids
    .flatMap((id) => desk.runs.get(id) ?? [])
    .filter((run) => !isTerminal(run.state) && !isBackfilled(run))
  const [waiting, others] = [runs.filter(isWaitingWork), runs.filter((run) => !isWaitingWork(run))]
  for (const run of others) {
    run.superseded = true
    run.slot = null
    desk.changes.changed.add(run)
  }
  const { stopGraceMs } = desk.settings.node
  applyCancellations(desk, cancelSuperseded(others, { nominal, now: desk.now, stopGraceMs }))
  const [first] = waiting
  if (first === undefined || first.scheduleId === null) return
  const [one] = cancelSuperseded([first], { nominal, now: desk.now, stopGraceMs })
  if (one === undefined) return
  cancelWaiting(desk, waiting, { subject: 'schedule', key: first.scheduleId, why: one.why, superseded: true })
}
