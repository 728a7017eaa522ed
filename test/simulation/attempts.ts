import { later } from '../../src/core/instant.ts'
import { NODE_LOST, NODE_SHUTDOWN, type Outcome } from '../../src/core/run/outcome.ts'
import { isInFlight } from '../../src/core/run/run.ts'
import { release } from './firing.ts'
import { grant, move, wasHeld } from './rows.ts'
import { leaseOf } from './turn.ts'
import { pendingOf, sessionOf, type Execution, type Node, type Run, type World } from './world.ts'

const failure = (errorCode: 'agent_error' | 'executor_http_4xx'): Outcome => ({
  kind: 'failed',
  errorCode,
  retryable: null,
  retryAfterMs: null,
})

const OUTCOMES: Record<Exclude<Execution['report'], 'nothing'>, Outcome> = {
  succeed: { kind: 'succeeded' },
  fail: failure('agent_error'),
  refuse: failure('executor_http_4xx'),
  accept: { kind: 'accepted' },
  stop: { kind: 'stopped' },
}

/** Everything that is due by itself: reports, timers, lapsed leases. */
export function passTime(world: World): void {
  deliverReports(world)
  for (const run of pendingOf(world, (one) => hasTimer(world, one)).toSorted(byDueTime)) runTimers(world, run)
  for (const schedule of world.schedules) grant(world, schedule)
}

const hasTimer = (world: World, run: Run): boolean =>
  run.state !== 'queued' || (run.deadline !== null && run.deadline <= world.now)

const byDueTime = (a: Run, b: Run): number => (a.notBefore ?? 0) - (b.notBefore ?? 0) || (a.id < b.id ? -1 : 1)

function deliverReports(world: World): void {
  const due = world.executions.filter((execution) => execution.reportsAt <= world.now)
  for (const execution of due) {
    // A dead node's last words are lost half of the time, and late the other half.
    const lost = execution.report === 'nothing' || (execution.node.diedAt !== null && world.random.chance(0.5))
    if (lost) {
      forget(world, execution)
      continue
    }
    report(world, execution)
    if (world.random.chance(0.05)) report(world, execution)
    if (execution.report === 'accept' && execution.run.state === 'awaiting_callback' && world.random.chance(0.8)) {
      execution.report = world.random.chance(0.7) ? 'succeed' : 'fail'
      execution.reportsAt = later(world.now, world.random.int(0, 6_000))
    } else forget(world, execution)
  }
}

function forget(world: World, execution: Execution): void {
  world.executions.splice(world.executions.indexOf(execution), 1)
}

function report(world: World, execution: Execution): void {
  const { run, attemptId, report: said } = execution
  if (said === 'nothing') return
  const session = sessionOf(world, run.orgId, run.sessionKey)
  const decision = world.core.decideReport(
    {
      state: run.state,
      attemptId: run.attemptId,
      attemptGeneration: run.generation,
      sessionGeneration: session?.generation ?? run.generation,
    },
    attemptId,
  )
  if (decision.kind === 'stale_report') return
  if (session !== null && world.random.chance(0.1))
    session.context = { tokens: world.random.int(0, 100), contextWindow: 100 }
  end(world, run, OUTCOMES[said])
}

function end(world: World, run: Run, outcome: Outcome): void {
  const settled = world.core.settle(outcome, run, {
    now: world.now,
    policy: run.retryPolicy,
    failureActionRetries: run.failureActionRetries,
    deadline: run.deadline,
    random: world.random.next(),
  })
  const wasStopping = run.state === 'stopping'
  if (settled.event === 'retry' && !wasStopping) {
    run.attempt += 1
    run.notBefore = settled.retryAt
  }
  move(world, run, settled.event)
}

/** The timers of one pending run. */
function runTimers(world: World, run: Run): void {
  const { now } = world
  const lease = leaseOf(world, run)
  if (run.state === 'stopping') {
    if (world.core.isAbandoned({ graceUntil: run.graceUntil ?? now, leaseUntil: lease }, now))
      move(world, run, 'stopped')
    return
  }
  if (isInFlight(run.state)) {
    if (lease !== null && now >= lease) end(world, run, NODE_LOST)
    else if (run.endsBy !== null && now >= run.endsBy) {
      end(world, run, { kind: 'timed_out', errorCode: run.state === 'running' ? 'timeout' : 'callback_timeout' })
    }
    return
  }
  if (world.core.isExpired(run, now)) {
    run.finishedAt = run.deadline
    move(world, run, 'expire')
    return
  }
  if (run.state !== 'waiting' || run.notBefore === null || now < run.notBefore) return
  if (wasHeld(run)) release(world, run)
  else move(world, run, 'due')
}

/** A node drains: what it still runs is given back as a failure that is retried. */
export function drain(world: World, node: Node): void {
  node.draining = true
  for (const run of [...world.pending.values()])
    if (run.node === node && run.state === 'running') end(world, run, NODE_SHUTDOWN)
}
