import { flawed, parsed, parseWord, type Parsed } from '../domain/input.ts'
import { anyOptions, noOptions, type ExecutorSpec } from './kind.ts'
import { CHAT } from './chat/kind.ts'
import { COMMAND } from './command/kind.ts'
import { HTTP } from './http/kind.ts'

const ECHO = {
  kind: 'echo',
  about: 'returns its input',
  concept: 'returns its input; for trying things out',
  timeoutSeconds: 10,
  isInline: true,
  parse: anyOptions,
  takesAny: true,
  console: { name: { en: 'Echo (echo)', zh: '原样返回（echo）' }, fields: [] },
} as const satisfies ExecutorSpec<'echo'>

const IN_PROCESS = {
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

/** Only the operator configures browser instances, so an agent has no options. */
const TAB_ACTION = {
  kind: 'tab-action',
  about: 'acts in a browser tab, as configured in `tasks.executor`',
  concept: 'a browser tab; the operator configures the browsers',
  timeoutSeconds: 10,
  isInline: true,
  parse: noOptions,
  console: {
    name: { en: 'Browser tab (tab-action)', zh: '浏览器标签页（tab-action）' },
    fields: [],
  },
} as const satisfies ExecutorSpec<'tab-action'>

/** Workers declare the agents they execute, so there are no options. */
const WORKER = {
  kind: 'worker',
  about: 'is executed by a worker that claims its runs (`/api/v1/worker/claim`)',
  concept: 'a remote program that [claims](../guides/worker.md) its runs',
  timeoutSeconds: 600,
  isInline: false,
  parse: noOptions,
  console: { name: { en: 'Worker (worker)', zh: '工作进程（worker）' }, fields: [] },
} as const satisfies ExecutorSpec<'worker'>

const EXECUTOR_SPECS = [ECHO, IN_PROCESS, HTTP, TAB_ACTION, CHAT, WORKER, COMMAND] as const

/** The exact types of the kinds, from which the types of their options are derived. */
export type KnownExecutor = (typeof EXECUTOR_SPECS)[number]

export type ExecutorKind = KnownExecutor['kind']

/** All executor kinds. */
export const EXECUTORS: readonly ExecutorSpec<ExecutorKind>[] = EXECUTOR_SPECS
export const EXECUTOR_KINDS: readonly ExecutorKind[] = EXECUTORS.map(({ kind }) => kind)

export type InlineKind = Extract<KnownExecutor, { readonly isInline: true }>['kind']

/** The kinds that a schedule may define inline instead of naming an agent. */
export const INLINE_EXECUTOR_KINDS = EXECUTORS.filter(({ isInline }) => isInline).map(
  ({ kind }) => kind,
) as readonly InlineKind[]

/** Reads the kind of an inline executor. */
export function parseInlineKind(field: string, value: unknown): Parsed<InlineKind> {
  const word = parseWord(field, value, EXECUTOR_KINDS)
  if (!word.ok) return word
  const kind = INLINE_EXECUTOR_KINDS.find((one) => one === word.value)
  if (kind !== undefined) return parsed(kind)
  return flawed({
    field,
    value: word.value,
    message: 'can only be used by an agent',
    allowed: INLINE_EXECUTOR_KINDS.join(', '),
  })
}

/** The description of each kind. */
export const SPEC_OF = Object.fromEntries(EXECUTORS.map((spec) => [spec.kind, spec])) as Readonly<
  Record<ExecutorKind, ExecutorSpec<ExecutorKind>>
>
