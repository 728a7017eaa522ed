import type { AttemptId } from '../../core/ids.ts'
import { later } from '../../core/instant.ts'
import type { RunRow } from '../../store/run-row.ts'
import { bookHabits } from '../desk/budget-book.ts'
import type { Changes } from '../desk/desk.ts'
import type { Work } from '../turn-port.ts'
import { applyBudgets } from '../turn/budgets.ts'
import { applyQuotas } from '../turn/quotas.ts'
import { claimRuns, isCapped, type Claim } from '../turn/claim.ts'
import { noteRun } from '../turn/memory.ts'
import { noteChanges } from '../turn/notes.ts'
import { beginTurn, letTimePass, reasonToEnd } from '../turn/passing.ts'
import { reportWork } from '../turn/works.ts'
import { recordChanges, recordStart, recordWork } from './record.ts'
import { NOBODYS_ORG } from './reading.ts'
import { asTimed, nodeId, planNext, type Performance, type World } from './world.ts'

/** What is done in a turn. Nothing of it needs more than the desk. */
export type Deed = Pick<Work<unknown>, 'apply'>

/**
 * One turn, as a node takes it, without a database: what was asked is done, time passes, what may start starts. Everything
 * that decides is what a node uses; here is only the order of it.
 */
export function takeTurn(world: World, works: readonly Deed[]): void {
  const { memory, node, record } = world
  const { desk } = memory
  world.turns += 1
  beginTurn(memory, { now: world.now, no: world.turns, changes: emptied(desk.changes) })
  for (const work of works) work.apply(desk, undefined)
  noteChanges(memory, node)
  letTimePass(memory, node)
  if (desk.budgets !== null || desk.reservesChanged) reviewBudgets(world)
  if (desk.quotas !== null || desk.quotasChanged) applyQuotas(memory)
  const claims = claim(world)
  recordChanges(record, desk.changes, world.now)
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

/** The same object again: nobody looks at it after the turn, and there are millions of turns. */
function emptied(changes: Changes): Changes {
  for (const name in changes) {
    const part: unknown = changes[name as keyof Changes]
    if (Array.isArray(part)) {
      if (part.length > 0) part.length = 0
    } else if ((part as Set<unknown>).size > 0) (part as Set<unknown>).clear()
  }
  return changes
}

/** Nothing is on record that has not happened here: whoever is not known has no habits. */
function reviewBudgets({ memory }: World): void {
  const book = memory.desk.budgets
  if (book !== null && book.unread.agents.size + book.unread.schedules.size > 0)
    bookHabits(book, { agents: [], schedules: [] })
  applyBudgets(memory)
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
