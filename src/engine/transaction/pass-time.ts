import type { AttemptId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { RunRow } from '../../features/runs/store.ts'
import { noChanges, type Changes } from '../org-state/org-state.ts'
import { cancelSomeCleared } from '../commands/cancel.ts'
import { releaseHeld } from '../commands/held.ts'
import { settleDue } from '../commands/settle.ts'
import { applyClockSteps, recordClockStep, orgTime } from './clock-step.ts'
import { reindexRun, type LoadedOrg, type NodeCapabilities } from '../org-state/memory.ts'
import { loadCleared, loadDue, type Loads } from '../org-state/backlog.ts'
import { applyChanges } from '../org-state/changes.ts'
import { WITHOUT_LIMIT, type Allowance } from './limits.ts'

/** The parts of a transaction that need no database; simulations use them, too. */

/** Runs processed before the allowance is checked again, and before the server starts to write their endings. */
const RUNS_PER_PIECE = 128

/** Each release asks the policies and reads all runs of its schedule, so the time is checked more often. */
const RELEASES_PER_PIECE = 16

/** How much time may pass in one transaction. Left out: everything that is due. */
export interface AdvanceOptions {
  readonly allowance: Allowance
  /** Called between two pieces. */
  readonly between: () => void
}

const ALL_AT_ONCE: AdvanceOptions = { allowance: WITHOUT_LIMIT, between: () => undefined }

/** Loads from the backlog what has become due and what is being cancelled, as far as the allowance goes. */
export function* loadPassing(org: LoadedOrg, allowance: Allowance): Loads<void> {
  if (org.state.backlog.count === 0) return
  allowance.left -= yield* loadCleared(org, allowance.left)
  yield* loadDue(org, allowance.left)
}

/** Applies what has become due since the last transaction, and what is being cancelled in pieces. */
export function advanceTime(
  org: LoadedOrg,
  node: NodeCapabilities,
  { allowance, between }: AdvanceOptions = ALL_AT_ONCE,
): void {
  const { state } = org
  const unchanged: RunRow[] = []
  let happened = state.clearings.size + state.clockSteps.length > 0
  applyClockSteps(state, allowance.left)
  const positions = freeCatchupPositions(org, node)
  org.held.isBlocked = false
  while (allowance.left > 0 && !allowance.isOver()) {
    const max = Math.min(RUNS_PER_PIECE, allowance.left)
    const cleared = state.clearings.size > 0 ? cancelSomeCleared(state, max).length : 0
    const passed = settleDueRuns(org, max - cleared, unchanged)
    // Runs that end by themselves end before the policies that look at them.
    const released = passed > 0 ? 0 : releaseDue(org, Math.min(RELEASES_PER_PIECE, max - cleared), positions)
    if (cleared + passed + released === 0) break
    happened = true
    allowance.left -= cleared + passed + released
    between()
  }
  // Their next time must be set again; before the end of the loop they would only be processed twice.
  for (const run of unchanged) reindexRun(org, run)
  if (happened) applyChanges(org, node)
}

/** Catch-up runs that may still start on the node; the ones released here count as started. */
interface CatchupPositions {
  left: number
}

const freeCatchupPositions = ({ state }: LoadedOrg, { catchups }: NodeCapabilities): CatchupPositions => ({
  left: state.settings.schedules.catchupMaxActive - (catchups?.() ?? 0),
})

/**
 * A release counts as a start until it is known what starts. A run that could not start leaves its position free, so
 * the next held occurrence is due at once and does not wait for an unrelated transaction.
 */
export function unblockHeld(org: LoadedOrg, node: NodeCapabilities): void {
  const { held } = org
  if (held.isBlocked) held.isBlocked = freeCatchupPositions(org, node).left <= 0
}

/** Releases at most `max` held occurrences while there are catch-up positions. Returns how many. */
function releaseDue(org: LoadedOrg, max: number, positions: CatchupPositions): number {
  const { state, held } = org
  let released = 0
  while (released < max && (held.next() ?? Infinity) <= state.now) {
    held.isBlocked = positions.left <= 0
    const run = held.isBlocked ? undefined : held.takeDue()
    if (run === undefined) break
    releaseHeld(state, run)
    reindexRun(org, run)
    if (run.trigger === 'catchup' && run.state === 'queued' && run.slot === 'held') positions.left -= 1
    released += 1
  }
  return released
}

/** Processes at most `max` runs that are due. Returns how many. */
function settleDueRuns({ state, timers }: LoadedOrg, max: number, unchanged: RunRow[]): number {
  const due = timers.takeDue(state.now, max)
  for (const id of due) {
    const run = state.runs.get(id)
    if (run === undefined) continue
    settleDue(state, run, null)
    if (!state.changes.changed.has(run)) unchanged.push(run)
  }
  return due.length
}

/** Time and number of a transaction. */
export interface TransactionTime {
  readonly now: Instant
  readonly no: number
  /** The time of the previous transaction, of any node. Left out: the time in this state. */
  readonly newestAt?: Instant | null
  /** Maximum number of runs that one command or one lost node changes. Left out: no limit. */
  readonly maxChanges?: number
  /** Collects the changes; must be empty. Left out: a new object. */
  readonly changes?: Changes
}

/** Begins a transaction without changes. */
export function beginOrgTransaction(org: LoadedOrg, at: TransactionTime): void {
  const { state } = org
  const { now, stepMs } = orgTime(state, at.now, at.newestAt ?? null)
  state.now = now
  state.transactionNo = at.no
  state.positionsAssigned = 0
  state.maxChanges = at.maxChanges ?? Infinity
  state.changes = at.changes ?? noChanges()
  if (stepMs > 0) recordClockStep(state, stepMs)
}

/** When the next transaction is needed without a command; null: never. */
export function nextDueTime(org: LoadedOrg): Instant | null {
  const { state, held } = org
  if (state.clearings.size + state.clockSteps.length > 0) return state.now
  const times = [
    org.timers.next(),
    state.backlog.wakesAt,
    org.readyQueue.wakesAt(),
    held.isBlocked ? null : held.next(),
  ]
  return times.reduce((first, at) => (first === null || (at !== null && at < first) ? at : first), null)
}

/** An attempt in progress. */
export interface ActiveAttempt {
  readonly runId: RunId
  readonly attemptId: AttemptId
}

/** Why the attempt must be aborted; null: it may go on. */
export function reasonToAbort({ state }: LoadedOrg, { runId, attemptId }: ActiveAttempt): string | null {
  const run = state.runs.get(runId)
  if (run?.attemptId === attemptId && run.state !== 'stopping') return null
  return run?.state === 'stopping' ? (run.why?.reason ?? 'cancelled') : 'timeout'
}
