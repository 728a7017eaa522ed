import { Ajv2020 } from 'ajv/dist/2020.js'
import type { OpenApiDocument } from '../../../src/operations/openapi.ts'
import type { OperationSpec } from '../../../src/api/operation.ts'

/** As much of JSON Schema as the document uses. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
  readonly propertyNames?: JsonSchema
  readonly items?: JsonSchema
  readonly prefixItems?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
}

/** What the document says of the body of an operation. */
export interface DescribedBody {
  readonly schema: JsonSchema
  readonly example: unknown
  /** Whether the document allows a body; words of closed lists may be given in any case. */
  readonly allows: (body: unknown) => boolean
  readonly resolve: (schema: JsonSchema) => JsonSchema
}

/** What the document says in words because JSON Schema cannot. */
export const CONVENTIONS = [
  'Enum values may be given in any letter case.',
  'The length of a text is its number of UTF-16 code units.',
]

const TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/

/** A time of RFC 3339: a leap second is one, too, and a space may stand for the T. */
function isTime(text: string): boolean {
  const parts = TIME.exec(text)?.slice(1).map(Number)
  if (parts === undefined) return false
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0] = parts
  const isDate =
    new Date(Date.UTC(2000, month, 0)).getUTCMonth() === month - 1 && day >= 1 && day <= daysIn(year, month)
  return isDate && hour < 24 && minute < 60 && second <= 60 && !(offsetHour > 23) && !(offsetMinute > 59)
}

function daysIn(year: number, month: number): number {
  const last = new Date(0)
  last.setUTCFullYear(year, month, 0)
  return last.getUTCDate()
}

/** Reads descriptions of bodies from a document. */
export function bodiesIn(document: OpenApiDocument): (spec: OperationSpec) => DescribedBody {
  const ajv = new Ajv2020({
    strictTypes: false,
    strictRequired: false,
    validateSchema: false,
    logger: false,
    formats: { 'date-time': isTime },
  })
  ajv.addVocabulary(['components'])
  const named = document.components.schemas as Readonly<Record<string, JsonSchema>>
  const resolve = (schema: JsonSchema): JsonSchema => {
    if (schema.$ref === undefined) return schema
    const { $ref, ...own } = schema
    return resolve({ ...named[$ref.replace('#/components/schemas/', '')], ...own })
  }
  return ({ path, method }) => {
    const url = path.replace(/:(\w+)/g, '{$1}')
    const { requestBody } = document.paths[url]?.[method.toLowerCase()] as {
      readonly requestBody: {
        readonly content: { readonly 'application/json': { readonly schema: JsonSchema; readonly example?: unknown } }
      }
    }
    const { schema, example } = requestBody.content['application/json']
    const fits = ajv.compile({ ...schema, components: document.components })
    const allows = (body: unknown): boolean => fits(body) || fits(respelled(schema, body, resolve))
    return { schema, example, allows, resolve }
  }
}

type Resolve = DescribedBody['resolve']

/** The value with the words of closed lists as the document spells them. */
export function respelled(given: JsonSchema, value: unknown, resolve: Resolve): unknown {
  const schema = resolve(given)
  const words = schema.enum ?? (schema.const === undefined ? [] : [schema.const])
  if (typeof value === 'string') {
    const lower = value.toLowerCase()
    const word = words.find((one) => typeof one === 'string' && one.toLowerCase() === lower)
    if (word !== undefined) return word
  }
  let spelled = value
  for (const part of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
    spelled = respelled(part, spelled, resolve)
  const { items, properties = {}, additionalProperties: others } = schema
  if (Array.isArray(spelled))
    return items === undefined ? spelled : spelled.map((item) => respelled(items, item, resolve))
  if (typeof spelled !== 'object' || spelled === null) return spelled
  return Object.fromEntries(
    Object.entries(spelled).map(([name, inner]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : typeof others === 'object' ? others : undefined
      return [name, own === undefined ? inner : respelled(own, inner, resolve)]
    }),
  )
}
