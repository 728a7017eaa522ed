import type { AttemptId, RunId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import { noChanges, type Changes } from '../desk/desk.ts'
import { passTime } from '../desk/settle.ts'
import { noteRun, type Memory, type NodeFacts } from './memory.ts'
import { noteChanges } from './notes.ts'

/** The parts of a turn that need no database: a simulation takes its turns with them, too. */

/** Everything that has become due by itself since the last turn. */
export function letTimePass(memory: Memory, node: NodeFacts): void {
  const { desk, timers } = memory
  const due = timers.takeDue(desk.now)
  for (const id of due) {
    const run = desk.runs.get(id)
    if (run === undefined) continue
    passTime(desk, run, null)
    // Also when nothing came of it: its next moment has to be set again.
    noteRun(memory, run)
  }
  if (due.length > 0) noteChanges(memory, node)
}

/** When a turn is taken, and its number. */
export interface TurnMoment {
  readonly now: Instant
  readonly no: number
  /** Where its changes are collected; empty. Left out: somewhere new. */
  readonly changes?: Changes
}

/** A new turn: nothing has changed in it yet. */
export function beginTurn({ desk }: Memory, at: TurnMoment): void {
  // Time does not go back inside an org, even if somebody sets the server's clock.
  if (at.now > desk.now) desk.now = at.now
  desk.turnNo = at.no
  desk.placesGiven = 0
  desk.changes = at.changes ?? noChanges()
}

/** When a turn is worth taking although nobody asks for one. */
export function nextMoment(memory: Memory): Instant | null {
  const timer = memory.timers.next()
  const waiting = memory.lineUp.wakesAt()
  if (timer === null) return waiting
  return waiting !== null && waiting < timer ? waiting : timer
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
