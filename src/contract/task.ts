import { z } from 'zod'
import { anyJson, anyObject, moment } from './common.ts'
import { named, type Shape } from './shape.ts'

const MOST_TASKS = 1_000
const MOST_IN_BATCH = 50

const agent = z.string().min(1).max(512)
const text = z.string().max(10_000)
const state = z.enum(['queued', 'assigned', 'running', 'done', 'failed', 'cancelled', 'rejected'])
const count = z.int().min(0)

export const taskItemFields = {
  action: z.string().min(1).max(512).describe('What to do: `click`, `type`, …'),
  tabId: text.optional().describe('Browser tab.'),
  selector: text.optional().describe('Selector of the element.'),
  ref: text.optional().describe('Reference of the element.'),
  params: anyObject.optional().describe('Parameters of the action.'),
  priority: z.int().min(-2_147_483_648).max(2_147_483_647).optional().describe('Lower runs sooner. Default: 0.'),
  deadline: z.iso.datetime({ offset: true }).optional().describe('Latest time to start. Default: 60 s from now.'),
  callbackUrl: text.optional().describe('URL that receives the result.'),
  retry_policy: anyObject.optional().describe('Retries of failed attempts, in Escapement only. Default: none.'),
}

export const taskInput = named(
  'TaskInput',
  z.strictObject({
    agentId: agent.describe('Agent of the task: any text. If it is the id of an agent, that agent runs the task.'),
    ...taskItemFields,
  }),
  'Fields that nobody knows are passed over; null and empty texts say nothing.',
)
export type TaskInput = Shape<typeof taskInput>

const taskItemInput = named(
  'TaskItemInput',
  z.strictObject(taskItemFields),
  'A task of a batch: the fields of a task without the agent.',
)
export type TaskItemInput = Shape<typeof taskItemInput>

export const taskBatchInput = named(
  'TaskBatchInput',
  z.strictObject({
    agentId: agent.describe('Agent of all tasks.'),
    callbackUrl: text.optional().describe('URL that receives results of tasks without their own.'),
    tasks: z.array(taskItemInput).min(1).max(MOST_IN_BATCH),
  }),
  'Tasks of one agent.',
)
export type TaskBatchInput = Shape<typeof taskBatchInput>

export const taskReceipt = named(
  'TaskReceipt',
  z.strictObject({
    taskId: z.string(),
    state,
    position: count.describe('Position among the queued tasks of the agent; 0 if it has started.'),
    createdAt: moment,
  }),
  '`position` is the place among the queued tasks of the agent, 0 when it has started already.',
)
export type TaskReceipt = Shape<typeof taskReceipt>

const taskBatchItem = named(
  'TaskBatchItem',
  z.strictObject({
    taskId: z.string().describe('Empty if the task could not be read and nothing was stored.'),
    state,
    position: z.int().min(1).optional(),
    error: z.string().optional(),
  }),
  'A task that could not be read is `rejected` and has an empty id: nothing was stored of it.',
)
export type TaskBatchItem = Shape<typeof taskBatchItem>

export const taskBatchReceipt = named(
  'TaskBatchReceipt',
  z.strictObject({ tasks: z.array(taskBatchItem), submitted: count.describe('Number of tasks in the request.') }),
  'The outcome of each task of a batch, in order.',
)
export type TaskBatchReceipt = Shape<typeof taskBatchReceipt>

export const task = named(
  'Task',
  z.strictObject({
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
  'A task.',
)
export type TaskView = Shape<typeof task>

/** Which tasks. */
export const taskFilter = z.strictObject({
  agentId: z.string().max(512).optional().describe('Tasks of this agent.'),
  state: z.string().max(1_000).optional().describe('States, separated by commas.'),
  limit: z.int().min(1).max(MOST_TASKS).optional(),
  cursor: z.string().max(4_096).optional(),
})
export type TaskFilter = Shape<typeof taskFilter>

export const taskList = named(
  'TaskList',
  z.strictObject({
    tasks: z.array(task),
    count: count.describe('Number of tasks in this answer.'),
    next_cursor: z.string().optional().describe('Cursor of the next page. Omitted on the last page.'),
  }),
  'Tasks, newest first.',
)
export type TaskList = Shape<typeof taskList>

export const taskCancelled = named(
  'TaskCancelled',
  z.strictObject({ status: z.literal('cancelled'), taskId: z.string() }),
  'A cancelled task.',
)
export type TaskCancelled = Shape<typeof taskCancelled>

/** How the tasks of an agent, or of the org, went. Each task that has ended is in one of these. */
const agentMetrics = z.strictObject({
  submitted: count.describe('Accepted tasks. Rejected ones are not included.'),
  completed: count,
  failed: count,
  cancelled: count,
  rejected: count,
  expired: count,
})
export type TaskAgentMetrics = Shape<typeof agentMetrics>

export const taskStats = named(
  'TaskStats',
  z.strictObject({
    queue: z.strictObject({
      totalQueued: count,
      totalInflight: count,
      agents: z.record(z.string(), z.strictObject({ queued: count, inflight: count })),
    }),
    metrics: z.strictObject({
      tasksSubmitted: count,
      tasksCompleted: count,
      tasksFailed: count,
      tasksCancelled: count,
      tasksRejected: count,
      tasksExpired: count,
      dispatchCount: count.describe('Tasks started.'),
      dispatchLatencyTotalMs: count.describe('Total time they were queued.'),
      avgDispatchLatencyMs: z.number().min(0),
      agents: z.record(z.string(), agentMetrics),
    }),
    config: z.strictObject({
      strategy: z.literal('fair-fifo'),
      maxQueueSize: count,
      maxPerAgent: count,
      maxInflight: count,
      maxPerAgentFlight: count,
      workerCount: count.describe('Slots of the lane `task` on this node.'),
      resultTTL: z.string().describe('A Go duration: `5m0s`.'),
    }),
  }),
  'Counted as long as the org exists, over all nodes: `tasksSubmitted` is what completed, failed, was cancelled or expired, and what is pending.',
)
export type TaskStats = Shape<typeof taskStats>

export const taskError = named(
  'TaskError',
  z.strictObject({
    error: z.string(),
    code: z.string().describe('Stable error code.'),
    retryable: z.literal(true).optional().describe('True if the same request may succeed later.'),
    details: anyObject.optional(),
  }),
  'What was refused and why, as clients of the task façade know it. `details.errors` points to fields.',
)
export type TaskError = Shape<typeof taskError>
