import { z } from 'zod'
import { id } from '../../api/common.ts'
import {
  task,
  taskBatchInput,
  taskBatchReceipt,
  taskCancelled,
  taskFilter,
  taskInput,
  taskList,
  taskReceipt,
  taskStats,
} from './schema.ts'
import { cancelTask, submitBatch, submitTask } from './service.ts'
import { findTasks, getTask, readTaskStats } from './view.ts'
import { operation } from '../../operations/handler.ts'

const taskParams = z.strictObject({ id })

/** The task API, compatible with PinchTab's scheduler in paths, fields and errors. */
export const taskOperations = {
  'tasks.submit': operation({
    ...{ method: 'POST', path: '/tasks', tag: 'tasks', permission: 'tasks:write' },
    ...{ facade: true, creates: true, newWork: true, admits: true },
    restrictedAccess: 'list',
    summary: 'Submit a task',
    description:
      'A full queue answers 429 with `Retry-After`; the task is stored as `rejected`, and `details.taskId` is its ' +
      'id. Tasks refused for any other reason are not stored.',
    body: taskInput,
    answers: { 202: taskReceipt },
    refusals: ['QUEUE_FULL', 'BUDGET', 'RUNS_PER_DAY', 'NOT_FOUND'],
    examples: { body: { agentId: 'crawler', action: 'click', tabId: 'tab-1', ref: 'e14', priority: 5 } },
  }).by(({ ctx, ports, caller, body }) => submitTask(ports, { caller, live: ctx.live }, body)),
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
    params: taskParams,
    answers: { 200: task },
    refusals: ['NOT_FOUND'],
  }).by(({ ctx, ports, caller, params }) => getTask({ ...ports, live: ctx.live }, caller.orgId, params.id)),
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
