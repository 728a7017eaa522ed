import { z } from 'zod'
import { INLINE_EXECUTOR_KINDS } from '../../core/executor/inline-agent.ts'
import { EXECUTOR_KINDS, PRESENT_EXECUTOR_KINDS } from '../../core/run/timeouts.ts'
import type { ExecutorInput } from '../executor.ts'
import { named } from './shaped.ts'

/** How the work is performed; the options belong to the executor of that kind. */
export const executor: z.ZodType<ExecutorInput> = named('Executor', z.looseObject({ kind: z.enum(EXECUTOR_KINDS) }))

export const executorInput: z.ZodType<ExecutorInput> = named(
  'ExecutorInput',
  z.looseObject({ kind: z.enum(PRESENT_EXECUTOR_KINDS) }),
  '`echo` answers with what it was given; `http` calls `url` (with `method`, `headers`, `body`, `async`, `success_when`); `tab-action` acts in a browser tab, as `tasks.executor` says; `chat` asks `model` at `base_url` (with `api_key`, `headers`, `system_prompt`, `temperature`, `max_tokens`, `stream`, `history`, `prices`, `body`); `in-process` is a function of a program that embeds Escapement. The other kinds come later.',
)

export const inlineExecutor: z.ZodType<ExecutorInput> = named(
  'InlineExecutor',
  z.looseObject({ kind: z.enum(INLINE_EXECUTOR_KINDS) }),
  'The executor of a schedule that names no agent.',
)
