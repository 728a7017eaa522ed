import { flawed, parsed, parseWord, type Parsed } from '../domain/input.ts'
import type { ExecutorSpec } from './kind.ts'
import { CHAT } from './chat/kind.ts'
import { COMMAND } from './command/kind.ts'
import { ECHO } from './echo/kind.ts'
import { HTTP } from './http/kind.ts'
import { IN_PROCESS } from './in-process/kind.ts'
import { TAB_ACTION } from './tab-action/kind.ts'
import { WORKER } from './worker/kind.ts'

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
