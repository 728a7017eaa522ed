import { isWorkerId, isWorkerKey } from '../core/executor/worker-agent.ts'
import type { AgentId, LaneName, OrgId, RunId } from '../domain/ids.ts'
import { resolveLane } from '../domain/queue/lanes.ts'
import type { Wait } from '../domain/queue/gates.ts'
import type { ProviderStanding } from '../core/picking/provider-gate.ts'
import { because } from '../domain/reasons.ts'
import { isHeld } from '../domain/schedule/held.ts'
import type { Live, LiveWork, OrgWork } from '../service/live-port.ts'
import type { Memory } from '../service/turn/memory.ts'
import type { Assignment } from '../service/turn/assign.ts'
import type { NodeParts } from './node-parts.ts'
import { viewOrgShare } from './org-limits.ts'

/** What a node knows of pending runs from its memory of orgs. */
export function createLive(parts: NodeParts): Live {
  const memoryOf = (orgId: OrgId): Memory | null => parts.offices.get(orgId)?.memory() ?? null
  return {
    stateOf: (orgId, id) => memoryOf(orgId)?.desk.runs.get(id)?.state,
    positionOf: (orgId, id: RunId) => memoryOf(orgId)?.lineUp.positionOf(id) ?? null,
    explain: (orgId, id) => {
      const memory = memoryOf(orgId)
      const run = memory?.desk.runs.get(id)
      const lane = memory?.lineUp.laneOf(id)
      if (memory === null || run === undefined || lane === undefined || lane === null) return null
      if (isHeld(run)) return explainHeld(parts, run)
      if (isWorkerKey(run.executorKey)) return explainWorkers(parts, memory, run)
      const size = parts.lanes.sizes().get(lane) ?? 0
      const slots =
        run.scheduleId === null ? undefined : memory.desk.schedules.get(run.scheduleId)?.rules.maxConcurrency
      return memory.lineUp.explain(id, {
        now: parts.ctx.clock.now(),
        lane: {
          name: lane,
          size,
          held: parts.lanes.heldIn(lane),
          org: { held: parts.lanes.heldBy(orgId, lane), share: parts.lanes.orgShare() },
        },
        catchup: { inFlight: parts.lanes.catchups(), limit: parts.ctx.settings().schedules.catchupMaxActive },
        executable: parts.facts.canExecute(run.executorKey) || parts.company.executors.has(run.executorKey),
        ...(slots === undefined ? {} : { scheduleSlots: slots }),
      })
    },
  }
}

/** A held occurrence waits for its time, and then for a place. */
function explainHeld(parts: NodeParts, run: Assignment['run']): Wait {
  const [active, limit] = [parts.lanes.catchups(), parts.ctx.settings().schedules.catchupMaxActive]
  const isDue = run.notBefore !== null && run.notBefore <= parts.ctx.clock.now()
  if (!isDue || active < limit) return { ...run.decision, gate: 'not_before' }
  return { ...because('catchup_limit', 'schedules.catchup_max_active', { active, limit }), gate: 'not_before' }
}

/** The same for a run that waits for workers: there is no lane, and what they have declared is all the room there is. */
function explainWorkers(parts: NodeParts, { desk, lineUp, byNode }: Memory, run: Assignment['run']): Wait | null {
  const serving = parts.workers.serving(run.orgId, run.agentId)
  const slots = run.scheduleId === null ? undefined : desk.schedules.get(run.scheduleId)?.rules.maxConcurrency
  const why = lineUp.explain(run.id, {
    now: parts.ctx.clock.now(),
    lane: { name: run.lane, size: 1, held: 0 },
    catchup: { inFlight: 0, limit: null },
    executable: serving.length > 0,
    ...(slots === undefined ? {} : { scheduleSlots: slots }),
  })
  if (why?.reason !== 'in_line') return why
  let [capacity, held] = [0, 0]
  for (const worker of serving) {
    capacity += worker.capacity
    held += byNode.get(worker.id)?.size ?? 0
  }
  if (held < capacity) return why
  return { ...because('worker_busy', 'gate:worker', { agent: run.agentId, held, capacity }), gate: 'worker' }
}

/** What a node knows of the work of orgs from its memory of them. */
export function createLiveWork(parts: NodeParts): LiveWork {
  const memoryOf = (orgId: OrgId): Memory | null => parts.offices.get(orgId)?.memory() ?? null
  return {
    ownersOf: (orgId, id) => memoryOf(orgId)?.desk.runs.get(id),
    workOf: (orgId) => {
      const memory = memoryOf(orgId)
      return memory === null ? null : workIn(memory)
    },
    providersOf: (orgId) => {
      const memory = memoryOf(orgId)
      return memory === null ? [] : providersIn(memory)
    },
    lanes: (orgId) => lanesOf(parts, orgId),
  }
}

function workIn({ desk, lineUp }: Memory): OrgWork {
  const queued = lineUp.queued()
  const active = lineUp.inFlight()
  const agents: { id: AgentId; queued: number; active: number }[] = []
  for (const id of desk.agents.keys()) {
    const work = { id, queued: lineUp.queuedOf(id), active: lineUp.inFlightOf(id) }
    if (work.queued + work.active > 0) agents.push(work)
  }
  return { waiting: desk.runs.size - queued - active, queued, active, agents }
}

function providersIn({ desk, lineUp }: Memory): readonly ProviderStanding[] {
  const names = [...(desk.quotas?.providers.keys() ?? [])].toSorted()
  return names.flatMap((name) => lineUp.provider(name) ?? [])
}

/** A slot is held while a node works on an attempt, so the runs that nodes hold are counted: there are few. */
function lanesOf(parts: NodeParts, orgId: OrgId | null): ReturnType<LiveWork['lanes']> {
  const sizes = parts.lanes.sizes()
  const active = new Map<LaneName, number>()
  const pending = new Map<LaneName, number>()
  for (const office of parts.offices.values()) {
    const memory = orgId === null || office.orgId === orgId ? office.memory() : null
    if (memory === null) continue
    for (const [holder, held] of memory.byNode) {
      if (isWorkerId(holder)) continue
      for (const run of held) raise(active, resolveLane(run.lane, sizes), 1)
    }
    for (const lane of sizes.keys()) raise(pending, lane, memory.lineUp.queuedIn(lane))
  }
  return [...sizes].map(([name, concurrency]) => ({
    ...{ name, concurrency, active: active.get(name) ?? 0, pending: pending.get(name) ?? 0 },
    ...viewOrgShare(parts.lanes, { name, size: concurrency }, orgId),
  }))
}

const raise = (counts: Map<LaneName, number>, lane: LaneName, by: number): void => {
  counts.set(lane, (counts.get(lane) ?? 0) + by)
}
