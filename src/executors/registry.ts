import type { ExecutorKind } from './kinds.ts'
import { createChatExecutorFor } from './chat/execute.ts'
import { createCommandExecutorFor } from './command/execute.ts'
import { echo } from './echo/execute.ts'
import type { CreateExecutor } from './host.ts'
import { createHttpExecutorFor } from './http/execute.ts'
import { createTabActionFor } from './tab-action/execute.ts'

/** Workers claim their runs, and in-process functions are registered individually. */
const notExecutedHere: CreateExecutor = () => null

/** The implementation of each kind. */
export const EXECUTOR_FACTORIES: Readonly<Record<ExecutorKind, CreateExecutor>> = {
  echo: () => echo,
  'in-process': notExecutedHere,
  http: createHttpExecutorFor,
  'tab-action': createTabActionFor,
  chat: createChatExecutorFor,
  worker: notExecutedHere,
  command: createCommandExecutorFor,
}
