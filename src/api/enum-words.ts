/** The subset of JSON Schema that the API schemas use. */
export interface DescribedShape {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, DescribedShape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: DescribedShape | boolean
  readonly items?: DescribedShape
  readonly anyOf?: readonly DescribedShape[]
  readonly oneOf?: readonly DescribedShape[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

/** One field of a shape, as text. */
export interface FieldDescription {
  readonly name: string
  readonly required: boolean
  readonly type: string
  /** Empty if the field has no description. */
  readonly description: string
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

/** Describes the values that a shape allows. Named shapes appear as their name in brackets: `[Run]`. */
export function describeType(shape: DescribedShape): string {
  if (shape.$ref !== undefined) return `[${nameOf(shape.$ref)}]`
  const choices = shape.anyOf ?? shape.oneOf
  if (choices !== undefined) return describeChoices(choices)
  const { type } = shape
  if (typeof type === 'object') return describeChoices(type.map((one) => ({ ...shape, type: one })))
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (shape.enum !== undefined) return shape.enum.map((word) => JSON.stringify(word)).join(' or ')
  switch (type ?? 'anything') {
    case 'string':
      return shape.format === 'date-time'
        ? 'time'
        : `text${describeBounds(shape.minLength, shape.maxLength, ' characters')}`
    case 'integer':
      return `whole number${describeBounds(shape.minimum, shape.maximum, '')}`
    case 'number':
      return `number${describeNumberBounds(shape)}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    case 'array':
      return `list of ${describeType(shape.items ?? {})}${describeBounds(shape.minItems, shape.maxItems, ' items')}`
    case 'object':
      return describeObject(shape)
    default:
      return 'anything'
  }
}

function describeChoices(choices: readonly DescribedShape[]): string {
  return [...new Set(choices.map(describeType))].join(' or ')
}

function describeObject({ properties, required = [], additionalProperties }: DescribedShape): string {
  const fields = Object.entries(properties ?? {})
  if (fields.length > 0)
    return `{ ${fields.map(([name, shape]) => `${name}${required.includes(name) ? '' : '?'}: ${describeType(shape)}`).join(', ')} }`
  return typeof additionalProperties === 'object' ? `object of ${describeType(additionalProperties)}` : 'object'
}

/** Zod adds these bounds to every integer, so they are not shown. */
const INTEGER_BOUND = Number.MAX_SAFE_INTEGER

function describeBounds(min: number | undefined, max: number | undefined, unit: string): string {
  const low = min === undefined || min <= -INTEGER_BOUND ? undefined : min
  const high = max === undefined || max >= INTEGER_BOUND ? undefined : max
  if (low === undefined && high === undefined) return ''
  if (high === undefined) return ` from ${low}${unit}`
  return low === undefined ? ` up to ${high}${unit}` : ` ${low} to ${high}${unit}`
}

function describeNumberBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: DescribedShape): string {
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`
  const words = describeBounds(minimum, maximum, '')
  return exclusiveMaximum === undefined ? words : `${words}, below ${exclusiveMaximum}`
}

/** The fields of a shape as text; empty if it has no fields of its own. */
export function describeFields({ properties = {}, required = [] }: DescribedShape): readonly FieldDescription[] {
  return Object.entries(properties).map(([name, shape]) => ({
    name,
    required: required.includes(name),
    type: describeType(shape),
    description: shape.description ?? '',
  }))
}
