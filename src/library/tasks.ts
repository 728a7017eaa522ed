import { Refusal } from '../contract/refusals.ts'
import type { Escapement } from '../escapement.ts'
import { cancelRunById } from '../service/run-actions.ts'
import { findTasks, getTask } from '../service/tasks-view.ts'
import { submitTask, submitTasks } from '../service/tasks.ts'
import type { Running } from './running.ts'

/** Tasks, in the words of the façade. */
export function tasksOf(running: () => Running): Escapement['tasks'] {
  const admitted = (): Running => {
    const now = running()
    now.refuseWhileDraining()
    return now
  }
  return {
    submit: async (input, options = {}) => {
      const { app, orgId } = admitted()
      return submitTask(app.ports, { orgId, live: app.live, once: options.idempotencyKey }, input)
    },
    batch: async (inputs) => {
      const { app, orgId } = admitted()
      return submitTasks(app.ports, { orgId, live: app.live }, inputs)
    },
    get: async (id) => getTask(running().app.ports, running().orgId, id),
    list: async (filter) => findTasks(running().app.ports, running().orgId, filter),
    cancel: async (id) => {
      const { app, orgId, caller } = running()
      await getTask(app.ports, orgId, id)
      try {
        await cancelRunById(app.ports, caller, id)
      } catch (error) {
        if (error instanceof Refusal && error.code === 'ALREADY_ENDED')
          throw new Refusal('CONFLICT', `Task ${id} has already ended`, { runId: id, cause: error })
        throw error
      }
      return { status: 'cancelled', taskId: id }
    },
  }
}
