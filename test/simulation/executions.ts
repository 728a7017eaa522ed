import { later } from '../../src/domain/instant.ts'
import { NODE_SHUTDOWN, type AttemptOutcome } from '../../src/domain/run/outcome.ts'
import { isInFlight } from '../../src/domain/run/run.ts'
import { deferCommand, recoverCommand, reportCommand } from '../../src/engine/commands/engine-commands.ts'
import { act, forgetIfOver } from './transactions.ts'
import { holdsSomething, type Execution, type Node, type World } from './world.ts'

const failure = (errorCode: 'agent_error' | 'executor_http_4xx'): AttemptOutcome => ({
  ...{ kind: 'failed', errorCode, retryable: null, retryAfterMs: null },
})

const OUTCOMES: Record<Exclude<Execution['report'], 'nothing' | 'accept'>, AttemptOutcome> = {
  succeed: { kind: 'succeeded' },
  fail: failure('agent_error'),
  refuse: failure('executor_http_4xx'),
  stop: { kind: 'stopped' },
}

/** Everything that executions have to say by now. */
export function deliverReports(world: World): void {
  const { random, now } = world
  for (const execution of [...world.executions.values()]) {
    if (execution.reportsAt > now) continue
    const { report, run } = execution
    execution.reportsAt = Infinity
    // A dead node's last words are lost half of the time, and late the other half.
    if (report !== 'nothing' && (execution.node.diedAt === null || !random.chance(0.5))) {
      deliver(world, execution)
      if (random.chance(0.05)) deliver(world, execution)
      if (report === 'accept' && run.state === 'awaiting_callback' && random.chance(0.8)) {
        execution.report = random.chance(0.7) ? 'succeed' : 'fail'
        execution.reportsAt = later(now, random.int(0, 6_000))
      }
    }
    forgetIfOver(world, execution)
  }
}

function deliver(world: World, execution: Execution): void {
  const { org, runId, attemptId, report, run } = execution
  if (report === 'nothing') return
  if (report === 'accept') {
    act(world, org, [deferCommand({ orgId: org.id, runId, attemptId }, null)])
    return
  }
  // How full a conversation has become is reported with the result.
  const usage = world.random.chance(0.1) ? { inputTokens: world.random.int(0, 100), contextWindow: 100 } : null
  const work = reportCommand(org.id, runId, { attemptId, outcome: OUTCOMES[report], usage })
  const apply: typeof work.apply = (desk, prepared) => {
    const isCurrent = run.attemptId === attemptId && isInFlight(run.state)
    const decision = work.apply(desk, prepared)
    world.observer.reported(execution, isCurrent, decision)
    return decision
  }
  act(world, org, [{ apply }])
}

/** When others find out that the node is lost; null while it lives. */
const lostAt = ({ settings }: World, { diedAt }: Node): World['now'] | null =>
  diedAt === null ? null : later(diedAt, settings.engine.node.leaseMs)

/** What nodes held whose lease has lapsed is settled. */
export function recover(world: World): void {
  for (const node of world.nodes) {
    const leaseUntil = lostAt(world, node)
    if (leaseUntil === null || leaseUntil > world.now) continue
    for (const org of world.orgs)
      if (org.memory.byNode.has(node.name))
        act(world, org, [recoverCommand(org.id, new Map([[node.name, leaseUntil]]), () => org.memory)])
  }
}

/** A node drains: what it still runs is given back as a failure that is retried. */
export function drain(world: World, node: Node): void {
  node.draining = true
  for (const org of world.orgs) {
    const held = [...(org.memory.byNode.get(node.name) ?? [])].filter(({ state }) => state === 'running')
    act(
      world,
      org,
      held.flatMap(({ id, attemptId }) =>
        attemptId === null ? [] : [reportCommand(org.id, id, { attemptId, outcome: NODE_SHUTDOWN })],
      ),
    )
  }
}

/** The next time at which executions or leases make something happen. */
export function nextOutside(world: World): number {
  let next = Infinity
  for (const { reportsAt } of world.executions.values()) next = Math.min(next, reportsAt)
  for (const node of world.nodes) {
    const at = lostAt(world, node)
    if (at !== null && at > world.now && holdsSomething(world, node)) next = Math.min(next, at)
  }
  return next
}
