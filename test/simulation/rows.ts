import { runId } from '../../src/core/ids.ts'
import { isTerminal, type RunEvent, type RunState } from '../../src/core/run/run-machine.ts'
import { nextFailureStreak } from '../../src/core/schedule/schedule-history.ts'
import { ACCEPTED } from '../../src/core/usual-why.ts'
import { scheduleOf, type Run, type Schedule, type World } from './world.ts'

export type NewRun = Pick<
  Run,
  'orgId' | 'agentId' | 'sessionKey' | 'trigger' | 'lane' | 'priority' | 'retryPolicy' | 'state' | 'notBefore'
> &
  Partial<Run>

/** Writes a new row. */
export function insertRun(world: World, fields: NewRun): Run {
  const run: Run = {
    id: newRunId(world),
    scheduleId: null,
    nominal: null,
    createdAt: world.now,
    sender: null,
    stamp: null,
    interrupts: false,
    generation: 0,
    firstAttempt: 1,
    attempt: fields.firstAttempt ?? 1,
    failureActionRetries: false,
    deadline: null,
    submissions: [],
    seq: null,
    debouncing: false,
    slot: null,
    superseded: false,
    attemptId: null,
    node: null,
    startedAt: null,
    endsBy: null,
    graceUntil: null,
    finishedAt: null,
    endedAs: null,
    decision: ACCEPTED,
    heldDecision: null,
    why: null,
    decidedAs: (world.counters.decided += 1),
    ...fields,
  }
  world.runs.set(run.id, run)
  const schedule = scheduleOf(world, run.scheduleId)
  schedule?.runs.add(run)
  if (run.state === 'queued') enterQueue(world, run)
  world.observer.created(world, run)
  if (isTerminal(run.state)) close(world, run)
  else {
    world.pending.set(run.id, run)
    schedule?.pending.add(run)
  }
  return run
}

export const newRunId = (world: World): Run['id'] => runId(`run_${String((world.counters.run += 1)).padStart(9, '0')}`)

/** Gives the run its place in its session, once; a parked run gets it with its slot. */
function enterQueue(world: World, run: Run): void {
  run.debouncing = false
  if (run.seq === null && run.slot !== 'parked') run.seq = world.counters.seq += 1
}

/** Applies an event as the run machine says. An event that means nothing in the state changes nothing. */
export function move(world: World, run: Run, event: RunEvent): boolean {
  const from = run.state
  const to = world.core.nextState(from, event)
  if (to === undefined) return false
  setState(world, run, to)
  if (to === 'queued') enterQueue(world, run)
  world.observer.moved(world, run, from)
  if (isTerminal(to) && from !== to) close(world, run)
  return true
}

function setState(world: World, run: Run, to: RunState): void {
  run.state = to
  if (to === 'waiting' || to === 'queued') {
    run.node = null
    run.attemptId = null
    run.endsBy = null
  }
  if (to === 'awaiting_callback') run.node = null
  if (!isTerminal(to)) return
  world.pending.delete(run.id)
  scheduleOf(world, run.scheduleId)?.pending.delete(run)
}

/** What the transaction that ends a run does besides: it frees the schedule slot and hands it on. */
function close(world: World, run: Run): void {
  run.finishedAt ??= world.now
  run.endedAs = world.counters.ended += 1
  run.slot = null
  const schedule = scheduleOf(world, run.scheduleId)
  if (schedule === null) return
  // The end of a held occurrence says nothing about how the runs of the schedule go.
  if (wasHeld(run)) return
  schedule.failureStreak = nextFailureStreak(schedule.failureStreak, run)
  grant(world, schedule)
}

/** Gives free slots of a schedule to the runs parked longest. */
export function grant(world: World, schedule: Schedule): void {
  if (schedule.pending.size === 0) return
  const waiting = pendingOfSchedule(schedule).map((run) => ({ id: run.id, slot: run.slot ?? 'parked' }))
  for (const granted of world.core.grantSlots(waiting, schedule.rules.maxConcurrency)) {
    const run = world.runs.get(granted)
    if (run === undefined) continue
    run.slot = 'held'
    if (run.state === 'queued') enterQueue(world, run)
  }
}

/** Retention: the rows go of which `keep` says that nobody will come back to them. Runs that have not ended stay. */
export function forgetRuns(world: World, keep: (run: Run) => boolean): void {
  for (const run of world.runs.values()) {
    if (!isTerminal(run.state) || keep(run)) continue
    world.runs.delete(run.id)
    scheduleOf(world, run.scheduleId)?.runs.delete(run)
    world.observer.forgotten(run)
  }
}

/** Whether it is held, or ended while it was. */
export const wasHeld = (run: Pick<Run, 'decision'>): boolean => run.decision.reason === 'held'

/** Oldest first, without those that were superseded or are held. */
export function pendingOfSchedule(schedule: Schedule, isHeld: (run: Run) => boolean = wasHeld): readonly Run[] {
  if (schedule.pending.size === 0) return []
  return [...schedule.pending]
    .filter((run) => !run.superseded && !isHeld(run))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}
