import { schemaReader } from '../contract/read-input.ts'
import { taskBatchInput, taskFilter, taskInput } from '../contract/task.ts'
import type { Escapement } from '../escapement.ts'
import { onceOf } from '../service/messages.ts'
import { submitBatch } from '../service/task-batch.ts'
import { readTaskStats } from '../service/task-stats.ts'
import { findTasks, getTask } from '../service/tasks-view.ts'
import { cancelTask, submitTask, type TaskContext } from '../service/tasks.ts'
import type { Running } from './running.ts'

const readTask = schemaReader(taskInput)
const readTasks = schemaReader(taskBatchInput.shape.tasks)
const readFilter = schemaReader(taskFilter)

/** Tasks, in the words of the façade. */
export function tasksOf(running: () => Running): Escapement['tasks'] {
  const admitted = (once?: TaskContext['caller']['once']): readonly [Running['app']['ports'], TaskContext] => {
    const { app, admitting, refuseWhileDraining } = running()
    refuseWhileDraining()
    return [app.ports, { caller: once === undefined ? admitting() : { ...admitting(), once }, live: app.live }]
  }
  return {
    submit: async (input, { idempotencyKey: key } = {}) =>
      submitTask(...admitted(key === undefined ? undefined : onceOf('task', { key, body: input })), readTask(input)),
    batch: async (inputs) => submitBatch(...admitted(), { tasks: readTasks(inputs) }),
    get: async (id) => getTask(running().app.ports, running().orgId, id),
    list: async (filter) =>
      (await findTasks(running().app.ports, { orgId: running().orgId }, readFilter(filter ?? {}))).tasks,
    cancel: async (id) => cancelTask(running().app.ports, running().caller, id),
    stats: async () => readTaskStats({ ...running().app.ports, work: running().app.work }, running().caller),
  }
}
