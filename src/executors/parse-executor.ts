import { flawed, parsed, parseWord, type Parsed } from '../domain/input.ts'
import { parseJson, parseObject } from '../domain/input-fields.ts'
import { secretNamesIn } from '../domain/secret/secret-names.ts'
import { EXECUTOR_KINDS, INLINE_EXECUTOR_KINDS, SPEC_OF, type ExecutorKind } from './kinds.ts'
import { restoreMaskedExecutor, type RestoreScope } from '../domain/secret/mask.ts'

/** A stored executor: its kind and the options of that kind with their defaults. */
export interface ExecutorOptions {
  readonly kind: ExecutorKind
  readonly [option: string]: unknown
}

/** The executor that is replaced, and where its masked values may be restored. */
interface ReplacedExecutor {
  readonly executor: unknown
  readonly reach: RestoreScope
}

/** Reads an executor. Options are parsed by their kind; masked values are restored from the replaced executor. */
export function parseExecutor(
  field: string,
  value: unknown,
  before: ReplacedExecutor | null = null,
): Parsed<ExecutorOptions> {
  const object = parseObject(
    field,
    before === null ? value : restoreMaskedExecutor(value, before.executor, before.reach),
  )
  if (!object.ok) return object
  const kind = parseWord(`${field}.kind`, object.value['kind'], EXECUTOR_KINDS)
  if (!kind.ok) return kind
  const stored = parseJson(field, { ...object.value, kind: kind.value })
  if (!stored.ok) return stored
  const read = SPEC_OF[kind.value].parse(field, stored.value as ExecutorOptions)
  return read.ok ? parsed({ ...(read.value as ExecutorOptions) }) : read
}

/** Reads an inline executor of a schedule. */
export function parseInlineExecutor(
  field: string,
  value: unknown,
  before: ReplacedExecutor | null = null,
): Parsed<ExecutorOptions> {
  const read = parseExecutor(field, value, before)
  if (!read.ok) return read
  const [secret] = secretNamesIn(read.value)
  if (secret !== undefined)
    return flawed({
      field,
      value: undefined,
      message: `references secret ${secret}; only agents may reference secrets`,
    })
  const { kind } = read.value
  if (INLINE_EXECUTOR_KINDS.some((inline) => inline === kind)) return read
  const allowed = INLINE_EXECUTOR_KINDS.join(', ')
  return flawed({ field: `${field}.kind`, value: kind, message: 'can only be used by an agent', allowed })
}
