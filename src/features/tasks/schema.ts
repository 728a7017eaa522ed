import { z } from 'zod'
import { anyJson, anyObject, isoTime } from '../../api/common.ts'
import {
  instantInput,
  isBlank,
  named,
  optionalOrBlank,
  validatedLater,
  rule,
  type Shape,
  storableObject,
  text,
  integerBetween,
} from '../../api/fields.ts'
import type { RefusalCode } from '../../api/refusals.ts'
import { textField } from '../../domain/input-fields.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { FACADE_STATES } from '../../domain/run/run-words.ts'
import { retryPolicyInput } from '../schedules/rules-schema.ts'

/**
 * Error codes of the task API where PinchTab has its own; all others are our codes in lower case. A request without a
 * token gets `missing_token` instead of `bad_token`.
 */
const FACADE_CODES: Readonly<Partial<Record<RefusalCode, string>>> = {
  VALIDATION: 'error',
  MALFORMED: 'error',
  BODY_TOO_LARGE: 'error',
  UNAUTHENTICATED: 'bad_token',
  ALREADY_ENDED: 'conflict',
}

/** The error code of the task API for a refusal. */
export const facadeCodeOf = (code: RefusalCode): string => FACADE_CODES[code] ?? code.toLowerCase()

/** Maximum tasks in one answer, which is built in memory. */
export const MAX_TASKS = 1_000
export const MAX_IN_BATCH = 50
/** Maximum tasks in a call of `tasks.submitMany`. */
export const MAX_IN_CALL = 1_000

const MAX_TASK_NAME = 512

const state = z.enum(FACADE_STATES)
const count = z.int().min(0)
const longText = text(0, 10_000)

const ACTION_DESCRIPTION = 'What to do: `click`, `type`, …'

const item = {
  tabId: longText.describe('Browser tab.'),
  selector: longText.describe('Selector of the element.'),
  ref: longText.describe('Reference of the element.'),
  params: storableObject.describe('Parameters of the action.'),
  priority: integerBetween(-2_147_483_648, 2_147_483_647).describe('Lower values run sooner. Default: 0.'),
  deadline: instantInput.describe('Latest time to start. Default: 60 s from now.'),
  callbackUrl: longText.describe('URL that receives the result.'),
  retry_policy: retryPolicyInput.describe('Retries of failed attempts, in Escapement only. Default: none.'),
}

/** The fields of a task without its agent, for clients that omit fields instead of sending null. */
export const taskItemFields = {
  action: text(1, MAX_TASK_NAME).describe(ACTION_DESCRIPTION),
  tabId: item.tabId.optional(),
  selector: item.selector.optional(),
  ref: item.ref.optional(),
  params: item.params.optional(),
  priority: item.priority.optional(),
  deadline: item.deadline.optional(),
}

const parseRequiredName = textField({ min: 1, max: MAX_TASK_NAME })

/** A required name. A blank one counts as missing. */
const requiredName = z
  .string()
  .min(1)
  .max(MAX_TASK_NAME)
  .regex(/\S/)
  .check(
    rule((field, value) =>
      isBlank(value) ? flawed({ field, value: undefined, message: 'is missing' }) : parseRequiredName(field, value),
    ),
  )

const itemFields = {
  action: requiredName.describe(ACTION_DESCRIPTION),
  tabId: optionalOrBlank(item.tabId),
  selector: optionalOrBlank(item.selector),
  ref: optionalOrBlank(item.ref),
  params: optionalOrBlank(item.params),
  priority: optionalOrBlank(item.priority),
  deadline: optionalOrBlank(item.deadline),
  callbackUrl: optionalOrBlank(item.callbackUrl),
  retry_policy: optionalOrBlank(item.retry_policy),
}

export const taskInput = named(
  'TaskInput',
  z.object({
    agentId: requiredName.describe(
      'Agent of the task: any text. If it is the id of an agent, that agent runs the task.',
    ),
    ...itemFields,
  }),
  'Unknown fields are ignored. Null and blank texts count as omitted.',
)
export type TaskInput = Shape<typeof taskInput>

const taskItemInput = named(
  'TaskItemInput',
  validatedLater(z.object(itemFields)),
  'A task of a batch: the fields of a task without the agent.',
)

const parseTasks =
  (max: number) =>
  (field: string, value: unknown): Parsed<readonly unknown[]> => {
    const allowed = `1 to ${max} tasks`
    const flaw = (message: string, given?: unknown): Parsed<never> => flawed({ field, value: given, message, allowed })
    if (value === null) return flaw('is missing')
    if (!Array.isArray(value)) return flaw('must be a list', value)
    return value.length === 0 ? flaw('is empty') : parsed(value)
  }

/** A list of tasks. The maximum is only described: a longer list is refused with code `BATCH_TOO_LARGE`. */
const tasksOf = <Schema extends z.ZodType>(schema: Schema, max: number): z.ZodArray<Schema> =>
  z
    .array(schema)
    .min(1)
    .meta({ maxItems: max })
    .check(rule(parseTasks(max)))

export const taskBatchInput = named(
  'TaskBatchInput',
  z.object({
    agentId: requiredName.describe('Agent of all tasks.'),
    callbackUrl: optionalOrBlank(longText.describe('URL that receives the results of tasks that set no URL.')),
    tasks: tasksOf(taskItemInput, MAX_IN_BATCH),
  }),
  'Tasks of one agent.',
)
export type TaskBatchInput = Shape<typeof taskBatchInput>

export const tasksInput = named(
  'TasksInput',
  z.object({ tasks: tasksOf(validatedLater(taskInput), MAX_IN_CALL) }),
  'Tasks of any agents.',
)

const taskBatchItem = named(
  'TaskBatchItem',
  z.strictObject({
    taskId: z.string().describe('Empty if the task could not be read and nothing was stored.'),
    state,
    position: z.int().min(1).optional(),
    error: z.string().optional(),
  }),
  'The outcome of one task of a batch. A task that could not be read is `rejected`, has an empty id and is not stored.',
)
export type TaskBatchItem = Shape<typeof taskBatchItem>

export const taskBatchReceipt = named(
  'TaskBatchReceipt',
  z.strictObject({ tasks: z.array(taskBatchItem), submitted: count.describe('Number of tasks in the request.') }),
  'The outcome of each task of a batch, in order.',
)
export type TaskBatchReceipt = Shape<typeof taskBatchReceipt>

/** The content of a task as it was submitted. */
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
    deadline: isoTime.nullable(),
    createdAt: isoTime,
    startedAt: isoTime.nullable(),
    completedAt: isoTime.nullable(),
    latencyMs: count.optional(),
    result: anyJson.optional(),
    error: z.string().optional(),
    position: z.int().min(1).optional(),
  }),
  'A task.',
)
export type TaskView = Shape<typeof task>

export const taskReceipt = named(
  'TaskReceipt',
  z.strictObject({
    taskId: z.string(),
    state,
    position: count
      .nullable()
      .describe('Position among the queued tasks of the agent; 0: it has started; null: too many are before it.'),
    createdAt: isoTime,
    task: task.optional().describe('The task, if it ended while the request waited.'),
  }),
  'The receipt of a submitted task.',
)
export type TaskReceipt = Shape<typeof taskReceipt>

/** Filter of the list of tasks. */
export const taskFilter = z.object({
  agentId: text(0, MAX_TASK_NAME).optional().describe('Tasks of this agent.'),
  state: z.string().max(1_000).optional().describe('States of tasks, separated by commas.'),
  limit: integerBetween(1, MAX_TASKS).optional(),
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

/** Task counts of an agent or of the org. Each task that has ended is in exactly one of them. */
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
  'Counts over the lifetime of the org and all nodes. `tasksSubmitted` is the number of tasks that completed, ' +
    'failed, were cancelled, expired, or are pending.',
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
  'An error of the task API. `details.errors` lists the invalid fields.',
)
export type TaskError = Shape<typeof taskError>
