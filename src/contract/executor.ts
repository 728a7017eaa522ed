import { z } from 'zod'
import { INLINE_EXECUTOR_KINDS } from '../core/executor/inline-agent.ts'
import { EXECUTOR_KINDS } from '../core/run/timeouts.ts'
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
  '`echo` answers with what it was given; `http` calls `url` (with `method`, `headers`, `body`, `async`, `success_when`); `tab-action` acts in a browser tab, as `tasks.executor` says; `chat` asks `model` at `base_url` (with `api_key`, `headers`, `system_prompt`, `temperature`, `max_tokens`, `stream`, `history`, `prices`, `body`); `worker` is done by whoever claims it (`/api/v1/worker/claim`); `command` starts `program` (with `args`, `cwd`, `env`, `stdin`, `output_bytes`) where the operator lists it; `in-process` is a function of a program that embeds Escapement.',
)

export const inlineExecutor = named(
  'InlineExecutor',
  z.looseObject({ kind: z.enum(INLINE_EXECUTOR_KINDS) }),
  'The executor of a schedule that names no agent.',
)
