import { isBackfilled } from '../../core/backfill/backfill.ts'
import { isWaitingWork } from '../../domain/run/run.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import type { Clearing, ClearingSubject } from '../../engine/commands/cancel-waiting-store.ts'
import type { RunRow } from '../../store/run-row.ts'

/** Sessions and schedules whose older waiting runs are being cancelled in pieces, by name. */
export type Clearings = Map<string, Clearing>

export const clearingName = ({ subject, key }: ClearingSubject): string => `${subject} ${key}`

/** Whether the run is among those that the clearing cancels. */
export function isCovered({ subject, before, superseded }: Clearing, run: RunRow): boolean {
  if (run.createdAt >= before || run.finishedAt !== null || !isWaitingWork(run)) return false
  if (subject === 'session') return true
  // Held occurrences of a schedule are never superseded, and end at once with it.
  if (isHeld(run)) return false
  // With a schedule that is deleted only those go that waited for one of its slots.
  return superseded ? !isBackfilled(run) : run.slot === 'parked'
}

/** The clearing under which the run is to be cancelled; undefined for nearly every run. */
export function clearingOf(clearings: Clearings, run: RunRow): Clearing | undefined {
  if (clearings.size === 0) return undefined
  const session = run.sessionKey === null ? undefined : clearings.get(`session ${run.sessionKey}`)
  if (session !== undefined && isCovered(session, run)) return session
  const schedule = run.scheduleId === null ? undefined : clearings.get(`schedule ${run.scheduleId}`)
  return schedule !== undefined && isCovered(schedule, run) ? schedule : undefined
}

/** Takes in what is on record. */
export function takeClearings(clearings: Clearings, found: readonly Clearing[]): void {
  clearings.clear()
  for (const clearing of found) clearings.set(clearingName(clearing), clearing)
}
