import type { Candidate, Load } from '../../src/core/picking/gates.ts'
import { attemptId, type LaneName } from '../../src/core/ids.ts'
import { later, type Instant } from '../../src/core/instant.ts'
import { resolveLane } from '../../src/core/lanes.ts'
import type { AgentFacts, OrgFacts, PickingFacts } from '../core/picking/oracle/picking-facts.ts'
import type { Share } from '../../src/core/picking/picking-order.ts'
import { isActive, isInFlight, isRetrying } from '../../src/core/run/run.ts'
import { pendingOf, type Agent, type Node, type Org, type Run, type Session, type World } from './world.ts'
import { move } from './rows.ts'
import { pendingIn } from './submissions.ts'

/** One turn of a node: load what is active and what may start, decide, claim. */
export function takeTurn(world: World, node: Node): void {
  const facts = pickingFacts(world, node)
  if (facts === null) return
  for (const candidate of world.core.pickRuns(facts)) start(world, node, candidate)
}

/** What the node would pick from; null when it picks nothing anyway. */
export function pickingFacts(world: World, node: Node): PickingFacts | null {
  if (node.diedAt !== null || node.draining) return null
  const candidates = pendingOf(world, (run) => run.state === 'queued').map((run) => candidateOf(world, run))
  if (candidates.length === 0) return null
  const held = pendingOf(world, (run) => run.node === node && isInFlight(run.state))
  const heldIn = (lane: LaneName): number => held.filter((run) => laneOn(node, run) === lane).length
  return {
    now: world.now,
    lanes: new Map([...node.lanes].map(([name, size]) => [name, { size, held: heldIn(name) }])),
    catchup: {
      inFlight: held.filter((run) => run.trigger === 'catchup').length,
      limit: world.settings.catchupMaxActive,
    },
    orgs: new Map(world.orgs.map((org) => [org.id, orgFacts(world, node, org)])),
    candidates,
  }
}

/** The lane that serves the run on this node. */
export const laneOn = (node: Node, run: Pick<Run, 'lane'>): LaneName => resolveLane(run.lane, node.lanes)

function candidateOf(world: World, run: Run): Candidate {
  const agent = world.agents.find((one) => one.orgId === run.orgId && one.id === run.agentId)
  return {
    id: run.id,
    orgId: run.orgId,
    agentId: run.agentId,
    sessionKey: run.sessionKey,
    trigger: run.trigger,
    lane: run.lane,
    priority: run.priority,
    createdAt: run.createdAt,
    seq: run.seq,
    notBefore: null,
    retrying: isRetrying(run),
    parkedBehind: run.slot === 'parked' ? 1 : null,
    interrupts: run.interrupts,
    executable: agent?.online ?? true,
    reserves: [],
  }
}

function orgFacts(world: World, node: Node, org: Org): OrgFacts {
  const flying = pendingOf(world, (run) => run.orgId === org.id && isInFlight(run.state))
  const agents = world.agents.filter((agent) => agent.orgId === org.id)
  const tasks = flying.filter((run) => run.trigger === 'task')
  return {
    load: { inFlight: flying.length, limit: org.maxConcurrent },
    tasks: { inFlight: tasks.length, limit: world.settings.maxInflight },
    shares: sharesOf(node, flying),
    agents: new Map(agents.map((agent) => [agent.id, agentFacts(world, node, { agent, flying })])),
    sessions: new Map(
      world.sessions
        .filter((session) => session.orgId === org.id)
        .map((session) => [session.key, sessionLoad(world, session)]),
    ),
    budgets: new Map(),
  }
}

function agentFacts(
  world: World,
  node: Node,
  of: { readonly agent: Agent; readonly flying: readonly Run[] },
): AgentFacts {
  const mine = of.flying.filter((run) => run.agentId === of.agent.id)
  const tasks: Load = {
    inFlight: mine.filter((run) => run.trigger === 'task').length,
    limit: world.settings.maxPerAgentInflight,
  }
  return { load: { inFlight: mine.length, limit: of.agent.maxConcurrent }, tasks, shares: sharesOf(node, mine) }
}

function sharesOf(node: Node, runs: readonly Run[]): ReadonlyMap<LaneName, Share> {
  const shares = new Map<LaneName, Share>()
  for (const run of runs) {
    const lane = laneOn(node, run)
    shares.set(lane, { inFlight: (shares.get(lane)?.inFlight ?? 0) + 1, servedAt: 0 })
  }
  return shares
}

function sessionLoad(
  world: World,
  session: Session,
): { active: number; stopping: number; maxConcurrent: number; context: Session['context'] } {
  const runs = pendingIn(world, session)
  return {
    active: runs.filter(isActive).length,
    stopping: runs.filter((run) => run.state === 'stopping').length,
    maxConcurrent: session.rules.maxConcurrent,
    context: session.context,
  }
}

function start(world: World, node: Node, candidate: Candidate): void {
  const run = world.runs.get(candidate.id)
  if (run === undefined || !move(world, run, 'claim')) return
  run.attemptId = attemptId(`att_${(world.counters.attempt += 1)}`)
  run.node = node
  run.startedAt = world.now
  run.endsBy = world.core.attemptEndsBy(world.now, {
    timeoutSeconds: world.random.int(2, 8) * world.settings.pace,
    executor: 'in-process',
    trigger: run.trigger,
    deadline: run.deadline,
    maxTimeoutSeconds: null,
  })
  const execution = {
    run,
    attemptId: run.attemptId,
    node,
    reportsAt: later(world.now, world.random.int(0, 6_000) * world.settings.pace),
    report: drawReport(world),
  }
  world.executions.push(execution)
  world.observer.started(world, run)
}

function drawReport(world: World): 'succeed' | 'fail' | 'refuse' | 'accept' | 'stop' | 'nothing' {
  const drawn = world.random.next()
  if (drawn < 0.6) return 'succeed'
  if (drawn < 0.75) return 'fail'
  if (drawn < 0.8) return 'refuse'
  if (drawn < 0.9) return 'accept'
  return drawn < 0.93 ? 'stop' : 'nothing'
}

/** The next moment at which something is due by itself. */
export function nextTimer(world: World): number {
  let next = Number.POSITIVE_INFINITY
  const look = (at: Instant | null): void => {
    if (at !== null && at > world.now && at < next) next = at
  }
  for (const execution of world.executions) next = Math.min(next, execution.reportsAt)
  for (const run of world.pending.values()) {
    look(run.notBefore)
    look(run.deadline)
    look(run.endsBy)
    look(run.graceUntil)
    look(leaseOf(world, run))
  }
  return next
}

/** Until when the holder's claim is good. A living node renews it. */
export const leaseOf = (world: World, run: Run): Instant | null =>
  run.node === null || run.node.diedAt === null ? null : later(run.node.diedAt, world.settings.leaseMs)
