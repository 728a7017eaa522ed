import { anyOptions, type ExecutorSpec } from '../kind.ts'

export const ECHO = {
  kind: 'echo',
  about: 'answers with what it was given',
  concept: 'answers with what it was given; for trying things out',
  timeoutSeconds: 10,
  isInline: true,
  parse: anyOptions,
  takesAny: true,
  console: { name: { en: 'Answers with what it was given (echo)', zh: '原样回答（echo）' }, fields: [] },
} as const satisfies ExecutorSpec<'echo'>
