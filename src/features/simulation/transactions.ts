import type { AttemptId } from '../../domain/ids.ts'
import { later } from '../../domain/instant.ts'
import type { RunRow } from '../runs/store.ts'
import { claimRuns, isCapped, type Claim } from '../../engine/transaction/claim.ts'
import { clearedChanges, runTransactionInMemory, type StateCommand } from '../../engine/transaction/in-memory.ts'
import { reindexRun } from '../../engine/org-state/memory.ts'
import { reasonToAbort } from '../../engine/transaction/pass-time.ts'
import { reportCommand } from '../../engine/commands/engine-commands.ts'
import { recordChanges, recordStart, recordAttemptUsage } from './record.ts'
import { SIMULATION_ORG } from './task.ts'
import { timerKey, currentNodeId, setDueTime, type InFlightAttempt, type SimulationState } from './world.ts'

/** Runs one transaction of the simulated node, and records its changes. */
export function runSimulatedTransaction(simulation: SimulationState, commands: readonly StateCommand[]): void {
  const { memory, node, record } = simulation
  const { changes } = memory.state
  simulation.transactionCount += 1
  const claims = runTransactionInMemory(memory, node, {
    at: { now: simulation.now, no: simulation.transactionCount, changes: clearedChanges(changes) },
    commands,
    claim: () => claimReadyRuns(simulation),
  })
  recordChanges(record, memory.state.changes, simulation.now)
  finishTransaction(simulation, claims)
  if (isCapped(claims)) runSimulatedTransaction(simulation, [])
}

const NO_CLAIMS: readonly Claim[] = []

/** Claims the runs that may start. Skips the offer of lanes if no run is ready. */
function claimReadyRuns(simulation: SimulationState): readonly Claim[] {
  const { memory, lanes, node } = simulation
  let isAnyReady = false
  for (const name of node.laneNames()) if (memory.readyQueue.hasReady(name)) isAnyReady = true
  if (!isAnyReady) return NO_CLAIMS
  const offer = lanes.offer({
    orgId: SIMULATION_ORG,
    nodeId: currentNodeId(simulation),
    isReady: memory.readyQueue.hasReady,
    catchupLimit: memory.state.settings.schedules.catchupMaxActive,
  })
  const claims = claimRuns(memory, offer)
  if (claims.length === 0) lanes.withdrawOffer(SIMULATION_ORG)
  return claims
}

/** After a transaction: updates the due times, stops attempts that must end, and starts claimed runs. */
function finishTransaction(simulation: SimulationState, claims: readonly Claim[]): void {
  const { memory, due } = simulation
  const { changes } = memory.state
  for (const row of changes.schedules) setDueTime(simulation, row)
  for (const id of changes.deletedSchedules) due.set(timerKey(id), null)
  memory.idleSchedules.clear()
  for (const run of changes.changed) {
    const attempt = simulation.byRun.get(run.id)
    if (attempt === undefined || attempt.isStopped || reasonToAbort(memory, attempt) === null) continue
    requestStop(simulation, attempt)
  }
  for (const claim of claims) startSimulatedAttempt(simulation, claim)
  if (claims.length > 0) simulation.lanes.withdrawOffer(SIMULATION_ORG)
}

/** Stops an attempt after its stop delay. An attempt that ignores stop requests continues as planned. */
function requestStop(simulation: SimulationState, attempt: InFlightAttempt): void {
  attempt.isStopped = true
  const { stopsInMs } = attempt.plan
  if (stopsInMs === null) return
  const endsAt = later(simulation.now, stopsInMs)
  attempt.plan = { ...attempt.plan, endsAt, outcome: { kind: 'stopped' }, usage: null }
  simulation.ends.set(timerKey(attempt.attemptId), endsAt)
}

function startSimulatedAttempt(simulation: SimulationState, { run, lane, attemptId, probe }: Claim): void {
  const { scheduleId } = run
  if (scheduleId === null) throw new Error(`run ${run.id} has no schedule`)
  const plan = simulation.plan.planAttempt({
    scheduleId,
    agentId: run.agentId,
    attempt: run.attempt,
    time: run.nominal ?? run.createdAt,
    startedAt: run.startedAt ?? simulation.now,
    isProbed: probe !== null,
  })
  const release = simulation.lanes.hold({ orgId: SIMULATION_ORG, lane, catchup: run.trigger === 'catchup' })
  const { now: startedAt } = simulation
  const attempt: InFlightAttempt = {
    attemptId,
    runId: run.id,
    scheduleId,
    startedAt,
    release,
    plan,
    isStopped: false,
  }
  simulation.runningAttempts.set(attemptId, attempt)
  simulation.byRun.set(run.id, attempt)
  simulation.ends.set(timerKey(attemptId), plan.endsAt)
  recordStart(simulation.record, run, simulation.now)
}

/** Releases the slots of ended attempts, and reports them in one transaction. */
export function reportEndings(simulation: SimulationState): void {
  const commands: StateCommand[] = []
  for (const id of simulation.ends.takeDue(simulation.now)) {
    const attempt = simulation.runningAttempts.get(id as string as AttemptId)
    if (attempt === undefined) continue
    const { runId, attemptId, plan } = attempt
    endSimulatedAttempt(simulation, attempt)
    commands.push(
      reportCommand(SIMULATION_ORG, runId, { attemptId, outcome: plan.outcome, usage: plan.usage, ...plan.said }),
    )
  }
  runSimulatedTransaction(simulation, commands)
}

/** Removes an ended attempt and records its duration and usage. */
export function endSimulatedAttempt(simulation: SimulationState, attempt: InFlightAttempt): void {
  const { runId, attemptId, plan, startedAt, release } = attempt
  release()
  simulation.runningAttempts.delete(attemptId)
  if (simulation.byRun.get(runId) === attempt) simulation.byRun.delete(runId)
  simulation.ends.set(timerKey(attemptId), null)
  recordAttemptUsage(simulation.record, attempt, {
    busyMs: simulation.now - startedAt,
    usage: plan.usage,
    now: simulation.now,
  })
}

/** Moves the start of a run to before the window. */
export function backdate(simulation: SimulationState, run: RunRow, startedAt: RunRow['startedAt']): void {
  const attempt = simulation.byRun.get(run.id)
  if (attempt === undefined || startedAt === null || run.startedAt === null) return
  const earlierBy = run.startedAt - startedAt
  run.startedAt = startedAt
  // Its timeout counts from the earlier start, too.
  if (run.endsBy !== null) run.endsBy = later(run.endsBy, -earlierBy)
  reindexRun(simulation.memory, run)
  const { plan } = attempt
  if (plan.endsAt === null) return
  const endsAt = later(plan.endsAt, -Math.min(earlierBy, plan.endsAt - simulation.now))
  attempt.plan = { ...plan, endsAt }
  simulation.ends.set(timerKey(attempt.attemptId), endsAt)
}
