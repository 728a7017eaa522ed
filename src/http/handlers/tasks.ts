import type { taskOperations } from '../../contract/operations/tasks.ts'
import { submitBatch } from '../../service/task-batch.ts'
import { readTaskStats } from '../../service/task-stats.ts'
import { cancelTask, submitTask } from '../../service/tasks.ts'
import { findTasks, getTask } from '../../service/tasks-view.ts'
import type { HandlersOf } from '../call.ts'

/** Tasks, in the words of the façade. */
export const taskHandlers: HandlersOf<typeof taskOperations> = {
  'tasks.submit': ({ ctx, ports, caller, body }) => submitTask(ports, { caller, live: ctx.live }, body),
  'tasks.batch': async ({ ctx, ports, caller, body }) => {
    const outcomes = await submitBatch(ports, { caller, live: ctx.live }, body)
    return { tasks: outcomes, submitted: outcomes.length }
  },
  'tasks.list': ({ ports, caller, query }) => findTasks(ports, caller, query),
  'tasks.get': ({ ports, caller, params }) => getTask(ports, caller.orgId, params.id),
  'tasks.cancel': ({ ports, caller, params }) => cancelTask(ports, caller, params.id),
  'tasks.stats': ({ ctx, ports, caller }) => readTaskStats({ ...ports, work: ctx.work }, caller),
}
