import { z } from 'zod'
import type { OperationSpec } from './operation.ts'
import { invalid } from './refusals.ts'
import { firstOf, MAX_LISTED_FLAWS, type Flaw } from '../domain/input.ts'
import { unknownFields } from '../domain/input-fields.ts'
import { readShape } from '../contract/read-shape.ts'

/** Reads one part of a request: what comes out fits the schema, or the request is refused with every flaw. */
export type Reader = (given: unknown) => unknown

/** The readers of an operation, made once. Null: there is nothing to read. */
export interface Readers {
  readonly params: Reader | null
  readonly query: Reader
  readonly body: Reader | null
}

export function readersOf(spec: OperationSpec): Readers {
  const { facade: lenient = false } = spec
  return {
    params: spec.params === undefined ? null : textReader(spec.params),
    query: textReader(spec.query ?? z.strictObject({}), lenient),
    body:
      spec.raw === true
        ? null
        : spec.body === undefined
          ? spec.method === 'GET' || lenient
            ? null
            : NO_FIELDS
          : bodyReader({ ...spec, body: spec.body }),
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Where nothing is to be said, an empty object says nothing; whoever says more would not be heard, and is told so. */
const NO_FIELDS: Reader = (given) => {
  if (given === undefined) return undefined
  if (!isObject(given))
    throw invalid([{ field: '', value: undefined, message: 'takes no body', allowed: 'nothing, or {}' }])
  const flaws = firstOf(Object.keys(given), {
    at: '',
    describe: (field) => ({ field, value: undefined, message: 'takes no fields', allowed: 'nothing, or {}' }),
  })
  if (flaws.length > 0) throw invalid(flaws)
  return undefined
}

/** Reads the body of an operation. */
export function bodyReader(spec: OperationSpec & { readonly body: z.ZodType }): Reader {
  const read = schemaReader(spec.body)
  const refuseStrangers = spec.facade === true ? null : strangersOf(spec.body)
  return (given) => {
    if (given === undefined && spec.bodyOptional !== true)
      throw invalid([{ field: '', value: undefined, message: 'a body is missing', allowed: 'a JSON object' }])
    const body = given === undefined ? {} : given
    if (!isObject(body))
      throw invalid([{ field: '', value: undefined, message: 'the body must be an object', allowed: 'a JSON object' }])
    refuseStrangers?.(body)
    return read(body)
  }
}

/**
 * A body with many more fields than there are is refused before it is read: some of them are unknown, whatever else is
 * wrong. Null: the schema takes fields of any name.
 */
function strangersOf(schema: z.ZodType): ((body: Readonly<Record<string, unknown>>) => void) | null {
  const { properties = {}, additionalProperties } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const known = Object.keys(properties)
  if (additionalProperties !== false) return null
  return (body) => {
    if (Object.keys(body).length > known.length + MAX_LISTED_FLAWS) throw invalid(unknownFields('', body, known))
  }
}

/** Reads what fits a schema, or refuses the request. */
export function schemaReader<Schema extends z.ZodType>(schema: Schema): (given: unknown) => z.output<Schema> {
  return (given) => {
    const read = readShape(schema, given)
    if (!read.ok) throw invalid(read.flaws)
    return read.value
  }
}

type JsonSchema = z.core.JSONSchema.BaseSchema

function propertiesOf(schema: z.ZodType): Readonly<Record<string, JsonSchema>> {
  const described = z.toJSONSchema(schema, { unrepresentable: 'any' })
  return (described.properties ?? {}) as Readonly<Record<string, JsonSchema>>
}

/**
 * Parameters of the address are texts; those that the schema wants as numbers or flags are made so. Where a reader is
 * lenient, those that nobody knows are passed over.
 */
function textReader(schema: z.ZodType, lenient = false): Reader {
  const kinds = new Map(Object.entries(propertiesOf(schema)).map(([name, property]) => [name, kindsOf(property)]))
  const read = schemaReader(schema)
  // Most requests have none, and what is read of nothing is always the same.
  const none = schema.safeParse({})
  return (given) => {
    const texts = given as Readonly<Record<string, string | readonly string[]>>
    // Without a prototype, `__proto__` is a name like any other.
    const values = Object.create(null) as Record<string, unknown>
    const flaws: Flaw[] = []
    const names = lenient ? Object.keys(texts).filter((name) => kinds.has(name)) : Object.keys(texts)
    if (names.length === 0 && none.success) return none.data
    for (const name of names) {
      const text = texts[name]
      if (typeof text !== 'string') flaws.push({ field: name, value: undefined, message: 'is given more than once' })
      else if (text.includes('\u0000')) flaws.push({ field: name, value: text, message: 'must not contain NUL' })
      else values[name] = valueOf(text, kinds.get(name))
    }
    if (flaws.length > 0) throw invalid(flaws)
    return read(values)
  }
}

function kindsOf(property: JsonSchema): ReadonlySet<string> {
  const own = typeof property.type === 'string' ? [property.type] : []
  const choices = (property.anyOf ?? []).flatMap((choice) => [...kindsOf(choice)])
  return new Set([...own, ...choices])
}

function valueOf(text: string, kinds: ReadonlySet<string> | undefined): unknown {
  if (kinds === undefined) return text
  const isNumeric = kinds.has('integer') || kinds.has('number')
  if (isNumeric && /^-?\d{1,17}(?:\.\d{1,17})?$/.test(text)) return Number(text)
  if (kinds.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
