import type { ExecutorKind } from './kinds.ts'
import { createChatExecutorFor } from './chat/execute.ts'
import { createCommandExecutorFor } from './command/execute.ts'
import type { Executor } from './executor.ts'
import type { CreateExecutor } from './host.ts'
import { createHttpExecutorFor } from './http/execute.ts'
import { createTabActionFor } from './tab-action/execute.ts'

/** Returns its input. For trying things out: it works offline, costs nothing and never fails. */
export const echo: Executor = (attempt, { signal }) =>
  Promise.resolve(
    signal.aborted
      ? { outcome: { kind: 'stopped' } }
      : { outcome: { kind: 'succeeded' }, output: textOf(attempt.payload) },
  )

function textOf(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null) return payload
  if ('prompt' in payload) return payload.prompt
  return 'text' in payload ? payload.text : payload
}

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
