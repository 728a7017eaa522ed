import { anyOptions, type ExecutorSpec } from '../kind.ts'

export const ECHO = {
  kind: 'echo',
  about: 'returns its input',
  concept: 'returns its input; for trying things out',
  timeoutSeconds: 10,
  isInline: true,
  parse: anyOptions,
  takesAny: true,
  console: { name: { en: 'Echo (echo)', zh: '原样返回（echo）' }, fields: [] },
} as const satisfies ExecutorSpec<'echo'>
