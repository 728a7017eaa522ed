import type { AgentId, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { BacklogPlace } from '../domain/queue/fairness.ts'
import type { ProviderStatus, Wait } from '../domain/queue/gates.ts'
import type { QueuedRun } from '../domain/queue/queued-run.ts'
import type { RunState } from '../domain/run/run-machine.ts'
import type { LaneView } from '../features/lanes/schema.ts'
import {
  type BacklogFacts,
  countBacklogBefore,
  countPendingBefore,
  countPendingOfOrg,
  loadFromBacklog,
  loadQueuedKeys,
  type PendingCount,
  type QueuedKey,
  UNCOUNTED,
} from '../features/stats/store.ts'
import type { RunRecord } from '../features/runs/record-store.ts'
import type { Connection } from '../platform/db/database.ts'

/** Queued runs of an agent that go before another of its runs. */
export interface QueuedBefore {
  readonly inMemory: number
  /** Whether the agent has no runs in the backlog. */
  readonly isAll: boolean
}

/** What this node knows about pending runs without a query. */
export interface LiveRuns {
  /** Undefined: not pending, as far as this node knows. */
  readonly stateOf: (orgId: OrgId, id: RunId) => RunState | undefined
  /**
   * Position among the queued runs of the same agent; null: it has none, or the org is not loaded here. Undefined: runs
   * in the backlog have to be counted.
   */
  readonly positionOf: (orgId: OrgId, id: RunId) => number | null | undefined
  /** How many queued runs of the agent go before the run; null: the org is not loaded here. */
  readonly queuedBefore: (orgId: OrgId, run: QueuedKey) => QueuedBefore | null
  /** Why a queued run in memory has not started. */
  readonly explain: (orgId: OrgId, id: RunId) => Wait | null
  /** Why a run in the backlog has not started; null: the org is not loaded here. */
  readonly explainOutside: (orgId: OrgId, run: QueuedRun, place: BacklogPlace) => Wait | null
}

interface PositionPorts {
  readonly database: Connection
  readonly live: Pick<LiveRuns, 'positionOf' | 'queuedBefore'>
}

type ExplainedRun = Pick<RunRecord, 'id' | 'orgId' | 'createdAt' | 'trigger' | 'state'>

/** Why queued runs have not started, wherever they are. Runs that are not queued, or not known here, are left out. */
export async function explainQueued(
  { database, live }: { readonly database: Connection; readonly live: LiveRuns },
  runs: readonly ExplainedRun[],
): Promise<ReadonlyMap<RunId, Wait>> {
  const waits = new Map<RunId, Wait>()
  const outside: BacklogFacts[] = []
  for (const run of runs) {
    const known = live.explain(run.orgId, run.id)
    const found = known === null && run.state === 'queued' ? await loadFromBacklog(database, run) : null
    if (known !== null) waits.set(run.id, known)
    if (found !== null) outside.push(found)
  }
  const [first] = outside
  if (first === undefined) return waits
  const { orgId } = first.run
  const positions = await positionsOf(
    { database, live },
    orgId,
    outside.map(({ run }) => run),
  )
  for (const { run, ahead } of outside) {
    const wait = live.explainOutside(orgId, run, { position: positions.get(run.id) ?? UNCOUNTED, ahead })
    if (wait !== null) waits.set(run.id, wait)
  }
  return waits
}

/**
 * The position of a run among the queued runs of its agent; null: it is not queued. Undefined: too many are before it to
 * be counted.
 */
export async function positionOf(ports: PositionPorts, orgId: OrgId, id: RunId): Promise<number | null | undefined> {
  const known = ports.live.positionOf(orgId, id)
  if (known !== undefined) return known
  const runs = await loadQueuedKeys(ports.database, { orgId, ids: [id] })
  return runs.length === 0 ? null : (await positionsOf(ports, orgId, runs)).get(id)
}

/** The positions of queued runs. Those with too many before them to count are left out. */
export async function positionsOf(
  { database, live }: PositionPorts,
  orgId: OrgId,
  runs: readonly QueuedKey[],
): Promise<ReadonlyMap<RunId, number>> {
  const known = new Map(runs.map((run) => [run.id, live.queuedBefore(orgId, run)]))
  const notLoaded = runs.filter(({ id }) => known.get(id) === null)
  const notCounted = runs.filter(({ id }) => known.get(id)?.isAll !== true)
  const inMemory = notLoaded.length === 0 ? null : await countPendingBefore(database, { orgId, runs: notLoaded })
  const inBacklog = notCounted.length === 0 ? null : await countBacklogBefore(database, { orgId, runs: notCounted })
  return new Map(
    runs.flatMap(({ id }) => {
      const first = known.get(id)?.inMemory ?? inMemory?.get(id)
      const others = known.get(id)?.isAll === true ? 0 : inBacklog?.get(id)
      return first === undefined || others === undefined ? [] : [[id, 1 + first + others] as const]
    }),
  )
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
