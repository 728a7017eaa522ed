import { z } from 'zod'
import { id } from '../../api/common.ts'
import { waitQuery } from '../../api/fields.ts'
import type { Answer, OperationSpec } from '../../api/operation.ts'
import {
  task,
  taskBatchInput,
  taskBatchReceipt,
  MAX_IN_CALL,
  taskCancelled,
  taskFilter,
  taskInput,
  tasksInput,
  taskList,
  taskStats,
  taskReceipt,
  type TaskInput,
  type TaskReceipt,
  type TaskView,
} from './schema.ts'
import { cancelTask, submitBatch, submitTask, submitTaskAndWait } from './service.ts'
import { findTasks, getTask, readTaskStats } from './view.ts'
import { answer, type Call, operation, readAfterEnd } from '../../operations/handler.ts'

const taskParams = z.strictObject({ id })

/** A request that may wait for the end of a task. Declared, because inferring it from the table would be circular. */
interface TaskCall extends Pick<Call<OperationSpec>, 'ctx' | 'ports' | 'caller' | 'signal'> {
  readonly query: { readonly wait?: number | undefined }
}

const get = (call: TaskCall, id: string): Promise<TaskView> =>
  readAfterEnd(call, id, {
    seconds: call.query.wait,
    read: () => getTask({ ...call.ports, live: call.ctx.live }, call.caller.orgId, id),
    hasEnded: ({ completedAt }) => completedAt !== null,
  })

async function submit(call: TaskCall, input: TaskInput): Promise<Answer<200 | 202, TaskReceipt>> {
  const { ctx, ports, caller, query } = call
  const from = { caller, live: ctx.live }
  if ((query.wait ?? 0) === 0) return answer(202, await submitTask(ports, from, input))
  const submitted = await submitTaskAndWait(ports, from, { input, waitForTask: (id) => get(call, id) })
  return answer(submitted.task === undefined ? 202 : 200, submitted)
}

/** The task API, compatible with PinchTab's scheduler in paths, fields and errors. */
export const taskOperations = {
  'tasks.submit': operation({
    ...{ method: 'POST', path: '/tasks', tag: 'tasks', permission: 'tasks:write' },
    ...{ facade: true, creates: true, newWork: true, admits: true },
    restrictedAccess: 'list',
    summary: 'Submit a task',
    description:
      'A full queue answers 429 with `Retry-After`; the task is stored as `rejected`, and `details.taskId` is its ' +
      'id. Tasks refused for any other reason are not stored. With `wait`, the response is 200 with the task if it ' +
      'ends within that time, else 202 without it.',
    query: waitQuery,
    body: taskInput,
    answers: { 200: taskReceipt, 202: taskReceipt },
    refusals: ['QUEUE_FULL', 'BUDGET', 'RUNS_PER_DAY', 'NOT_FOUND'],
    examples: { body: { agentId: 'crawler', action: 'click', tabId: 'tab-1', ref: 'e14', priority: 5 } },
  }).by((call) => submit(call, call.body)),
  'tasks.batch': operation({
    ...{ method: 'POST', path: '/tasks/batch', tag: 'tasks', permission: 'tasks:write' },
    ...{ facade: true, creates: true, newWork: true, admits: true },
    restrictedAccess: 'list',
    summary: 'Submit tasks of one agent',
    description:
      'One to fifty, in order. Each is decided on its own and has its own outcome; if all are invalid, the batch ' +
      'is refused.',
    body: taskBatchInput,
    answers: { 202: taskBatchReceipt },
    refusals: ['BATCH_TOO_LARGE', 'NOT_FOUND'],
    examples: { body: { agentId: 'crawler', tasks: [{ action: 'scroll', tabId: 'tab-1', params: { scrollY: 400 } }] } },
  }).by(async ({ ctx, ports, caller, body }) => {
    const outcomes = await submitBatch(ports, { caller, live: ctx.live }, body)
    return { tasks: outcomes, submitted: outcomes.length }
  }),
  'tasks.submitMany': operation({
    method: 'POST',
    path: '/tasks/many',
    tag: 'tasks',
    permission: 'tasks:write',
    facade: true,
    creates: true,
    newWork: true,
    admits: true,
    restrictedAccess: 'list',
    summary: 'Submit up to 1,000 tasks',
    description:
      'Tasks of any agents, in order and in one transaction. Each is decided on its own and has its own outcome, ' +
      'without a position; if all are invalid, the call is refused.',
    body: tasksInput,
    answers: { 202: taskBatchReceipt },
    refusals: ['BATCH_TOO_LARGE', 'NOT_FOUND'],
    examples: {
      body: {
        tasks: [
          { agentId: 'crawler', action: 'click', tabId: 'tab-1', ref: 'e14' },
          { agentId: 'reader', action: 'scroll', tabId: 'tab-2', params: { scrollY: 400 } },
        ],
      },
    },
  }).by(async ({ ctx, ports, caller, body }) => {
    const outcomes = await submitBatch(ports, { caller, live: ctx.live, max: MAX_IN_CALL, withPositions: false }, body)
    return { tasks: outcomes, submitted: outcomes.length }
  }),
  'tasks.list': operation({
    ...{ method: 'GET', path: '/tasks', tag: 'tasks', permission: 'tasks:read', facade: true },
    restrictedAccess: 'list',
    summary: 'List tasks, newest first',
    description:
      '`state` takes several words separated by commas. Without `limit`, the newest 1,000; `next_cursor` continues ' +
      'the list.',
    query: taskFilter,
    answers: { 200: taskList },
    refusals: ['NOT_FOUND'],
  }).by(({ ctx, ports, caller, query }) => findTasks({ ...ports, live: ctx.live }, caller, query)),
  'tasks.get': operation({
    ...{ method: 'GET', path: '/tasks/:id', tag: 'tasks', permission: 'tasks:read', facade: true },
    restrictedAccess: 'run',
    summary: 'Get a task',
    description: 'With `wait`, the response is sent when the task has ended, at the latest after that time.',
    params: taskParams,
    query: waitQuery,
    optionalQuery: true,
    answers: { 200: task },
    refusals: ['NOT_FOUND'],
  }).by((call) => get(call, call.params.id)),
  'tasks.cancel': operation({
    ...{ method: 'POST', path: '/tasks/:id/cancel', tag: 'tasks', permission: 'tasks:write', facade: true },
    restrictedAccess: 'run',
    summary: 'Cancel a task',
    params: taskParams,
    answers: { 200: taskCancelled },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    examples: { answer: { status: 'cancelled', taskId: 'tsk_01kfb3' } },
  }).by(({ ports, caller, params }) => cancelTask(ports, caller, params.id)),
  'tasks.stats': operation({
    ...{ method: 'GET', path: '/scheduler/stats', tag: 'tasks', permission: 'tasks:read', facade: true },
    summary: 'Get the counts, statistics and limits of tasks',
    answers: { 200: taskStats },
    refusals: ['NOT_FOUND'],
  }).by(({ ctx, ports, caller }) => readTaskStats({ ...ports, work: ctx.work }, caller)),
}
