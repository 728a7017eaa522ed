import type { AttemptId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { RunRow } from '../../store/run-row.ts'
import { noChanges, type Changes } from '../desk/desk.ts'
import { clearSome } from '../desk/clearing.ts'
import { releaseHeld } from '../desk/held.ts'
import { passTime } from '../desk/settle.ts'
import { applySteps, noteStep, orgTime } from './clock-step.ts'
import { noteRun, type Memory, type NodeFacts } from './memory.ts'
import { noteChanges } from './notes.ts'
import { WITHOUT_LIMIT, type Allowance } from './turn-limits.ts'

/** The parts of a turn that need no database: a simulation takes its turns with them, too. */

/** Runs that are looked at before the allowance is asked again, and before the server begins to write their endings. */
const PIECE = 128

/** Each release asks the policies and looks at all runs of its schedule, so time is looked at more often. */
const RELEASE_PIECE = 16

/** How far time passes in one turn. Left out: all that is due, at once. */
export interface Passing {
  readonly allowance: Allowance
  /** Called between two pieces. */
  readonly between: () => void
}

const ALL_AT_ONCE: Passing = { allowance: WITHOUT_LIMIT, between: () => undefined }

/** What has become due by itself since the last turn, and what is being cancelled in pieces. */
export function letTimePass(memory: Memory, node: NodeFacts, { allowance, between }: Passing = ALL_AT_ONCE): void {
  const { desk } = memory
  const unchanged: RunRow[] = []
  let happened = desk.clearings.size + desk.clockSteps.length > 0
  applySteps(desk, allowance.left)
  const places = freePlaces(memory, node)
  memory.held.isBlocked = false
  while (allowance.left > 0 && !allowance.isOver()) {
    const max = Math.min(PIECE, allowance.left)
    const cleared = desk.clearings.size > 0 ? clearSome(desk, max).length : 0
    const passed = passDue(memory, max - cleared, unchanged)
    // What ends by itself ends before policies are asked that look at it.
    const released = passed > 0 ? 0 : releaseDue(memory, Math.min(RELEASE_PIECE, max - cleared), places)
    if (cleared + passed + released === 0) break
    happened = true
    allowance.left -= cleared + passed + released
    between()
  }
  // Their next moment has to be set again; before the end of the loop they would only be looked at twice.
  for (const run of unchanged) noteRun(memory, run)
  if (happened) noteChanges(memory, node)
}

/** Catch-up runs that may still begin on the node; those that are released here count as begun. */
interface Places {
  left: number
}

const freePlaces = ({ desk }: Memory, { catchups }: NodeFacts): Places => ({
  left: desk.settings.schedules.catchupMaxActive - (catchups?.() ?? 0),
})

/** Releases at most so many held occurrences for which there is a place. Answers with how many. */
function releaseDue(memory: Memory, max: number, places: Places): number {
  const { desk, held } = memory
  let released = 0
  while (released < max && (held.next() ?? Infinity) <= desk.now) {
    held.isBlocked = places.left <= 0
    const run = held.isBlocked ? undefined : held.takeDue()
    if (run === undefined) break
    releaseHeld(desk, run)
    noteRun(memory, run)
    if (run.trigger === 'catchup' && run.state === 'queued' && run.slot === 'held') places.left -= 1
    released += 1
  }
  return released
}

/** Looks at so many runs whose time has come. Answers with how many there were. */
function passDue({ desk, timers }: Memory, max: number, unchanged: RunRow[]): number {
  const due = timers.takeDue(desk.now, max)
  for (const id of due) {
    const run = desk.runs.get(id)
    if (run === undefined) continue
    passTime(desk, run, null)
    if (!desk.changes.changed.has(run)) unchanged.push(run)
  }
  return due.length
}

/** When a turn is taken, and its number. */
export interface TurnMoment {
  readonly now: Instant
  readonly no: number
  /** When the turn before was taken, by whatever node. Left out: as this memory knows. */
  readonly newestAt?: Instant | null
  /** Most runs that one command or one lost node changes in it. Left out: no limit. */
  readonly maxChanges?: number
  /** Where its changes are collected; empty. Left out: somewhere new. */
  readonly changes?: Changes
}

/** A new turn: nothing has changed in it yet. */
export function beginTurn(memory: Memory, at: TurnMoment): void {
  const { desk } = memory
  const { now, stepMs } = orgTime(desk, at.now, at.newestAt ?? null)
  desk.now = now
  desk.turnNo = at.no
  desk.placesGiven = 0
  desk.maxChanges = at.maxChanges ?? Infinity
  desk.changes = at.changes ?? noChanges()
  if (stepMs > 0) noteStep(desk, stepMs)
}

/** When a turn is worth taking although nobody asks for one. */
export function nextMoment(memory: Memory): Instant | null {
  const { desk, held } = memory
  if (desk.clearings.size + desk.clockSteps.length > 0) return desk.now
  const moments = [memory.timers.next(), memory.lineUp.wakesAt(), held.isBlocked ? null : held.next()]
  return moments.reduce((first, at) => (first === null || (at !== null && at < first) ? at : first), null)
}

/** An attempt that somebody works on. */
export interface Worked {
  readonly runId: RunId
  readonly attemptId: AttemptId
}

/** Why whoever works on the attempt must end it; null: it may go on. */
export function reasonToEnd({ desk }: Memory, { runId, attemptId }: Worked): string | null {
  const run = desk.runs.get(runId)
  if (run?.attemptId === attemptId && run.state !== 'stopping') return null
  return run?.state === 'stopping' ? (run.why?.reason ?? 'cancelled') : 'timeout'
}
