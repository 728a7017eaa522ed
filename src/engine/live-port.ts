import type { AgentId, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { ProviderStatus, Wait } from '../domain/queue/gates.ts'
import type { RunState } from '../domain/run/run-machine.ts'
import type { LaneView } from '../features/lanes/schema.ts'
import { countPendingOfOrg, type PendingCount } from '../features/stats/store.ts'
import type { Connection } from '../platform/db/database.ts'

/** What this node knows about pending runs without a query. */
export interface LiveRuns {
  /** Undefined: not pending, as far as this node knows. */
  readonly stateOf: (orgId: OrgId, id: RunId) => RunState | undefined
  /** Position among the queued runs of the same agent. */
  readonly positionOf: (orgId: OrgId, id: RunId) => number | null
  /** Why a queued run has not started. */
  readonly explain: (orgId: OrgId, id: RunId) => Wait | null
}

/** What this node knows about the pending work of orgs without a query. */
export interface LiveWork {
  /** The agent, session and schedule of a run. Undefined: not pending, as far as this node knows. */
  readonly ownersOf: (orgId: OrgId, id: RunId) => RunOwners | undefined
  /** The pending work of an org; null when its state is not loaded here. */
  readonly workOf: (orgId: OrgId) => OrgWork | null
  /** The load of an org's providers, by name; empty when its state is not loaded here. */
  readonly providersOf: (orgId: OrgId) => readonly ProviderStatus[]
  /** The lanes of this node with the work of one org on all nodes; null: of every org. */
  readonly lanes: (orgId: OrgId | null) => readonly LaneView[]
}

/** The owners of a run; none of them ever changes. */
export interface RunOwners {
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly scheduleId: ScheduleId | null
  /** The key or agent whose restrictions apply to the run. */
  readonly owner: string | null
}

/** The pending work of an org, on all nodes. */
export interface OrgWork {
  readonly waiting: number
  readonly queued: number
  readonly active: number
  /** Agents that have queued or active runs. */
  readonly agents: readonly { readonly id: AgentId; readonly queued: number; readonly active: number }[]
}

/** The pending work of an org: from the org state of this node, or from the database while it is not loaded. */
export async function knownWork(
  { database, work }: { readonly database: Connection; readonly work: Pick<LiveWork, 'workOf'> },
  orgId: OrgId,
): Promise<OrgWork> {
  return work.workOf(orgId) ?? countedWork(await countPendingOfOrg(database, orgId))
}

function countedWork(rows: readonly PendingCount[]): OrgWork {
  const work = { waiting: 0, queued: 0, active: 0 }
  const agents = new Map<PendingCount['agentId'], { id: PendingCount['agentId']; queued: number; active: number }>()
  for (const { agentId, state, count } of rows) {
    const kind = state === 'waiting' || state === 'queued' ? state : 'active'
    work[kind] += count
    if (kind === 'waiting') continue
    const agent = agents.get(agentId) ?? { id: agentId, queued: 0, active: 0 }
    agent[kind] += count
    agents.set(agentId, agent)
  }
  return { ...work, agents: [...agents.values()] }
}
