import { z } from 'zod'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { textField } from '../../domain/input-fields.ts'
import { FACADE_STATES } from '../../domain/run/run-words.ts'
import { anyJson, anyObject, moment } from '../../api/common.ts'
import { givenInstant, isBlank, orBlank, readLater, rule, storableObject, text, whole } from '../../api/fields.ts'
import { retryPolicyInput } from '../../contract/retry-policy.ts'
import { named, type Shape } from '../../contract/shape.ts'

/** Most tasks of one answer: what is answered is in memory. */
export const MAX_TASKS = 1_000
export const MAX_IN_BATCH = 50

const MAX_NAME = 512

const state = z.enum(FACADE_STATES)
const count = z.int().min(0)
const longText = text(0, 10_000)

const ABOUT_ACTION = 'What to do: `click`, `type`, …'

const item = {
  tabId: longText.describe('Browser tab.'),
  selector: longText.describe('Selector of the element.'),
  ref: longText.describe('Reference of the element.'),
  params: storableObject.describe('Parameters of the action.'),
  priority: whole(-2_147_483_648, 2_147_483_647).describe('Lower runs sooner. Default: 0.'),
  deadline: givenInstant.describe('Latest time to start. Default: 60 s from now.'),
  callbackUrl: longText.describe('URL that receives the result.'),
  retry_policy: retryPolicyInput.describe('Retries of failed attempts, in Escapement only. Default: none.'),
}

/** The fields of a task without its agent, for callers that leave out what they do not mean. */
export const taskItemFields = {
  action: text(1, MAX_NAME).describe(ABOUT_ACTION),
  tabId: item.tabId.optional(),
  selector: item.selector.optional(),
  ref: item.ref.optional(),
  params: item.params.optional(),
  priority: item.priority.optional(),
  deadline: item.deadline.optional(),
}

const parseName = textField({ min: 1, max: MAX_NAME })

/** A name that must be given. A blank one is missing. */
const name = z
  .string()
  .min(1)
  .max(MAX_NAME)
  .regex(/\S/)
  .check(
    rule((field, value) =>
      isBlank(value) ? flawed({ field, value: undefined, message: 'is missing' }) : parseName(field, value),
    ),
  )

const itemFields = {
  action: name.describe(ABOUT_ACTION),
  tabId: orBlank(item.tabId),
  selector: orBlank(item.selector),
  ref: orBlank(item.ref),
  params: orBlank(item.params),
  priority: orBlank(item.priority),
  deadline: orBlank(item.deadline),
  callbackUrl: orBlank(item.callbackUrl),
  retry_policy: orBlank(item.retry_policy),
}

export const taskInput = named(
  'TaskInput',
  z.object({
    agentId: name.describe('Agent of the task: any text. If it is the id of an agent, that agent runs the task.'),
    ...itemFields,
  }),
  'Unknown fields are ignored; null and blank texts count as left out.',
)
export type TaskInput = Shape<typeof taskInput>

const taskItemInput = named(
  'TaskItemInput',
  readLater(z.object(itemFields)),
  'A task of a batch: the fields of a task without the agent.',
)
export type TaskItemInput = Shape<typeof taskItemInput>

function parseTasks(field: string, value: unknown): Parsed<readonly unknown[]> {
  const allowed = `1 to ${MAX_IN_BATCH} tasks`
  const flaw = (message: string, given?: unknown): Parsed<never> => flawed({ field, value: given, message, allowed })
  if (value === null) return flaw('is missing')
  if (!Array.isArray(value)) return flaw('must be a list', value)
  return value.length === 0 ? flaw('has no task in it') : parsed(value)
}

export const taskBatchInput = named(
  'TaskBatchInput',
  z.object({
    agentId: name.describe('Agent of all tasks.'),
    callbackUrl: orBlank(longText.describe('URL that receives results of tasks without their own.')),
    // A batch that is too large is refused under a code of its own, so here the number is only described.
    tasks: z.array(taskItemInput).min(1).meta({ maxItems: MAX_IN_BATCH }).check(rule(parseTasks)),
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

/** What a task was asked to do, as it was given. */
const contentFields = {
  action: z.string(),
  tabId: z.string().optional(),
  selector: z.string().optional(),
  ref: z.string().optional(),
  params: anyObject.optional(),
  callbackUrl: z.string().optional(),
}
export type TaskContent = Shape<z.ZodObject<typeof contentFields>>

export const task = named(
  'Task',
  z.strictObject({
    taskId: z.string(),
    agentId: z.string(),
    ...contentFields,
    priority: z.int(),
    state,
    deadline: moment.nullable(),
    createdAt: moment,
    startedAt: moment.nullable(),
    completedAt: moment.nullable(),
    latencyMs: count.optional(),
    result: anyJson.optional(),
    error: z.string().optional(),
    position: z.int().min(1).optional(),
  }),
  'A task.',
)
export type TaskView = Shape<typeof task>

/** Which tasks. */
export const taskFilter = z.object({
  agentId: text(0, MAX_NAME).optional().describe('Tasks of this agent.'),
  state: z.string().max(1_000).optional().describe('States of tasks, separated by commas.'),
  limit: whole(1, MAX_TASKS).optional(),
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
