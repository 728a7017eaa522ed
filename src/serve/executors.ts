import type { ExecutorHost } from '../executors/host.ts'
import type { Configuration } from './configuration.ts'

/** What the operator's file lets agents start, and where it says that browser tabs are. */
export const hostedBy = ({ keeper }: Configuration): Pick<ExecutorHost, 'commands' | 'tabs'> => ({
  commands: () => keeper.current().config.executors.command,
  tabs:
    keeper.current().config.tasks.executor.kind === 'none'
      ? null
      : () => {
          const { instances, manager_url: managerUrl, token } = keeper.current().config.tasks.executor
          return { instances, managerUrl, token }
        },
})
