import type { ExecutorKind } from '../../src/core/run/timeouts.ts'
import { chatStage } from './chat-stage.ts'
import { echoStage, httpStage, inProcessStage, tabStage } from './stages.ts'
import { describeExecutor } from './suite.ts'
import { workerStage } from './worker-stage.ts'

/** Every kind keeps the same promises; the list is what one cannot do at all. */
const SUITES: Readonly<Record<ExecutorKind, (() => void) | null>> = {
  'in-process': () => describeExecutor('in-process', inProcessStage, ['flood', 'garble', 'break']),
  http: () => describeExecutor('http', httpStage),
  'tab-action': () => describeExecutor('tab-action', tabStage, ['use']),
  chat: () => describeExecutor('chat', chatStage),
  worker: () => describeExecutor('worker', workerStage, ['break']),
  echo: () => describeExecutor('echo', echoStage, ['fail', 'use', 'hang', 'flood', 'garble', 'break']),
  // What a program does is no answer of a peer: command.test.ts starts real ones.
  command: null,
}

for (const suite of Object.values(SUITES)) suite?.()
