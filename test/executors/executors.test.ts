import { expect, it } from 'vitest'
import { EXECUTOR_KINDS, type ExecutorKind } from '../../src/executors/kinds.ts'
import { attemptEndsBy } from '../../src/domain/run/timeouts.ts'
import { NOW } from '../support/builders.ts'
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

it('gives an attempt the time that is usual for its kind when nobody has said', () => {
  const unlimited = { timeoutSeconds: null, trigger: 'schedule', deadline: null, maxTimeoutSeconds: null } as const
  const defaults = EXECUTOR_KINDS.map((executor) => [
    executor,
    (attemptEndsBy(NOW, { ...unlimited, executor }) - NOW) / 1000,
  ])
  expect(Object.fromEntries(defaults)).toEqual({
    http: 10,
    'tab-action': 10,
    chat: 600,
    worker: 600,
    'in-process': 600,
    command: 60,
    echo: 10,
  })
})
