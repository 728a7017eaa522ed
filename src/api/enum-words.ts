/** As much of JSON Schema as our shapes use. */
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

/** One field of a shape, in words. */
export interface FieldWords {
  readonly name: string
  readonly required: boolean
  readonly type: string
  /** What it is for; empty where its name says so. */
  readonly description: string
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

/** Says what a shape lets through, for people. Shapes with a name of their own are called by it, in brackets: `[Run]`. */
export function typeWords(shape: DescribedShape): string {
  if (shape.$ref !== undefined) return `[${nameOf(shape.$ref)}]`
  const choices = shape.anyOf ?? shape.oneOf
  if (choices !== undefined) return choiceWords(choices)
  const { type } = shape
  if (typeof type === 'object') return choiceWords(type.map((one) => ({ ...shape, type: one })))
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (shape.enum !== undefined) return shape.enum.map((word) => JSON.stringify(word)).join(' or ')
  switch (type ?? 'anything') {
    case 'string':
      return shape.format === 'date-time' ? 'moment' : `text${bounds(shape.minLength, shape.maxLength, ' characters')}`
    case 'integer':
      return `whole number${bounds(shape.minimum, shape.maximum, '')}`
    case 'number':
      return `number${numberBounds(shape)}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    case 'array':
      return `list of ${typeWords(shape.items ?? {})}${bounds(shape.minItems, shape.maxItems, ' items')}`
    case 'object':
      return objectWords(shape)
    default:
      return 'anything'
  }
}

function choiceWords(choices: readonly DescribedShape[]): string {
  return [...new Set(choices.map(typeWords))].join(' or ')
}

function objectWords({ properties, required = [], additionalProperties }: DescribedShape): string {
  const fields = Object.entries(properties ?? {})
  if (fields.length > 0)
    return `{ ${fields.map(([name, shape]) => `${name}${required.includes(name) ? '' : '?'}: ${typeWords(shape)}`).join(', ')} }`
  return typeof additionalProperties === 'object' ? `object of ${typeWords(additionalProperties)}` : 'object'
}

/** Beyond these a bound is a limit of numbers, not of ours. */
const FARTHEST = Number.MAX_SAFE_INTEGER

function bounds(least: number | undefined, most: number | undefined, unit: string): string {
  const low = least === undefined || least <= -FARTHEST ? undefined : least
  const high = most === undefined || most >= FARTHEST ? undefined : most
  if (low === undefined && high === undefined) return ''
  if (high === undefined) return ` from ${low}${unit}`
  return low === undefined ? ` up to ${high}${unit}` : ` ${low} to ${high}${unit}`
}

function numberBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: DescribedShape): string {
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`
  const words = bounds(minimum, maximum, '')
  return exclusiveMaximum === undefined ? words : `${words}, below ${exclusiveMaximum}`
}

/** The fields of a shape in words; none when it has no fields of its own. */
export function fieldWords({ properties = {}, required = [] }: DescribedShape): readonly FieldWords[] {
  return Object.entries(properties).map(([name, shape]) => ({
    name,
    required: required.includes(name),
    type: typeWords(shape),
    description: shape.description ?? '',
  }))
}
