import type { TaskAgentMetrics, TaskStats } from './schema.ts'
import { laneName, type AgentId, type OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { DEFAULT_LANES } from '../../domain/queue/lanes.ts'
import type { Connection } from '../../platform/db/database.ts'
import { addUpTransactionTasks, insertTaskCountPosition, loadTaskCounts, type CountedTasks } from './store.ts'
import type { Caller } from '../access/caller.ts'
import type { LiveWork } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import type { EngineSettings } from '../config/settings.ts'

/** Transactions per statement: few enough to finish within milliseconds. */
const TASK_COUNT_BATCH_SIZE = 1_000

/** Adds the transactions of an org that are not counted yet to its task counts. */
export async function updateTaskCounts(connection: Connection, orgId: OrgId, now: Instant): Promise<void> {
  for (;;) {
    const transactions = await addUpTransactionTasks(connection, { orgId, limit: TASK_COUNT_BATCH_SIZE, now })
    if (transactions === null) await insertTaskCountPosition(connection, orgId)
    else if (transactions < TASK_COUNT_BATCH_SIZE) return
  }
}

/** Limit of agents without pending tasks, most recently counted first: a task may name any text as its agent. */
const MAX_IDLE_AGENTS = 1_000

type TaskStatsPorts = Pick<Ports, 'database' | 'clock' | 'settings'> & { readonly work: Pick<LiveWork, 'lanes'> }

/** Pending tasks of an org, its counts over its lifetime and all nodes, and the limits. */
export async function readTaskStats(
  { database, clock, settings, work }: TaskStatsPorts,
  { orgId }: Pick<Caller, 'orgId'>,
): Promise<TaskStats> {
  await updateTaskCounts(database, orgId, clock.now())
  const counts = sumTaskCounts(await loadTaskCounts(database, { orgId, agents: MAX_IDLE_AGENTS }))
  const { all, agents } = counts
  const lane = work.lanes(orgId).find(({ name }) => name === 'task')?.concurrency
  return {
    queue: {
      totalQueued: all.queued,
      totalInflight: all.inflight,
      agents: viewByAgent(agents, ({ queued, inflight }) => (queued + inflight === 0 ? null : { queued, inflight })),
    },
    metrics: { ...totalMetricsOf(all), agents: viewByAgent(agents, agentMetricsOf) },
    config: taskConfigOf(settings(), lane),
  }
}

type TaskSums = Record<CountedTasks['kind'], number>

const emptyTaskSums = (): TaskSums => ({
  ...{ completed: 0, failed: 0, cancelled: 0, rejected: 0, expired: 0, dispatched: 0, dispatch_ms: 0 },
  ...{ queued: 0, inflight: 0, stopping: 0 },
})

function sumTaskCounts(counted: readonly CountedTasks[]): {
  readonly all: TaskSums
  readonly agents: Map<AgentId, TaskSums>
} {
  const all = emptyTaskSums()
  const agents = new Map<AgentId, TaskSums>()
  for (const { agentId, kind, count } of counted) {
    const sums = agentId === null ? all : (agents.get(agentId) ?? emptyTaskSums())
    sums[kind] += count
    if (agentId !== null) agents.set(agentId, sums)
  }
  return { all, agents }
}

const viewByAgent = <View>(
  agents: ReadonlyMap<AgentId, TaskSums>,
  view: (sums: TaskSums) => View | null,
): Readonly<Record<string, View>> =>
  Object.fromEntries(
    [...agents].flatMap(([id, sums]) => {
      const shown = view(sums)
      return shown === null ? [] : [[id, shown] as const]
    }),
  )

/** Counts stopping tasks as cancelled, as the task API does: they only still hold a slot. */
function agentMetricsOf(sums: TaskSums): TaskAgentMetrics {
  const { completed, failed, rejected, expired, queued, inflight } = sums
  const cancelled = sums.cancelled + sums.stopping
  const submitted = completed + failed + cancelled + expired + queued + inflight
  return { submitted, completed, failed, cancelled, rejected, expired }
}

function totalMetricsOf(all: TaskSums): Omit<TaskStats['metrics'], 'agents'> {
  const { submitted, completed, failed, cancelled, rejected, expired } = agentMetricsOf(all)
  const { dispatched, dispatch_ms: total } = all
  return {
    ...{ tasksSubmitted: submitted, tasksCompleted: completed, tasksFailed: failed, tasksCancelled: cancelled },
    ...{ tasksRejected: rejected, tasksExpired: expired, dispatchCount: dispatched, dispatchLatencyTotalMs: total },
    avgDispatchLatencyMs: dispatched === 0 ? 0 : total / dispatched,
  }
}

const TASK_LANE = laneName('task')

function taskConfigOf({ tasks, lanes }: EngineSettings, lane: number | undefined): TaskStats['config'] {
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

/** Formats whole seconds as a Go duration. */
function goDuration(seconds: number): string {
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (h > 0) return `${h}h${m}m${s}s`
  return m > 0 ? `${m}m${s}s` : `${s}s`
}
