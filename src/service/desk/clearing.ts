import type { Why } from '../../domain/reasons.ts'
import type { Clearing, ClearingSubject } from '../../engine/commands/cancel-waiting-store.ts'
import type { RunRow } from '../../store/run-row.ts'
import { clearingName, isCovered } from './cleared.ts'
import type { Desk } from './desk.ts'
import { move } from './runs.ts'

/**
 * Cancelling waiting runs by the thousand. One transaction cancels a bounded number of them; for the rest it records a
 * clearing, and from then on none of them starts. Later transactions cancel them a piece at a time.
 */

/** Cancels one run that waits, and tells its chat with nothing, so that indicators are cleared. */
function cancelOne(desk: Desk, run: RunRow, { why, superseded }: Pick<Clearing, 'why' | 'superseded'>): void {
  if (superseded) {
    run.superseded = true
    run.slot = null
  }
  if (move(desk, run, { event: 'cancel', why }))
    desk.changes.events.push({ kind: 'outbound', subject: run.id, data: { empty: true, session: run.sessionKey } })
}

/** Cancels waiting runs of a session or schedule: all of them now, or as many as one transaction may and the rest soon. */
export function cancelWaiting(
  desk: Desk,
  runs: readonly RunRow[],
  cancel: ClearingSubject & { readonly why: Why; readonly superseded?: boolean },
): void {
  const { subject, key, why, superseded = false } = cancel
  if (runs.length <= desk.maxChanges) {
    for (const run of runs) cancelOne(desk, run, { why, superseded })
    return
  }
  // What was created at this very time cannot be told from what is created next, so it does not wait.
  for (const run of runs) if (run.createdAt >= desk.now) cancelOne(desk, run, { why, superseded })
  const clearing: Clearing = { subject, key, before: desk.now, superseded, why }
  desk.clearings.set(clearingName(clearing), clearing)
  desk.changes.clearings.add(clearing)
}

/** Cancels a run that must not start any more. */
export function cancelCleared(desk: Desk, run: RunRow, clearing: Clearing): void {
  cancelOne(desk, run, clearing)
}

/** Cancels at most so many runs of what is being cleared. Answers with the runs; a clearing without any left is over. */
export function clearSome(desk: Desk, max: number): readonly RunRow[] {
  const cancelled: RunRow[] = []
  for (const clearing of [...desk.clearings.values()]) {
    for (const run of runsOf(desk, clearing)) {
      if (cancelled.length >= max) return cancelled
      if (!isCovered(clearing, run)) continue
      cancelOne(desk, run, clearing)
      cancelled.push(run)
    }
    desk.clearings.delete(clearingName(clearing))
    desk.changes.clearings.delete(clearing)
    desk.changes.cleared.push(clearing)
  }
  return cancelled
}

function runsOf({ bySession, bySchedule }: Desk, { subject, key }: Clearing): Iterable<RunRow> {
  const runs: ReadonlyMap<string, ReadonlySet<RunRow>> = subject === 'session' ? bySession : bySchedule
  return runs.get(key) ?? []
}
