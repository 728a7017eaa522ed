import { Refusal } from '../../api/refusals.ts'
import {
  MAX_TASKS,
  type TaskContent,
  type TaskFilter,
  type TaskList,
  type TaskView,
  type TaskAgentMetrics,
  type TaskStats,
} from './schema.ts'
import { agentId, runId, type OrgId, type RunId, laneName, type AgentId } from '../../domain/ids.ts'
import { earlier, formatInstant, type Instant } from '../../domain/instant.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { durationOf, firstStart } from '../../domain/run/run.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import {
  DEADLINE_ERROR,
  EXPIRED_ERROR,
  FACADE_STATES,
  facadeStateOf,
  statesOfFacade,
  TIMEOUT_ERROR,
} from '../../domain/run/run-words.ts'
import { listRunPage } from '../runs/read-store.ts'
import {
  loadTask,
  type TaskRecord,
  addUpTransactionTasks,
  insertTaskCountPosition,
  loadTaskCounts,
  type CountedTasks,
} from './store.ts'
import type { Caller } from '../access/caller.ts'
import { parseCursor, writeCursor } from '../../platform/db/cursor.ts'
import { parsedOrRefuse } from '../sessions/service.ts'
import { type LiveRuns, positionsOf, type LiveWork } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import { ownRuns } from '../access/restrictions.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import { DEFAULT_LANES } from '../../domain/queue/lanes.ts'
import type { Connection } from '../../platform/db/database.ts'
import type { EngineSettings } from '../config/settings.ts'

type StoredTaskPorts = Pick<Ports, 'database' | 'clock' | 'settings'>
type TaskPorts = StoredTaskPorts & { readonly live: LiveRuns }

/** A task in the form of the task API. */
export function viewTask(run: TaskRecord, position: number | null = null): TaskView {
  const { tabId, selector, ref, params, callbackUrl, action } = taskContentOf(run.payload)
  const { finishedAt } = run
  const latencyMs = durationOf(run)
  const error = taskErrorText(run)
  return {
    taskId: run.id,
    agentId: run.agentId,
    action: action ?? '',
    ...omitMissing({ tabId, selector, ref, params }),
    priority: run.priority,
    state: facadeStateOf(run.state),
    deadline: formatInstantOrNull(run.deadline),
    createdAt: formatInstant(run.createdAt),
    startedAt: formatInstantOrNull(firstStart(run)),
    completedAt: formatInstantOrNull(finishedAt),
    ...(latencyMs === null ? {} : { latencyMs }),
    ...(run.state === 'success' ? { result: run.output } : {}),
    ...(error === null ? {} : { error }),
    ...omitMissing({ callbackUrl }),
    ...(position === null ? {} : { position }),
  }
}

/** Omits fields that are undefined or null. */
function omitMissing<T extends Readonly<Record<string, unknown>>>(
  fields: T,
): { readonly [Name in keyof T]?: NonNullable<T[Name]> } {
  const found = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(found) as { readonly [Name in keyof T]?: NonNullable<T[Name]> }
}

function taskContentOf(payload: unknown): Partial<TaskContent> {
  if (typeof payload !== 'object' || payload === null) return {}
  // A run submitted through admission has its input in the fields of its content.
  return 'fields' in payload && !('action' in payload) ? taskContentOf(payload.fields) : payload
}

function taskErrorText(run: TaskRecord): string | null {
  switch (run.state) {
    case 'expired':
      return EXPIRED_ERROR
    case 'rejected':
      return explainWhy(run.why ?? run.decision)
    case 'timeout':
      // The error words of the task API take precedence over the error message of the run.
      return isOverdue(run) ? DEADLINE_ERROR : (run.errorMessage ?? TIMEOUT_ERROR)
    case 'failed':
      return run.errorMessage ?? run.errorCode ?? explainWhy(run.why ?? run.decision)
    case 'success':
    case 'cancelled':
    case 'skipped':
    case 'dropped':
    case 'waiting':
    case 'queued':
    case 'assigned':
    case 'running':
    case 'awaiting_callback':
    case 'stopping':
      return null
  }
}

const isOverdue = ({ deadline, finishedAt }: TaskRecord): boolean =>
  deadline !== null && finishedAt !== null && finishedAt >= deadline

/** The refusal for a task that does not exist in this org. */
const taskNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no task ${id}`)

/** Tasks that ended before this time have expired, even if they are still stored. */
const visibleSince = ({ clock, settings }: StoredTaskPorts): Instant =>
  earlier(clock.now(), settings().tasks.resultTtlSeconds * 1_000)

/** The stored task. Refuses if it does not exist or its result has expired. */
export async function loadVisibleTask(ports: StoredTaskPorts, orgId: OrgId, id: string): Promise<TaskRecord> {
  const task = await loadTask(ports.database, { orgId, id: runId(id) })
  if (task === undefined || (task.finishedAt !== null && task.finishedAt < visibleSince(ports))) throw taskNotFound(id)
  return task
}

/** The task with its queue position. */
export async function getTask(ports: TaskPorts, orgId: OrgId, id: string): Promise<TaskView> {
  const run = await loadVisibleTask(ports, orgId, id)
  const positions = await loadTaskPositions(ports, orgId, [run])
  return viewTask(run, positions.get(run.id) ?? null)
}

/** The org's tasks, newest first. */
export async function findTasks(
  ports: TaskPorts,
  { orgId, restricted }: Pick<Caller, 'orgId' | 'restricted'>,
  filter: TaskFilter = {},
): Promise<TaskList> {
  const { agentId: agent = '', state = '', limit = MAX_TASKS, cursor } = filter
  const after = parsedOrRefuse(parseCursor('cursor', cursor))
  const { rows, more } = await listRunPage(ports.database, {
    ...{ orgId, limit, whole: true, endedSince: visibleSince(ports), owned: ownRuns(restricted) ?? null },
    trigger: 'task',
    // An empty filter matches all.
    states: statesInFilter(state),
    agentId: agent === '' ? null : agentId(agent),
    after: after === null ? null : { createdAt: after.createdAt, id: runId(after.key) },
  })
  const positions = await loadTaskPositions(ports, orgId, rows)
  const tasks = rows.map((run) => viewTask(run, positions.get(run.id) ?? null))
  const last = rows.at(-1)
  const next = more && last !== undefined ? writeCursor({ createdAt: last.createdAt, key: last.id }) : null
  return { tasks, count: tasks.length, ...(next === null ? {} : { next_cursor: next }) }
}

const loadTaskPositions = (
  ports: TaskPorts,
  orgId: OrgId,
  runs: readonly TaskRecord[],
): Promise<ReadonlyMap<RunId, number>> =>
  positionsOf(
    ports,
    orgId,
    runs.filter((run) => run.state === 'queued'),
  )

/** The states in a filter. Null: none given. An unknown state matches no task, as in PinchTab. */
function statesInFilter(value: string): readonly RunState[] | null {
  const words = value
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')
  if (words.length === 0) return null
  return FACADE_STATES.filter((word) => words.includes(word)).flatMap(statesOfFacade)
}

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
