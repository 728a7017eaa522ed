import { later, type Instant } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'
import { isRetrying } from '../../domain/run/run.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { Desk } from '../desk/desk.ts'

/** A clock that is behind the last turn by no more than this has not been set: clocks of servers differ by so much. */
const MAX_SKEW_MS = 1_000

/**
 * What time it is in an org, and by how much waits have to be moved. Time follows the clock of the database, also when
 * that is set back: an org whose time stood still until the clock has caught up would do nothing by itself for as long. A
 * difference of a moment is no step. Waits are planned in turns that are kept, so the newest of these tells how far they
 * have to be moved: where it is by the clock of now, another node has noticed the step, and a second time would cut waits
 * and timeouts short.
 */
export function orgTime(desk: Desk, now: Instant, newestAt: Instant | null): { now: Instant; stepMs: number } {
  const last = newestAt !== null && newestAt > desk.now ? newestAt : desk.now
  if (now >= last) return { now, stepMs: 0 }
  if (last - now <= MAX_SKEW_MS) return { now: last, stepMs: 0 }
  return { now, stepMs: Math.max(0, (newestAt ?? desk.now) - now) }
}

/** The server's clock was set back: every run that waits by the clock before is to be moved by as much. */
export function noteStep(desk: Desk, stepMs: number): void {
  const runs = [...desk.runs.values()].filter((run) => movedBack(desk, run, stepMs) !== null)
  if (runs.length > 0)
    desk.clockSteps = [...desk.clockSteps, { no: desk.turnNo, byMs: stepMs, runs: runs.map(({ id }) => id) }]
}

/**
 * Moves at most so many runs, and records those that are left with the turn: whatever becomes of this node or its memory,
 * each is moved once.
 */
export function applySteps(desk: Desk, max: number): void {
  const [step, ...others] = desk.clockSteps
  if (step === undefined) return
  const { no, byMs, runs } = step
  for (const id of runs.slice(0, max)) {
    const run = desk.runs.get(id)
    const moved = run === undefined ? null : movedBack(desk, run, byMs)
    if (run !== undefined && moved !== null) desk.changes.changed.add(Object.assign(run, moved))
  }
  const left = { no, byMs, runs: runs.slice(max) }
  desk.clockSteps = left.runs.length > 0 ? [left, ...others] : others
  // One that was noticed now and is done now was never on record.
  const changed = no === desk.turnNo && left.runs.length === 0 ? [] : [left]
  addAll(desk.changes.clockSteps, [...changed, ...others.filter((other) => other.no === desk.turnNo)])
}

type Moved = Partial<Pick<RunRow, 'notBefore' | 'graceUntil' | 'endsBy'>>

/** What was counted from a time that has not come yet was counted by the clock before. Null: nothing was. */
function movedBack({ now, settings }: Desk, run: RunRow, byMs: number): Moved | null {
  const moved = (at: Instant): Instant => (at - byMs > now ? later(at, -byMs) : now)
  if (run.finishedAt !== null) return null
  if (run.state === 'waiting' && run.notBefore !== null && run.notBefore > now && isRelative(run))
    return { notBefore: moved(run.notBefore) }
  if (run.state === 'stopping' && run.graceUntil !== null && run.graceUntil - now > settings.node.stopGraceMs)
    return { graceUntil: later(now, settings.node.stopGraceMs) }
  if (run.endsBy === null || run.startedAt === null || run.startedAt <= now) return null
  return { endsBy: moved(run.endsBy) }
}

/** Whether the wait was counted from the present: nearly all are, but not one that a caller has named a time for. */
const isRelative = (run: RunRow): boolean => isRetrying(run) || run.decision.reason !== 'delayed'
