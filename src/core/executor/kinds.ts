import { flawed, parsed, parseWord, type Parsed } from '../input.ts'
import type { ExecutorSpec } from './kind.ts'
import { CHAT } from './kinds/chat.ts'
import { COMMAND } from './kinds/command.ts'
import { ECHO } from './kinds/echo.ts'
import { HTTP } from './kinds/http.ts'
import { IN_PROCESS } from './kinds/in-process.ts'
import { TAB_ACTION } from './kinds/tab-action.ts'
import { WORKER } from './kinds/worker.ts'

const KNOWN = [ECHO, IN_PROCESS, HTTP, TAB_ACTION, CHAT, WORKER, COMMAND] as const

/** What is known of the kinds, exactly: the types of their options come from it. */
export type KnownExecutor = (typeof KNOWN)[number]

export type ExecutorKind = KnownExecutor['kind']

/** Every way in which work can be performed. */
export const EXECUTORS: readonly ExecutorSpec<ExecutorKind>[] = KNOWN
export const EXECUTOR_KINDS: readonly ExecutorKind[] = EXECUTORS.map(({ kind }) => kind)

export type InlineKind = Extract<KnownExecutor, { readonly isInline: true }>['kind']

/** The kinds a schedule may bring with it instead of naming an agent. */
export const INLINE_EXECUTOR_KINDS = EXECUTORS.filter(({ isInline }) => isInline).map(
  ({ kind }) => kind,
) as readonly InlineKind[]

/** Reads the kind of an executor that a schedule brings with it. */
export function parseInlineKind(field: string, value: unknown): Parsed<InlineKind> {
  const word = parseWord(field, value, EXECUTOR_KINDS)
  if (!word.ok) return word
  const kind = INLINE_EXECUTOR_KINDS.find((one) => one === word.value)
  if (kind !== undefined) return parsed(kind)
  return flawed({ field, value: word.value, message: 'belongs to an agent', allowed: INLINE_EXECUTOR_KINDS.join(', ') })
}

/** What is known of each kind. */
export const SPEC_OF = Object.fromEntries(EXECUTORS.map((spec) => [spec.kind, spec])) as Readonly<
  Record<ExecutorKind, ExecutorSpec<ExecutorKind>>
>
