import { noOptions, type ExecutorSpec } from '../../../executors/kind.ts'

/** Workers say by themselves what they do. */
export const WORKER = {
  kind: 'worker',
  about: 'is done by whoever claims it (`/api/v1/worker/claim`)',
  concept: 'a program elsewhere that [claims](../guides/worker.md) it',
  timeoutSeconds: 600,
  isInline: false,
  parse: noOptions,
  console: { name: { en: 'A worker claims it (worker)', zh: '由工作进程领取（worker）' }, fields: [] },
} as const satisfies ExecutorSpec<'worker'>
