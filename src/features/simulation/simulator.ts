import type { SimulationView } from './result-schema.ts'
import type { ScheduleId } from '../../domain/ids.ts'
import { formatInstant, instant, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { jobRunIdOf } from '../../domain/schedule/occurrence-key.ts'
import type { RunRow } from '../runs/store.ts'
import { type OrgState, pendingOfSchedule } from '../../engine/org-state/org-state.ts'
import { runNow, scheduleRunFields } from '../../engine/commands/fire.ts'
import { createRun } from '../../engine/commands/runs.ts'
import { replaceSchedule } from '../schedules/editing.ts'
import { disabledPlanState, enabledPlanState } from '../schedules/next-run.ts'
import type { StateCommand } from '../../engine/transaction/in-memory.ts'
import { applyCapabilities } from '../../engine/org-state/memory.ts'
import { nextDueTime } from '../../engine/transaction/pass-time.ts'
import { ensureSession } from '../../engine/transaction/transaction.ts'
import { fireCommand, recoverCommand } from '../../engine/commands/engine-commands.ts'
import { parseSimulationTask } from './read-task.ts'
import { type InitialRun, SIMULATION_ORG, offlineAt, type PlannedIntervention, type SimulationTask } from './task.ts'
import { backdate, endSimulatedAttempt, reportEndings, runSimulatedTransaction } from './transactions.ts'
import { viewSimulation } from './view.ts'
import { createSimulationState, currentNodeId, setDueTime, replaceNode, type SimulationState } from './world.ts'

/**
 * Simulates a window of time. It uses the engine's own decision functions on a separate org state, without clock and
 * database, and with random numbers only from the seed, so the same task gives the same result. Throws a refusal with
 * all flaws of the task.
 */
export function simulate(task: SimulationTask, control: SimulationControl = {}): SimulationView {
  const simulation = createSimulationState(parseSimulationTask(task))
  createInitialRuns(simulation)
  runWindow(simulation, control)
  return viewSimulation(simulation)
}

/** An event known from the start: an outage starts or ends, or a user acts. */
interface ScheduledEvent {
  readonly at: Instant
  /** At the same time, the lower rank goes first. */
  readonly rank: number
  readonly apply: (simulation: SimulationState) => void
}

/** Progress callback and abort signal. An error thrown by the callback ends the simulation. */
interface SimulationControl {
  readonly progress?: ((done: number, total: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Steps between two checks of the abort signal. */
const PROGRESS_INTERVAL = 256

/** Advances through the window from event to event. */
function runWindow(simulation: SimulationState, control: SimulationControl): void {
  const { from, to } = simulation.plan.window
  const events = scheduledEventsOf(simulation)
  let applied = 0
  for (let steps = 0; ; steps += 1) {
    if (steps % PROGRESS_INTERVAL === 0) reportProgress(control, simulation.now - from, to - from)
    const event = events[applied]
    const next = instant(Math.min(event?.at ?? Infinity, nextEventAt(simulation)))
    if (next >= to) break
    if (next > simulation.now) {
      simulation.now = next
      simulation.idleAt = null
    }
    if (event !== undefined && event.at <= simulation.now) {
      applied += 1
      event.apply(simulation)
    } else processEvent(simulation)
  }
  simulation.now = to
  reportProgress(control, to - from, to - from)
}

function reportProgress({ progress, signal }: SimulationControl, done: number, total: number): void {
  signal?.throwIfAborted()
  progress?.(done, total)
}

/** The time of the next event that is not an appointment. */
function nextEventAt(simulation: SimulationState): number {
  const { isDown, isStalled, ends, due } = simulation
  if (isDown) return Infinity
  const next = Math.min(ends.next() ?? Infinity, nextTimerAt(simulation))
  return isStalled ? next : Math.min(next, due.next() ?? Infinity)
}

/** When the org needs a transaction by itself. One that changed nothing is not repeated at the same time. */
function nextTimerAt({ memory, idleAt: vainAt }: SimulationState): number {
  const next = nextDueTime(memory) ?? Infinity
  return vainAt !== null && next <= vainAt ? Infinity : next
}

/** Endings first, then timers of the org, then due schedules, so that each sees the effects of the one before. */
function processEvent(simulation: SimulationState): void {
  const { now, ends, due } = simulation
  if ((ends.next() ?? Infinity) <= now) reportEndings(simulation)
  else if (nextTimerAt(simulation) <= now) {
    runSimulatedTransaction(simulation, [])
    const { changed, created } = simulation.memory.state.changes
    if (changed.size + created.size === 0) simulation.idleAt = now
  } else
    runSimulatedTransaction(simulation, [
      fireCommand(SIMULATION_ORG, due.takeDue(now) as readonly string[] as readonly ScheduleId[]),
    ])
}

/** At the same time: first ends of outages, then starts, then user actions. */
function scheduledEventsOf({ plan }: SimulationState): readonly ScheduledEvent[] {
  const found: ScheduledEvent[] = []
  const addEvent = (at: Instant, rank: number, apply: (simulation: SimulationState) => void): void => {
    found.push({ at, rank, apply })
  }
  for (const { from, to } of plan.engineOutages) {
    addEvent(from, 1, stopNode)
    addEvent(to, 0, startReplacementNode)
  }
  for (const { from, to } of plan.stalls) {
    addEvent(from, 1, (simulation) => void (simulation.isStalled = true))
    addEvent(to, 0, (simulation) => void (simulation.isStalled = false))
  }
  for (const { from, to, effect } of plan.agentOutages) {
    if (effect !== 'offline') continue
    addEvent(from, 1, updateOffline)
    addEvent(to, 0, updateOffline)
  }
  for (const one of plan.interventions)
    found.push({ at: one.at, rank: 2, apply: (simulation) => applyIntervention(simulation, one) })
  return found.sort((a, b) => a.at - b.at || a.rank - b.rank)
}

/** Updates the executors that are offline. */
function updateOffline(simulation: SimulationState): void {
  simulation.offline = offlineAt(simulation.plan, simulation.now)
  applyCapabilities(simulation.memory, simulation.node)
  if (!simulation.isDown) runSimulatedTransaction(simulation, [])
}

/** Stops the node. Its running attempts are lost and not reported. */
function stopNode(simulation: SimulationState): void {
  simulation.isDown = true
  for (const attempt of [...simulation.runningAttempts.values()]) {
    attempt.plan = { ...attempt.plan, usage: null }
    endSimulatedAttempt(simulation, attempt)
  }
}

/** Starts another node, which processes what has become due and recovers the attempts of the lost node. */
function startReplacementNode(simulation: SimulationState): void {
  const lost = currentNodeId(simulation)
  simulation.isDown = false
  replaceNode(simulation)
  runSimulatedTransaction(simulation, [])
  if ((simulation.memory.byNode.get(lost)?.size ?? 0) > 0)
    runSimulatedTransaction(simulation, [
      recoverCommand(SIMULATION_ORG, new Map([[lost, simulation.now]]), () => simulation.memory),
    ])
}

/** Applies a user action. It is ignored while the engine is down. */
function applyIntervention(simulation: SimulationState, { scheduleId, action }: PlannedIntervention): void {
  const command: StateCommand = {
    apply: (state) => {
      const row = state.schedules.get(scheduleId)
      if (row === undefined) return
      if (action === 'run_now') {
        if (row.sessionKey !== null) ensureSession({ state }, row.sessionKey)
        runNow(state, scheduleId, { mode: 'force' })
        return
      }
      const planState = action === 'enable' ? enabledPlanState(row, state.now) : disabledPlanState(row)
      const edited = { ...row, ...planState }
      replaceSchedule(state, edited)
      setDueTime(simulation, edited)
    },
  }
  if (!simulation.isDown) runSimulatedTransaction(simulation, [command])
}

/** Creates the runs pending at the start of the window. Running ones go first, so that they get the slots they had. */
function createInitialRuns(simulation: SimulationState): void {
  const { firstRuns } = simulation.plan
  if (firstRuns.length === 0) return
  const created: { readonly run: RunRow; readonly startedAt: Instant | null }[] = []
  const sorted = firstRuns.toSorted((a, b) => Number(a.startedAt === null) - Number(b.startedAt === null))
  const apply = (state: OrgState): void => {
    for (const first of sorted) created.push({ run: createInitialRun(state, first), startedAt: first.startedAt })
  }
  runSimulatedTransaction(simulation, [{ apply }])
  for (const { run, startedAt } of created) backdate(simulation, run, startedAt)
}

function createInitialRun(state: OrgState, { row: given, nominal, createdAt, attempts }: InitialRun): RunRow {
  const row = state.schedules.get(given.id) ?? given
  if (row.sessionKey !== null) ensureSession({ state }, row.sessionKey)
  const held = pendingOfSchedule(state, row.id).filter(({ slot }) => slot === 'held').length
  const hasRoom = row.rules.concurrencyPolicy === 'PARALLEL' || held < row.rules.maxConcurrency
  const id = state.randomSource.newRunId('run', state.now)
  row.previousRunId = id
  const time = nominal ?? createdAt
  const key =
    nominal === null
      ? ({ kind: 'manual', scheduleId: row.id, nominal: time, runId: id } as const)
      : ({ kind: 'occurrence', scheduleId: row.id, nominal: time } as const)
  const decision =
    nominal === null
      ? because('run_now', 'run_now')
      : because('due', 'timing', { nominal: formatInstant(nominal), seen: formatInstant(createdAt) })
  return createRun(state, {
    ...scheduleRunFields(state, row),
    ...{ id, nominal, createdAt, decision, jobRunId: jobRunIdOf(key) },
    trigger: nominal === null ? 'manual' : 'schedule',
    state: 'queued',
    slot: hasRoom ? 'held' : 'parked',
    firstAttempt: attempts.firstAttempt,
    attempt: attempts.attempt,
  })
}
