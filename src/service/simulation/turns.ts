import type { AttemptId } from '../../domain/ids.ts'
import { later } from '../../domain/instant.ts'
import type { RunRow } from '../../store/run-row.ts'
import { claimRuns, isCapped, type Claim } from '../turn/claim.ts'
import { emptied, takeTurnInMemory, type Deed } from '../turn/in-memory.ts'
import { noteRun } from '../turn/memory.ts'
import { reasonToEnd } from '../turn/passing.ts'
import { reportWork } from '../turn/works.ts'
import { recordChanges, recordStart, recordWork } from './record.ts'
import { NOBODYS_ORG } from '../../features/simulation/task.ts'
import { asTimed, nodeId, planNext, type Performance, type World } from './world.ts'

/** One transaction of the simulated node, recorded. */
export function takeTurn(world: World, works: readonly Deed[]): void {
  const { memory, node, record } = world
  const { changes } = memory.desk
  world.turns += 1
  const claims = takeTurnInMemory(memory, node, {
    at: { now: world.now, no: world.turns, changes: emptied(changes) },
    works,
    claim: () => claim(world),
  })
  recordChanges(record, memory.desk.changes, world.now)
  settled(world, claims)
  if (isCapped(claims)) takeTurn(world, [])
}

const NOTHING: readonly Claim[] = []

/** Starts what may start. Where nothing stands in line, nothing has to be offered. */
function claim(world: World): readonly Claim[] {
  const { memory, lanes, node } = world
  let isWanted = false
  for (const name of node.laneNames()) if (memory.lineUp.hasReady(name)) isWanted = true
  if (!isWanted) return NOTHING
  const offer = lanes.offer({
    orgId: NOBODYS_ORG,
    nodeId: nodeId(world),
    isReady: memory.lineUp.hasReady,
    catchupLimit: memory.desk.settings.schedules.catchupMaxActive,
  })
  const claims = claimRuns(memory, offer)
  lanes.withdraw(NOBODYS_ORG)
  return claims
}

/** The turn is over: plans go on, what must end is told so, and what was claimed begins. */
function settled(world: World, claims: readonly Claim[]): void {
  const { memory, due } = world
  const { changes } = memory.desk
  for (const row of changes.schedules) planNext(world, row)
  for (const id of changes.deletedSchedules) due.set(asTimed(id), null)
  memory.idleSchedules.clear()
  for (const run of changes.changed) {
    const performance = world.byRun.get(run.id)
    if (performance === undefined || performance.isStopped || reasonToEnd(memory, performance) === null) continue
    tellToStop(world, performance)
  }
  for (const claim of claims) begin(world, claim)
}

/** Whoever listens stops, after a while; whoever does not goes on as planned. */
function tellToStop(world: World, performance: Performance): void {
  performance.isStopped = true
  const { stopsInMs } = performance.plan
  if (stopsInMs === null) return
  const endsAt = later(world.now, stopsInMs)
  performance.plan = { ...performance.plan, endsAt, outcome: { kind: 'stopped' }, usage: null }
  world.ends.set(asTimed(performance.attemptId), endsAt)
}

function begin(world: World, { run, lane, attemptId, probe }: Claim): void {
  const { scheduleId } = run
  if (scheduleId === null) throw new Error(`run ${run.id} has no schedule`)
  const plan = world.plan.planAttempt({
    scheduleId,
    agentId: run.agentId,
    attempt: run.attempt,
    moment: run.nominal ?? run.createdAt,
    startedAt: run.startedAt ?? world.now,
    isProbed: probe !== null,
  })
  const release = world.lanes.hold({ orgId: NOBODYS_ORG, lane, catchup: run.trigger === 'catchup' })
  const { now: startedAt } = world
  const performance: Performance = {
    attemptId,
    runId: run.id,
    scheduleId,
    startedAt,
    release,
    plan,
    isStopped: false,
  }
  world.performances.set(attemptId, performance)
  world.byRun.set(run.id, performance)
  world.ends.set(asTimed(attemptId), plan.endsAt)
  recordStart(world.record, run, world.now)
}

/** What has ended by now gives back its slots, and is reported together. */
export function takeEndings(world: World): void {
  const works: Deed[] = []
  for (const id of world.ends.takeDue(world.now)) {
    const performance = world.performances.get(id as string as AttemptId)
    if (performance === undefined) continue
    const { runId, attemptId, plan } = performance
    leave(world, performance)
    works.push(reportWork(NOBODYS_ORG, runId, { attemptId, outcome: plan.outcome, usage: plan.usage, ...plan.said }))
  }
  takeTurn(world, works)
}

/** It is at work no more. */
export function leave(world: World, performance: Performance): void {
  const { runId, attemptId, plan, startedAt, release } = performance
  release()
  world.performances.delete(attemptId)
  if (world.byRun.get(runId) === performance) world.byRun.delete(runId)
  world.ends.set(asTimed(attemptId), null)
  recordWork(world.record, performance, { busyMs: world.now - startedAt, usage: plan.usage, now: world.now })
}

/** Makes a run as if it had begun before the window. */
export function backdate(world: World, run: RunRow, startedAt: RunRow['startedAt']): void {
  const performance = world.byRun.get(run.id)
  if (performance === undefined || startedAt === null || run.startedAt === null) return
  const earlierBy = run.startedAt - startedAt
  run.startedAt = startedAt
  // Its time limit counts from there, too.
  if (run.endsBy !== null) run.endsBy = later(run.endsBy, -earlierBy)
  noteRun(world.memory, run)
  const { plan } = performance
  if (plan.endsAt === null) return
  const endsAt = later(plan.endsAt, -Math.min(earlierBy, plan.endsAt - world.now))
  performance.plan = { ...plan, endsAt }
  world.ends.set(asTimed(performance.attemptId), endsAt)
}
