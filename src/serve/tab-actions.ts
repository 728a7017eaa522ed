import type { App } from '../app.ts'
import { createTabAction } from '../executors/tab-action/execute.ts'
import { createInstanceFinder } from '../executors/tab-action/instances.ts'
import { TASK_EXECUTOR } from '../service/turn/recall.ts'
import type { Configuration } from './configuration.ts'

/** Lets the node perform tasks in browser tabs, as `tasks.executor` says. */
export function addTabActions({ parts, outbound }: App, { keeper }: Configuration): void {
  if (keeper.current().config.tasks.executor.kind === 'none') return
  parts.ctx.executors.set(
    TASK_EXECUTOR,
    createTabAction({
      send: outbound.send,
      find: createInstanceFinder(outbound.send, () => performance.now()),
      place: () => {
        const { instances, manager_url: managerUrl, token } = keeper.current().config.tasks.executor
        return { instances, managerUrl, token }
      },
    }),
  )
}
