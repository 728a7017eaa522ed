import type { ExecutorKind } from './kinds.ts'
import { performChat } from './chat/execute.ts'
import { performCommand } from './command/execute.ts'
import { echo } from './echo/execute.ts'
import type { Perform } from './host.ts'
import { performHttp } from './http/execute.ts'
import { performTabAction } from './tab-action/execute.ts'

/** Workers claim their work, and each function of a program is an executor of its own. */
const elsewhere: Perform = () => null

/** How each kind is performed. */
export const PERFORMERS: Readonly<Record<ExecutorKind, Perform>> = {
  echo: () => echo,
  'in-process': elsewhere,
  http: performHttp,
  'tab-action': performTabAction,
  chat: performChat,
  worker: elsewhere,
  command: performCommand,
}
