import type { TaskAgentMetrics, TaskStats } from './schema.ts'
import { laneName, type AgentId, type OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { DEFAULT_LANES } from '../../domain/queue/lanes.ts'
import type { Connection } from '../../store/database.ts'
import { addUpTasks, insertTaskCountPlace, loadTaskCounts, type CountedTasks } from './store.ts'
import type { Caller } from '../../service/caller.ts'
import type { LiveWork } from '../../service/live-port.ts'
import type { Ports } from '../../service/ports.ts'
import type { EngineSettings } from '../config/settings.ts'

/** Turns per statement: few enough to be done in milliseconds. */
const BATCH = 1_000

/** Adds up everything that became of tasks in an org and has not been added up yet. */
export async function addUpTaskCounts(connection: Connection, orgId: OrgId, now: Instant): Promise<void> {
  for (;;) {
    const turns = await addUpTasks(connection, { orgId, limit: BATCH, now })
    if (turns === null) await insertTaskCountPlace(connection, orgId)
    else if (turns < BATCH) return
  }
}

/** Anybody may be named by a task, so of those who have nothing pending only the ones that were counted last are shown. */
const MOST_AGENTS = 1_000

type Reading = Pick<Ports, 'database' | 'clock' | 'settings'> & { readonly work: Pick<LiveWork, 'lanes'> }

/** What tasks wait in an org, how they went as long as it exists, on all nodes, and within which limits. */
export async function readTaskStats(
  { database, clock, settings, work }: Reading,
  { orgId }: Pick<Caller, 'orgId'>,
): Promise<TaskStats> {
  await addUpTaskCounts(database, orgId, clock.now())
  const counts = sumsOf(await loadTaskCounts(database, { orgId, agents: MOST_AGENTS }))
  const { all, agents } = counts
  const lane = work.lanes(orgId).find(({ name }) => name === 'task')?.concurrency
  return {
    queue: {
      totalQueued: all.queued,
      totalInflight: all.inflight,
      agents: fromAgents(agents, ({ queued, inflight }) => (queued + inflight === 0 ? null : { queued, inflight })),
    },
    metrics: { ...metricsOf(all), agents: fromAgents(agents, countsOf) },
    config: configOf(settings(), lane),
  }
}

type Sums = Record<CountedTasks['kind'], number>

const noSums = (): Sums => ({
  ...{ completed: 0, failed: 0, cancelled: 0, rejected: 0, expired: 0, dispatched: 0, dispatch_ms: 0 },
  ...{ queued: 0, inflight: 0, stopping: 0 },
})

function sumsOf(counted: readonly CountedTasks[]): { readonly all: Sums; readonly agents: Map<AgentId, Sums> } {
  const all = noSums()
  const agents = new Map<AgentId, Sums>()
  for (const { agentId, kind, count } of counted) {
    const sums = agentId === null ? all : (agents.get(agentId) ?? noSums())
    sums[kind] += count
    if (agentId !== null) agents.set(agentId, sums)
  }
  return { all, agents }
}

const fromAgents = <View>(
  agents: ReadonlyMap<AgentId, Sums>,
  view: (sums: Sums) => View | null,
): Readonly<Record<string, View>> =>
  Object.fromEntries(
    [...agents].flatMap(([id, sums]) => {
      const shown = view(sums)
      return shown === null ? [] : [[id, shown] as const]
    }),
  )

/** What is stopping is cancelled, as every answer about it says; only its slot is still held. */
function countsOf(sums: Sums): TaskAgentMetrics {
  const { completed, failed, rejected, expired, queued, inflight } = sums
  const cancelled = sums.cancelled + sums.stopping
  const submitted = completed + failed + cancelled + expired + queued + inflight
  return { submitted, completed, failed, cancelled, rejected, expired }
}

function metricsOf(all: Sums): Omit<TaskStats['metrics'], 'agents'> {
  const { submitted, completed, failed, cancelled, rejected, expired } = countsOf(all)
  const { dispatched, dispatch_ms: total } = all
  return {
    ...{ tasksSubmitted: submitted, tasksCompleted: completed, tasksFailed: failed, tasksCancelled: cancelled },
    ...{ tasksRejected: rejected, tasksExpired: expired, dispatchCount: dispatched, dispatchLatencyTotalMs: total },
    avgDispatchLatencyMs: dispatched === 0 ? 0 : total / dispatched,
  }
}

const TASK_LANE = laneName('task')

function configOf({ tasks, lanes }: EngineSettings, lane: number | undefined): TaskStats['config'] {
  return {
    strategy: 'fair-fifo',
    maxQueueSize: tasks.maxQueue,
    maxPerAgent: tasks.maxPerAgent,
    maxInflight: tasks.maxInflight,
    maxPerAgentFlight: tasks.maxPerAgentInflight,
    workerCount: lane ?? lanes.byName.get(TASK_LANE) ?? DEFAULT_LANES.task,
    resultTTL: goDuration(tasks.resultTtlSeconds),
  }
}

/** Whole seconds as clients written in Go read them. */
function goDuration(seconds: number): string {
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (h > 0) return `${h}h${m}m${s}s`
  return m > 0 ? `${m}m${s}s` : `${s}s`
}
