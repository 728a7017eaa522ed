import { z } from 'zod'
import type { ExecutorSpec, OptionShape } from './kind.ts'
import { EXECUTOR_KINDS, EXECUTORS, type ExecutorKind, type InlineKind, type KnownExecutor } from './kinds.ts'
import { withoutHidden } from '../core/executor/masked.ts'
import { parseExecutor, parseInlineExecutor } from './parse-executor.ts'
import type { Parsed } from '../domain/input.ts'
import { anyJson, anyObject } from '../api/common.ts'
import { rule } from '../api/fields.ts'
import { named } from '../contract/shape.ts'

interface ValueOf {
  readonly code: string
  readonly area: string
  readonly number: number
  readonly flag: boolean
  readonly choice: string
  readonly list: readonly string[]
  readonly pairs: Readonly<Record<string, string>>
  readonly json: unknown
}

type OptionOf<Spec extends KnownExecutor> = Spec['console']['fields'][number]
type Value<Option extends OptionShape> = Option extends { readonly choices: readonly (infer Word)[] }
  ? Word
  : ValueOf[Option['input']]

/** What one kind takes. */
type GivenKind<Spec extends KnownExecutor> = Spec extends { readonly takesAny: true }
  ? { readonly kind: Spec['kind']; readonly [option: string]: unknown }
  : { readonly kind: Spec['kind'] } & {
      readonly [Option in Extract<OptionOf<Spec>, { readonly isRequired: true }> as Option['name']]: Value<Option>
    } & {
      readonly [Option in Exclude<OptionOf<Spec>, { readonly isRequired: true }> as Option['name']]?:
        Value<Option> | null | undefined
    }

/** An executor as it is given: a kind and its options. */
export type ExecutorInput = { [Spec in KnownExecutor as Spec['kind']]: GivenKind<Spec> }[ExecutorKind]

/** How the work is performed; the options belong to the executor of that kind. */
export const executor = named(
  'Executor',
  z.looseObject({ kind: z.enum(EXECUTOR_KINDS) }) as unknown as z.ZodType<ExecutorInput>,
  'How the work is performed: a kind and its options.',
)

type Bounded<Schema> = { readonly min: (least: number) => Schema; readonly max: (most: number) => Schema }

function within<Schema extends Bounded<Schema>>(
  schema: Schema,
  { min, max }: Pick<OptionShape, 'min' | 'max'>,
): Schema {
  const above = min === undefined ? schema : schema.min(min)
  return max === undefined ? above : above.max(max)
}

function valuesOf(option: Omit<OptionShape, 'name'>): z.ZodType {
  switch (option.input) {
    case 'code':
    case 'area':
      return within(z.string(), option)
    case 'number':
      return option.isWhole === true ? within(z.int(), option) : within(z.number(), option)
    case 'flag':
      return z.boolean()
    case 'choice':
      return z.enum(option.choices ?? [])
    case 'list':
      return within(z.array(valuesOf(option.each ?? { input: 'code' })), option)
    case 'pairs':
      return z.record(z.string(), z.string())
    case 'json':
      if (option.fields === undefined) return anyJson
      return option.fields === 'any' ? anyObject : z.strictObject(shapeOf(option.fields, (values) => values.optional()))
  }
}

const shapeOf = (
  options: readonly OptionShape[],
  optional: (values: z.ZodType) => z.ZodType,
): Readonly<Record<string, z.ZodType>> =>
  Object.fromEntries(
    options.map((option) => {
      const values = valuesOf(option)
      if (option.isRequired === true) return [option.name, values]
      // Any JSON may be null already.
      return [option.name, values === anyJson ? values.optional() : optional(values)]
    }),
  )

/** The kind and its options, as its table has them. */
function kindShape({ kind, takesAny, console }: ExecutorSpec<ExecutorKind>) {
  const shape = { kind: z.literal(kind), ...shapeOf(console.fields, (values) => values.nullish()) }
  return takesAny === true ? z.looseObject(shape) : z.strictObject(shape)
}

/**
 * One of several kinds. What is wrong is said by the parser of the kind; a header that is shown hidden may come back so,
 * because only what is stored can tell whether it stays.
 */
function oneOf<Given extends ExecutorInput>(
  specs: readonly ExecutorSpec<ExecutorKind>[],
  parse: (field: string, value: unknown) => Parsed<unknown>,
): z.ZodType<Given> {
  const [first, ...others] = specs.map(kindShape)
  if (first === undefined) throw new Error('no kind of executor')
  const union = z.discriminatedUnion('kind', [first, ...others])
  // The shapes and the types come from the same tables.
  return union.check(rule((field, value) => parse(field, withoutHidden(value)))) as unknown as z.ZodType<Given>
}

export const executorInput = named(
  'ExecutorInput',
  oneOf<ExecutorInput>(EXECUTORS, parseExecutor),
  `${EXECUTORS.map(({ kind, about }) => `\`${kind}\` ${about}`).join('; ')}.`,
)

export const inlineExecutor = named(
  'InlineExecutor',
  oneOf<Extract<ExecutorInput, { readonly kind: InlineKind }>>(
    EXECUTORS.filter(({ isInline }) => isInline),
    parseInlineExecutor,
  ),
  'The executor of a schedule that names no agent.',
)
