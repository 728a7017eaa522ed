import type { LaneName } from '../../src/domain/ids.ts'
import { resolveLane } from '../../src/domain/queue/lanes.ts'
import type { GateCandidate, Load, SessionLoad } from '../../src/domain/queue/gates.ts'
import type { LaneUsage } from '../../src/domain/queue/ready-lines.ts'
import { isActive, isInFlight, isRetrying } from '../../src/domain/run/run.ts'
import { rulesOf } from '../../src/engine/org-state/org-state.ts'
import type { RunRow } from '../../src/features/runs/store.ts'
import type { SessionRow } from '../../src/features/sessions/store.ts'
import type { AgentFacts, OrgFacts, PickingFacts } from '../domain/queue/picking-facts.ts'
import { type Agent, type Node, type Org, pendingOf, type World } from './world.ts'

/** What the node would pick from, looked up in the rows alone; null when it picks nothing anyway. */
export function pickingFacts(world: World, node: Node): PickingFacts | null {
  if (node.diedAt !== null || node.draining) return null
  const candidates = world.orgs.flatMap((org) =>
    pendingOf(org, ({ state }) => state === 'queued').map((run) => candidateOf(org, run)),
  )
  if (candidates.length === 0) return null
  const held = world.orgs.flatMap((org) =>
    pendingOf(org, ({ nodeId, state }) => nodeId === node.name && isInFlight(state)),
  )
  const heldIn = (lane: LaneName): number => held.filter((run) => laneOn(node, run) === lane).length
  return {
    now: world.now,
    lanes: new Map([...node.sizes].map(([name, size]) => [name, { size, held: heldIn(name) }])),
    catchup: {
      inFlight: held.filter(({ trigger }) => trigger === 'catchup').length,
      limit: world.settings.engine.schedules.catchupMaxActive,
    },
    orgs: new Map(world.orgs.map((org) => [org.id, orgFacts(world, node, org)])),
    candidates,
  }
}

/** The lane that serves the run on this node. */
export const laneOn = ({ sizes }: Node, run: Pick<RunRow, 'lane'>): LaneName => resolveLane(run.lane, sizes)

const candidateOf = ({ agents }: Org, run: RunRow): GateCandidate => ({
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
  interrupts: run.interrupts,
  reserves: [],
  retrying: isRetrying(run),
  parkedBehind: run.slot === 'parked' ? 1 : null,
  executable: agents.find(({ id }) => id === run.agentId)?.online ?? true,
})

function orgFacts(world: World, node: Node, org: Org): OrgFacts {
  const flying = pendingOf(org, ({ state }) => isInFlight(state))
  const tasks = flying.filter(({ trigger }) => trigger === 'task')
  const { state: desk } = org.memory
  return {
    load: { inFlight: flying.length, limit: org.maxConcurrent },
    tasks: { inFlight: tasks.length, limit: world.settings.engine.tasks.maxInflight },
    shares: sharesOf(node, flying),
    agents: new Map(org.agents.map((agent) => [agent.id, agentFacts(world, node, { agent, flying })])),
    sessions: new Map([...desk.sessions].map(([key, session]) => [key, sessionLoad(org, session)])),
    budgets: new Map(),
  }
}

function agentFacts(
  { settings }: World,
  node: Node,
  of: { readonly agent: Agent; readonly flying: readonly RunRow[] },
): AgentFacts {
  const mine = of.flying.filter(({ agentId }) => agentId === of.agent.id)
  const tasks: Load = {
    inFlight: mine.filter(({ trigger }) => trigger === 'task').length,
    limit: settings.engine.tasks.maxPerAgentInflight,
  }
  return { load: { inFlight: mine.length, limit: of.agent.maxConcurrent }, tasks, shares: sharesOf(node, mine) }
}

function sharesOf(node: Node, runs: readonly RunRow[]): ReadonlyMap<LaneName, LaneUsage> {
  const shares = new Map<LaneName, LaneUsage>()
  for (const run of runs) {
    const lane = laneOn(node, run)
    shares.set(lane, { inFlight: (shares.get(lane)?.inFlight ?? 0) + 1, servedAt: 0 })
  }
  return shares
}

function sessionLoad(org: Org, session: SessionRow): Omit<SessionLoad, 'head'> {
  const runs = pendingOf(
    org,
    ({ sessionKey, generation }) => sessionKey === session.key && generation === session.generation,
  )
  return {
    active: runs.filter(isActive).length,
    stopping: runs.filter(({ state }) => state === 'stopping').length,
    maxConcurrent: rulesOf(org.memory.state, session).maxConcurrent,
    context: session.context,
  }
}
