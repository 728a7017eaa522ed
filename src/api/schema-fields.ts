import { z } from 'zod'

/** A schema with named fields: a body, or a query. */
export type ObjectSchema = z.ZodObject

/** One field of a schema as plain data, for generated code: options of a command, inputs of a form. */
export interface SchemaField {
  readonly name: string
  readonly kind: 'text' | 'words' | 'whole' | 'number' | 'boolean' | 'time' | 'list' | 'json'
  /** The allowed values of an enum. */
  readonly words: readonly string[]
  readonly min: number | null
  readonly max: number | null
  readonly description: string
}

type JsonSchema = z.core.JSONSchema.BaseSchema

type Described = Omit<SchemaField, 'name'>

/** Cached, because schemas share fields and describing one is slow. */
const FIELD_CACHE = new WeakMap<z.core.$ZodType, Described>()

/** The fields of a schema, in declaration order. */
export const fieldsOf = ({ shape }: ObjectSchema): readonly SchemaField[] =>
  Object.entries<z.core.$ZodType>(shape).map(([name, field]) => {
    const described = FIELD_CACHE.get(field) ?? describe(field)
    FIELD_CACHE.set(field, described)
    return { name, ...described }
  })

function describe(field: z.core.$ZodType): Described {
  const property = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' })
  const choices = choicesOf(property)
  const [first = {}] = choices
  const words = choices.length === 1 ? (first.enum ?? []).filter((word) => typeof word === 'string') : []
  return {
    kind: kindOf(choices),
    words,
    ...boundsOf(first),
    description: property.description ?? first.description ?? '',
  }
}

/** The alternatives of a value, except null. */
const choicesOf = (property: JsonSchema): readonly JsonSchema[] =>
  (property.anyOf ?? [property]).flatMap((one) =>
    one.anyOf === undefined ? (one.type === 'null' ? [] : [one]) : choicesOf(one),
  )

function kindOf(choices: readonly JsonSchema[]): SchemaField['kind'] {
  const [first = {}] = choices
  if (choices.some(({ format }) => format === 'date-time')) return 'time'
  if (choices.length > 1) return 'json'
  if (first.enum !== undefined) return 'words'
  if (first.type === 'array') return isText(first.items) ? 'list' : 'json'
  // A boolean that may be null has both types.
  return FIELD_KINDS[[first.type].flat().find((type) => type !== 'null') ?? ''] ?? 'json'
}

const FIELD_KINDS: Readonly<Partial<Record<string, SchemaField['kind']>>> = {
  string: 'text',
  integer: 'whole',
  number: 'number',
  boolean: 'boolean',
}

const isText = (items: JsonSchema['items']): boolean =>
  typeof items === 'object' && !Array.isArray(items) && choicesOf(items).some(({ type }) => type === 'string')

/** The bounds of a number; the bounds of all safe integers count as none. */
function boundsOf({ minimum = -Infinity, maximum = Infinity }: JsonSchema): Pick<SchemaField, 'min' | 'max'> {
  return {
    min: minimum <= Number.MIN_SAFE_INTEGER ? null : minimum,
    max: maximum >= Number.MAX_SAFE_INTEGER ? null : maximum,
  }
}
