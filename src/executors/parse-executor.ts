import { flawed, parsed, parseWord, type Parsed } from '../domain/input.ts'
import { parseJson, parseObject } from '../domain/input-fields.ts'
import { secretNamesIn } from '../core/secret/secret-names.ts'
import { EXECUTOR_KINDS, INLINE_EXECUTOR_KINDS, SPEC_OF, type ExecutorKind } from './kinds.ts'
import { unmaskedExecutor, type Reach } from '../core/executor/masked.ts'

/** An executor as it is kept: the kind, and the options of that kind with their defaults. */
export interface ExecutorOptions {
  readonly kind: ExecutorKind
  readonly [option: string]: unknown
}

/** What an executor replaces, and how far its hidden values may go with it. */
interface Before {
  readonly executor: unknown
  readonly reach: Reach
}

/** Reads how work is performed. Options belong to their kind, which reads them; hidden values are those from before. */
export function parseExecutor(field: string, value: unknown, before: Before | null = null): Parsed<ExecutorOptions> {
  const object = parseObject(field, before === null ? value : unmaskedExecutor(value, before.executor, before.reach))
  if (!object.ok) return object
  const kind = parseWord(`${field}.kind`, object.value['kind'], EXECUTOR_KINDS)
  if (!kind.ok) return kind
  const stored = parseJson(field, { ...object.value, kind: kind.value })
  if (!stored.ok) return stored
  const read = SPEC_OF[kind.value].parse(field, stored.value as ExecutorOptions)
  return read.ok ? parsed({ ...(read.value as ExecutorOptions) }) : read
}

/** Reads the executor of a schedule that names no agent. */
export function parseInlineExecutor(
  field: string,
  value: unknown,
  before: Before | null = null,
): Parsed<ExecutorOptions> {
  const read = parseExecutor(field, value, before)
  if (!read.ok) return read
  const [secret] = secretNamesIn(read.value)
  if (secret !== undefined)
    return flawed({ field, value: undefined, message: `names secret ${secret}; only agents may name secrets` })
  const { kind } = read.value
  if (INLINE_EXECUTOR_KINDS.some((inline) => inline === kind)) return read
  const allowed = INLINE_EXECUTOR_KINDS.join(', ')
  return flawed({ field: `${field}.kind`, value: kind, message: 'belongs to an agent', allowed })
}
