import { z } from 'zod'
import { EXECUTOR_KINDS, EXECUTORS, INLINE_EXECUTOR_KINDS, parseInlineKind } from '../core/executor/kinds.ts'
import { rule } from './fields.ts'
import { named, type Shape } from './shape.ts'

/** How the work is performed; the options belong to the executor of that kind. */
export const executor = named(
  'Executor',
  z.looseObject({ kind: z.enum(EXECUTOR_KINDS) }),
  'How the work is performed: a kind and its options.',
)
export type ExecutorInput = Shape<typeof executor>

export const executorInput = named(
  'ExecutorInput',
  z.looseObject({ kind: z.enum(EXECUTOR_KINDS) }),
  `${EXECUTORS.map(({ kind, about }) => `\`${kind}\` ${about}`).join('; ')}.`,
)

export const inlineExecutor = named(
  'InlineExecutor',
  z.looseObject({ kind: z.enum(INLINE_EXECUTOR_KINDS).check(rule(parseInlineKind)) }),
  'The executor of a schedule that names no agent.',
)
