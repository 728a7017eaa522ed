import { isWorkerId, isWorkerKey } from '../domain/agent.ts'
import type { AgentId, LaneName, OrgId, ProviderName, RunId } from '../domain/ids.ts'
import { resolveLane } from '../domain/queue/lanes.ts'
import type { BacklogPlace, ExplainContext } from '../domain/queue/fairness.ts'
import type { LaneLoad, ProviderStatus, Wait } from '../domain/queue/gates.ts'
import type { QueuedRun } from '../domain/queue/queued-run.ts'
import { because } from '../domain/reasons.ts'
import { isHeld } from '../domain/schedule/held.ts'
import type { LiveRuns, LiveWork, OrgWork } from './live-port.ts'
import type { LoadedOrg } from './org-state/memory.ts'
import type { Assignment } from './commands/assign.ts'
import type { NodeParts } from './node-parts.ts'
import { viewOrgLimit } from './org-limits.ts'

/** Answers questions about pending runs from the org states of a node. */
export function createLiveRuns(parts: NodeParts): LiveRuns {
  const loadedOrg = (orgId: OrgId): LoadedOrg | null => parts.actors.get(orgId)?.loaded() ?? null
  return {
    stateOf: (orgId, id) => loadedOrg(orgId)?.state.runs.get(id)?.state,
    positionOf: (orgId, id: RunId) => {
      const org = loadedOrg(orgId)
      return org === null ? null : positionIn(org, id)
    },
    queuedBefore: (orgId, run) => {
      const org = loadedOrg(orgId)
      return org === null
        ? null
        : { inMemory: org.readyQueue.queuedBefore(run.agentId, run), isAll: !hasBacklog(org, run.agentId) }
    },
    explain: (orgId, id) => {
      const org = loadedOrg(orgId)
      const run = org?.state.runs.get(id)
      const lane = org?.readyQueue.laneOf(id)
      if (org === null || run === undefined || lane === undefined || lane === null) return null
      if (isHeld(run)) return explainHeld(parts, run)
      if (isWorkerKey(run.executorKey)) return explainWorkers(parts, org, { run, place: null })
      const slots = run.scheduleId === null ? undefined : org.state.schedules.get(run.scheduleId)?.rules.maxConcurrency
      return org.readyQueue.explain(id, {
        ...factsOfNode(parts, run),
        lane: laneAt(parts, orgId, lane),
        ...(slots === undefined ? {} : { scheduleSlots: slots }),
      })
    },
    explainOutside: (orgId, run, place) => {
      const org = loadedOrg(orgId)
      if (org === null) return null
      if (isWorkerKey(run.executorKey)) return explainWorkers(parts, org, { run: { ...run, scheduleId: null }, place })
      return org.readyQueue.explainOutside(run, {
        ...{ ...factsOfNode(parts, run), ...place },
        laneAt: (lane) => laneAt(parts, orgId, lane),
      })
    },
  }
}

const factsOfNode = (
  parts: NodeParts,
  { executorKey }: Pick<QueuedRun, 'executorKey'>,
): Omit<ExplainContext, 'lane'> => ({
  now: parts.ctx.clock.now(),
  catchup: { inFlight: parts.lanes.catchups(), limit: parts.ctx.settings().schedules.catchupMaxActive },
  executable: parts.capabilities.canExecute(executorKey) || parts.peers.executors.has(executorKey),
})

const laneAt = ({ lanes }: NodeParts, orgId: OrgId, name: LaneName): LaneLoad => ({
  name,
  size: lanes.sizes().get(name) ?? 0,
  held: lanes.heldIn(name),
  org: { held: lanes.heldBy(orgId, name), share: lanes.orgShare() },
})

function positionIn(org: LoadedOrg, id: RunId): number | null | undefined {
  const position = org.readyQueue.positionOf(id)
  if (org.state.backlog.count === 0) return position
  const run = org.state.runs.get(id)
  return run === undefined || (position !== null && hasBacklog(org, run.agentId)) ? undefined : position
}

const hasBacklog = ({ state }: LoadedOrg, id: AgentId): boolean => {
  for (const { agentId } of state.backlog.lines.values()) if (agentId === id) return true
  return false
}

/** A held occurrence waits for its time, and then for a catch-up position. */
function explainHeld(parts: NodeParts, run: Assignment['run']): Wait {
  const [active, limit] = [parts.lanes.catchups(), parts.ctx.settings().schedules.catchupMaxActive]
  const isDue = run.notBefore !== null && run.notBefore <= parts.ctx.clock.now()
  if (!isDue || active < limit) return { ...run.decision, gate: 'not_before' }
  return { ...because('catchup_limit', 'schedules.catchup_max_active', { active, limit }), gate: 'not_before' }
}

/** A run, and its place in the backlog; null: it is in memory. */
interface WaitingRun {
  readonly run: QueuedRun & Pick<Assignment['run'], 'scheduleId'>
  readonly place: BacklogPlace | null
}

/**
 * The same for a run of a worker: it has no lane, and the declared capacity of the workers is all the room there is.
 */
function explainWorkers(
  parts: NodeParts,
  { state, readyQueue, byNode }: LoadedOrg,
  { run, place }: WaitingRun,
): Wait | null {
  const serving = parts.workers.serving(run.orgId, run.agentId)
  const slots = run.scheduleId === null ? undefined : state.schedules.get(run.scheduleId)?.rules.maxConcurrency
  const lane = { name: run.lane, size: 1, held: 0 }
  const facts = {
    now: parts.ctx.clock.now(),
    catchup: { inFlight: 0, limit: null },
    executable: serving.length > 0,
    ...(slots === undefined ? {} : { scheduleSlots: slots }),
  }
  const why =
    place === null
      ? readyQueue.explain(run.id, { ...facts, lane })
      : readyQueue.explainOutside(run, { ...facts, ...place, laneAt: () => lane })
  if (why?.reason !== 'in_line') return why
  let [capacity, held] = [0, 0]
  for (const worker of serving) {
    capacity += worker.capacity
    held += byNode.get(worker.id)?.size ?? 0
  }
  if (held < capacity) return why
  return { ...because('worker_busy', 'gate:worker', { agent: run.agentId, held, capacity }), gate: 'worker' }
}

/** Answers questions about the work of orgs from their states on a node. */
export function createLiveWork(parts: NodeParts): LiveWork {
  const loadedOrg = (orgId: OrgId): LoadedOrg | null => parts.actors.get(orgId)?.loaded() ?? null
  return {
    ownersOf: (orgId, id) => loadedOrg(orgId)?.state.runs.get(id),
    workOf: (orgId) => {
      const org = loadedOrg(orgId)
      return org === null ? null : workIn(org)
    },
    providersOf: (orgId) => {
      const org = loadedOrg(orgId)
      return org === null ? [] : providersIn(org)
    },
    lanes: (orgId) => lanesOf(parts, orgId),
  }
}

function workIn({ state, readyQueue }: LoadedOrg): OrgWork {
  const inMemory = readyQueue.queued()
  const active = readyQueue.inFlight()
  const inBacklog = new Map<AgentId, number>()
  for (const { agentId, count } of state.backlog.lines.values()) addCount(inBacklog, agentId, count)
  const agents: { id: AgentId; queued: number; active: number }[] = []
  for (const id of new Set([...state.agents.keys(), ...inBacklog.keys()])) {
    const queued = readyQueue.queuedOf(id) + (inBacklog.get(id) ?? 0)
    const work = { id, queued, active: readyQueue.inFlightOf(id) }
    if (work.queued + work.active > 0) agents.push(work)
  }
  const waiting = state.runs.size - inMemory - active
  return { waiting, queued: inMemory + state.backlog.count, active, agents }
}

function providersIn({ state, readyQueue }: LoadedOrg): readonly ProviderStatus[] {
  const names = [...(state.quotas?.providers.keys() ?? [])].toSorted()
  const inBacklog = new Map<ProviderName, number>()
  for (const { agentId, count } of state.backlog.lines.values()) {
    const name = state.agents.get(agentId)?.provider ?? null
    if (name !== null) addCount(inBacklog, name, count)
  }
  return names.flatMap((name) => {
    const status = readyQueue.provider(name)
    if (status === null) return []
    const { load, inFlight, waiting } = status
    return [{ load, inFlight, waiting: waiting + (inBacklog.get(name) ?? 0) }]
  })
}

/** A node holds a slot while it executes an attempt, so counting the runs that nodes hold is enough; there are few. */
function lanesOf(parts: NodeParts, orgId: OrgId | null): ReturnType<LiveWork['lanes']> {
  const sizes = parts.lanes.sizes()
  const active = new Map<LaneName, number>()
  const pending = new Map<LaneName, number>()
  for (const actor of parts.actors.values()) {
    const org = orgId === null || actor.orgId === orgId ? actor.loaded() : null
    if (org === null) continue
    for (const [holder, held] of org.byNode) {
      if (isWorkerId(holder)) continue
      for (const run of held) addCount(active, resolveLane(run.lane, sizes), 1)
    }
    for (const lane of sizes.keys()) addCount(pending, lane, org.readyQueue.queuedIn(lane))
    for (const { lane, executorKey, count } of org.state.backlog.lines.values())
      if (!isWorkerKey(executorKey)) addCount(pending, resolveLane(lane, sizes), count)
  }
  return [...sizes].map(([name, concurrency]) => ({
    ...{ name, concurrency, active: active.get(name) ?? 0, pending: pending.get(name) ?? 0 },
    ...viewOrgLimit(parts.lanes, { name, size: concurrency }, orgId),
  }))
}

function addCount<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
