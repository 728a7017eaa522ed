import { later, type Instant } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'
import { isRetrying } from '../../domain/run/run.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { OrgState } from '../org-state/org-state.ts'

/** A smaller difference than this is no step: clocks of servers differ by as much. */
const MAX_CLOCK_DRIFT_MS = 1_000

/**
 * The org's time, and how far waits must be moved. The time follows the database's clock even when that is set back: an
 * org whose time stopped until the clock had caught up would do nothing by itself for that long. Small differences are
 * not steps. Waits are planned in committed transactions, so the newest of them tells how far to move: when it is
 * already by the new clock, another node has recorded the step, and moving twice would cut waits and timeouts short.
 */
export function orgTime(state: OrgState, now: Instant, newestAt: Instant | null): { now: Instant; stepMs: number } {
  const last = newestAt !== null && newestAt > state.now ? newestAt : state.now
  if (now >= last) return { now, stepMs: 0 }
  if (last - now <= MAX_CLOCK_DRIFT_MS) return { now: last, stepMs: 0 }
  return { now, stepMs: Math.max(0, (newestAt ?? state.now) - now) }
}

/** Records that the server's clock was set back, with every run whose wait must be moved. */
export function recordClockStep(state: OrgState, stepMs: number): void {
  const runs = [...state.runs.values()].filter((run) => movedBack(state, run, stepMs) !== null)
  if (runs.length > 0)
    state.clockSteps = [...state.clockSteps, { no: state.transactionNo, byMs: stepMs, runs: runs.map(({ id }) => id) }]
}

/**
 * Moves at most `max` runs and records the rest with the transaction, so that each run is moved exactly once even if
 * this node or its state is lost.
 */
export function applyClockSteps(state: OrgState, max: number): void {
  const [step, ...others] = state.clockSteps
  if (step === undefined) return
  const { no, byMs, runs } = step
  for (const id of runs.slice(0, max)) {
    const run = state.runs.get(id)
    const moved = run === undefined ? null : movedBack(state, run, byMs)
    if (run !== undefined && moved !== null) state.changes.changed.add(Object.assign(run, moved))
  }
  const left = { no, byMs, runs: runs.slice(max) }
  state.clockSteps = left.runs.length > 0 ? [left, ...others] : others
  // A step that is recorded and completed in the same transaction is never written.
  const changed = no === state.transactionNo && left.runs.length === 0 ? [] : [left]
  addAll(state.changes.clockSteps, [...changed, ...others.filter((other) => other.no === state.transactionNo)])
}

type MovedTimes = Partial<Pick<RunRow, 'notBefore' | 'graceUntil' | 'endsBy'>>

/** The moved times of a run: times counted from a future time were counted by the old clock. Null: nothing to move. */
function movedBack({ now, settings }: OrgState, run: RunRow, byMs: number): MovedTimes | null {
  const moved = (at: Instant): Instant => (at - byMs > now ? later(at, -byMs) : now)
  if (run.finishedAt !== null) return null
  if (run.state === 'waiting' && run.notBefore !== null && run.notBefore > now && isRelative(run))
    return { notBefore: moved(run.notBefore) }
  if (run.state === 'stopping' && run.graceUntil !== null && run.graceUntil - now > settings.node.stopGraceMs)
    return { graceUntil: later(now, settings.node.stopGraceMs) }
  if (run.endsBy === null || run.startedAt === null || run.startedAt <= now) return null
  return { endsBy: moved(run.endsBy) }
}

/** Whether the wait was counted from the present; only a time that a client has named was not. */
const isRelative = (run: RunRow): boolean => isRetrying(run) || run.decision.reason !== 'delayed'
