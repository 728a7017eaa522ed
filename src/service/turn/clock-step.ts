import type { RunId } from '../../core/ids.ts'
import { later, type Instant } from '../../core/instant.ts'
import { isRetrying } from '../../core/run/run.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { Desk } from '../desk/desk.ts'

/** A clock that is behind the last turn by no more than this has not been set: clocks of servers differ by so much. */
const MAX_SKEW_MS = 1_000

/** The server's clock was set back: waits that were planned by the clock before are moved by as much, a piece per turn. */
export interface ClockStep {
  readonly byMs: number
  /** Runs that are still to be looked at, by id: what others change meanwhile is another object then. */
  readonly runs: RunId[]
}

/**
 * What time it is in an org. It follows the clock of the database, also when that is set back: an org whose time stood
 * still until the clock has caught up would do nothing by itself for as long. A difference of a moment is no step.
 */
export function orgTime(desk: Desk, now: Instant, newestAt: Instant | null): { now: Instant; step: ClockStep | null } {
  const last = newestAt !== null && newestAt > desk.now ? newestAt : desk.now
  if (now >= last) return { now, step: null }
  const byMs = last - now
  return byMs <= MAX_SKEW_MS ? { now: last, step: null } : { now, step: { byMs, runs: [...desk.runs.keys()] } }
}

/** Moves what at most so many runs wait for. Answers with whether any are left. */
export function applyStep(desk: Desk, { byMs, runs }: ClockStep, max: number): boolean {
  for (const id of runs.splice(-max)) {
    const run = desk.runs.get(id)
    if (run !== undefined && moveBack(desk, run, byMs)) desk.changes.changed.add(run)
  }
  return runs.length > 0
}

/** What was counted from a time that has not come yet was counted by the clock before. */
function moveBack({ now, settings }: Desk, run: RunRow, byMs: number): boolean {
  const moved = (at: Instant): Instant => (at - byMs > now ? later(at, -byMs) : now)
  if (run.finishedAt !== null) return false
  if (run.state === 'waiting' && run.notBefore !== null && run.notBefore > now && isRelative(run)) {
    run.notBefore = moved(run.notBefore)
    return true
  }
  if (run.state === 'stopping' && run.graceUntil !== null && run.graceUntil - now > settings.stopGraceMs) {
    run.graceUntil = later(now, settings.stopGraceMs)
    return true
  }
  if (run.endsBy === null || run.startedAt === null || run.startedAt <= now) return false
  run.endsBy = moved(run.endsBy)
  return true
}

/** Whether the wait was counted from the present: nearly all are, but not one that a caller has named a time for. */
const isRelative = (run: RunRow): boolean => isRetrying(run) || run.decision.reason !== 'delayed'
