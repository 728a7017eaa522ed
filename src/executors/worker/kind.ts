import { noOptions, type ExecutorSpec } from '../kind.ts'

/** Workers declare the agents they execute, so there are no options. */
export const WORKER = {
  kind: 'worker',
  about: 'is executed by a worker that claims its runs (`/api/v1/worker/claim`)',
  concept: 'a remote program that [claims](../guides/worker.md) its runs',
  timeoutSeconds: 600,
  isInline: false,
  parse: noOptions,
  console: { name: { en: 'Worker (worker)', zh: '工作进程（worker）' }, fields: [] },
} as const satisfies ExecutorSpec<'worker'>
