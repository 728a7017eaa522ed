import { z } from 'zod'
import type { ExecutorSpec, OptionShape } from './kind.ts'
import { EXECUTOR_KINDS, EXECUTORS, type ExecutorKind, type InlineKind, type KnownExecutor } from './kinds.ts'
import { withoutMasked } from '../domain/secret/mask.ts'
import { parseExecutor, parseInlineExecutor } from './parse-executor.ts'
import type { Parsed } from '../domain/input.ts'
import { anyJson, anyObject } from '../api/common.ts'
import { named, rule } from '../api/fields.ts'

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
type OptionValue<Option extends OptionShape> = Option extends { readonly choices: readonly (infer Word)[] }
  ? Word
  : ValueOf[Option['input']]

/** The input type of one kind. */
type GivenKind<Spec extends KnownExecutor> = Spec extends { readonly takesAny: true }
  ? { readonly kind: Spec['kind']; readonly [option: string]: unknown }
  : { readonly kind: Spec['kind'] } & {
      readonly [Option in Extract<OptionOf<Spec>, { readonly isRequired: true }> as Option['name']]: OptionValue<Option>
    } & {
      readonly [Option in Exclude<OptionOf<Spec>, { readonly isRequired: true }> as Option['name']]?:
        OptionValue<Option> | null | undefined
    }

/** An executor in a request: a kind and its options. */
export type ExecutorInput = { [Spec in KnownExecutor as Spec['kind']]: GivenKind<Spec> }[ExecutorKind]

/** An executor in responses; its options depend on the kind. */
export const executor = named(
  'Executor',
  z.looseObject({ kind: z.enum(EXECUTOR_KINDS) }) as unknown as z.ZodType<ExecutorInput>,
  'The executor: a kind and its options.',
)

type BoundedSchema<Schema> = { readonly min: (least: number) => Schema; readonly max: (most: number) => Schema }

function withBounds<Schema extends BoundedSchema<Schema>>(
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
      return withBounds(z.string(), option)
    case 'number':
      return option.isWhole === true ? withBounds(z.int(), option) : withBounds(z.number(), option)
    case 'flag':
      return z.boolean()
    case 'choice':
      return z.enum(option.choices ?? [])
    case 'list':
      return withBounds(z.array(valuesOf(option.each ?? { input: 'code' })), option)
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
      // Any JSON includes null.
      return [option.name, values === anyJson ? values.optional() : optional(values)]
    }),
  )

/** The schema of a kind from its table. */
function kindShape({ kind, takesAny, console }: ExecutorSpec<ExecutorKind>) {
  const shape = { kind: z.literal(kind), ...shapeOf(console.fields, (values) => values.nullish()) }
  return takesAny === true ? z.looseObject(shape) : z.strictObject(shape)
}

/**
 * A union of kinds. Flaws are reported by the parser of the kind; masked headers are accepted, because only the
 * stored executor decides whether they can be restored.
 */
function oneOf<Given extends ExecutorInput>(
  specs: readonly ExecutorSpec<ExecutorKind>[],
  parse: (field: string, value: unknown) => Parsed<unknown>,
): z.ZodType<Given> {
  const [first, ...others] = specs.map(kindShape)
  if (first === undefined) throw new Error('no kind of executor')
  const union = z.discriminatedUnion('kind', [first, ...others])
  // The schemas and the types come from the same tables.
  return union.check(rule((field, value) => parse(field, withoutMasked(value)))) as unknown as z.ZodType<Given>
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
