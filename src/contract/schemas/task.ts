import { z } from 'zod'
import type {
  TaskAgentMetrics,
  TaskBatchInput,
  TaskBatchItem,
  TaskBatchReceipt,
  TaskCancelled,
  TaskError,
  TaskFilter,
  TaskInput,
  TaskItemInput,
  TaskList,
  TaskReceipt,
  TaskStats,
  TaskView,
} from '../task.ts'
import { anyJson, anyObject, moment } from './common.ts'
import { named, shaped } from './shaped.ts'

const MOST_TASKS = 1_000
const MOST_IN_BATCH = 50

const agent = z.string().min(1).max(512)
const text = z.string().max(10_000)
const state = z.enum(['queued', 'assigned', 'running', 'done', 'failed', 'cancelled', 'rejected'])
const count = z.int().min(0)

export const taskItemFields = {
  action: z.string().min(1).max(512),
  tabId: text.optional(),
  selector: text.optional(),
  ref: text.optional(),
  params: anyObject.optional(),
  priority: z.int().min(-2_147_483_648).max(2_147_483_647).optional(),
  deadline: z.iso.datetime({ offset: true }).optional(),
  callbackUrl: text.optional(),
  retry_policy: anyObject.optional(),
}

export const taskInput: z.ZodType<TaskInput> = named(
  'TaskInput',
  shaped<TaskInput>()({ agentId: agent, ...taskItemFields }),
  'Fields that nobody knows are passed over; null and empty texts say nothing.',
)

const taskItemInput: z.ZodType<TaskItemInput> = named('TaskItemInput', shaped<TaskItemInput>()(taskItemFields))

export const taskBatchInput: z.ZodType<TaskBatchInput> = named(
  'TaskBatchInput',
  shaped<TaskBatchInput>()({
    agentId: agent,
    callbackUrl: text.optional(),
    tasks: z.array(taskItemInput).min(1).max(MOST_IN_BATCH),
  }),
)

export const taskReceipt: z.ZodType<TaskReceipt> = named(
  'TaskReceipt',
  shaped<TaskReceipt>()({ taskId: z.string(), state, position: count, createdAt: moment }),
  '`position` is the place among the queued tasks of the agent, 0 when it has started already.',
)

const taskBatchItem: z.ZodType<TaskBatchItem> = named(
  'TaskBatchItem',
  shaped<TaskBatchItem>()({
    taskId: z.string(),
    state,
    position: z.int().min(1).optional(),
    error: z.string().optional(),
  }),
  'A task that could not be read is `rejected` and has an empty id: nothing was stored of it.',
)

export const taskBatchReceipt: z.ZodType<TaskBatchReceipt> = named(
  'TaskBatchReceipt',
  shaped<TaskBatchReceipt>()({ tasks: z.array(taskBatchItem), submitted: count }),
)

export const task: z.ZodType<TaskView> = named(
  'Task',
  shaped<TaskView>()({
    taskId: z.string(),
    agentId: z.string(),
    action: z.string(),
    tabId: z.string().optional(),
    selector: z.string().optional(),
    ref: z.string().optional(),
    params: anyObject.optional(),
    priority: z.int(),
    state,
    deadline: moment.nullable(),
    createdAt: moment,
    startedAt: moment.nullable(),
    completedAt: moment.nullable(),
    latencyMs: count.optional(),
    result: anyJson.optional(),
    error: z.string().optional(),
    callbackUrl: z.string().optional(),
    position: z.int().min(1).optional(),
  }),
)

export const taskFilter: z.ZodType<TaskFilter> = shaped<TaskFilter>()({
  agentId: z.string().max(512).optional(),
  state: z.string().max(1_000).optional(),
  limit: z.int().min(1).max(MOST_TASKS).optional(),
  cursor: z.string().max(4_096).optional(),
})

export const taskList: z.ZodType<TaskList> = named(
  'TaskList',
  shaped<TaskList>()({ tasks: z.array(task), count, next_cursor: z.string().optional() }),
)

export const taskCancelled: z.ZodType<TaskCancelled> = named(
  'TaskCancelled',
  shaped<TaskCancelled>()({ status: z.literal('cancelled'), taskId: z.string() }),
)

const agentMetrics = shaped<TaskAgentMetrics>()({
  submitted: count,
  completed: count,
  failed: count,
  cancelled: count,
  rejected: count,
  expired: count,
})

export const taskStats: z.ZodType<TaskStats> = named(
  'TaskStats',
  shaped<TaskStats>()({
    queue: shaped<TaskStats['queue']>()({
      totalQueued: count,
      totalInflight: count,
      agents: z.record(z.string(), shaped<TaskStats['queue']['agents'][string]>()({ queued: count, inflight: count })),
    }),
    metrics: shaped<TaskStats['metrics']>()({
      tasksSubmitted: count,
      tasksCompleted: count,
      tasksFailed: count,
      tasksCancelled: count,
      tasksRejected: count,
      tasksExpired: count,
      dispatchCount: count,
      dispatchLatencyTotalMs: count,
      avgDispatchLatencyMs: z.number().min(0),
      agents: z.record(z.string(), agentMetrics),
    }),
    config: shaped<TaskStats['config']>()({
      strategy: z.literal('fair-fifo'),
      maxQueueSize: count,
      maxPerAgent: count,
      maxInflight: count,
      maxPerAgentFlight: count,
      workerCount: count,
      resultTTL: z.string(),
    }),
  }),
  'Counted as long as the org exists, over all nodes: `tasksSubmitted` is what completed, failed, was cancelled or expired, and what is pending.',
)

export const taskError: z.ZodType<TaskError> = named(
  'TaskError',
  shaped<TaskError>()({
    error: z.string(),
    code: z.string(),
    retryable: z.literal(true).optional(),
    details: anyObject.optional(),
  }),
  'What was refused and why, as clients of the task façade know it. `details.errors` points to fields.',
)
