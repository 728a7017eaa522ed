import { anyOptions, type ExecutorSpec } from '../kind.ts'

export const IN_PROCESS = {
  kind: 'in-process',
  about: 'is a function of a program that embeds Escapement',
  concept: 'a function of a program that [embeds](../guides/embed.md) Escapement',
  timeoutSeconds: 600,
  isInline: false,
  parse: anyOptions,
  takesAny: true,
  console: {
    name: { en: 'Function of the embedding program (in-process)', zh: '嵌入程序中的函数（in-process）' },
    fields: [],
  },
} as const satisfies ExecutorSpec<'in-process'>
