import { z } from 'zod'
import { isConfidential } from './fields.ts'
import type { OperationSpec } from './operation.ts'
import { invalid } from './refusals.ts'
import { fieldAt, flawsOf, valueAt } from './schema-flaws.ts'
import { unknownFields } from '../domain/input-fields.ts'
import { firstNameFlaws, type Flaw, flawed, MAX_LISTED_FLAWS, parsed, type Parsed } from '../domain/input.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/**
 * Parses a value with a schema and reports every flaw. Enum values may be given in any letter case and are converted to
 * the spelling of the schema. `at` is the path of the value in the request, for the field names in flaws.
 */
export function readShape<Schema extends z.ZodType>(schema: Schema, given: unknown, at = ''): Parsed<z.output<Schema>> {
  let read = schema.safeParse(given)
  let spelled = given
  // Only enum values that fail are looked up, because nearly all are spelled correctly. A discriminator decides which
  // values are allowed inside, so several passes may be needed.
  for (let pass = 0; !read.success && pass < SPELLING_PASSES; pass += 1) {
    const respelled = withSchemaSpelling(read.error.issues, spelled)
    if (respelled === spelled) break
    spelled = respelled
    read = schema.safeParse(spelled)
  }
  if (read.success) return parsed(read.data)
  const flaws = flawsOf(read.error, given, schema)
  const isHidden = isConfidential(schema)
  if (at === '' && !isHidden) return flawed(flaws)
  return flawed(
    flaws.map((flaw) => ({
      ...flaw,
      field: fieldAt(at, flaw.field),
      ...(isHidden ? { value: undefined } : {}),
    })),
  )
}

/** The maximum nesting of discriminated unions. */
const SPELLING_PASSES = 3

/** The value with its enum values in the spelling of the schema; the same object if nothing changed. */
function withSchemaSpelling(issues: readonly Issue[], given: unknown): unknown {
  const copy = copyOnWrite(given)
  const respell = (found: readonly Issue[], at: Path): void => {
    for (const issue of found) {
      const path = [...at, ...issue.path]
      if (issue.code === 'invalid_union') for (const choice of issue.errors) respell(choice, path)
      const words = allowedWordsOf(issue)
      if (words === null) continue
      const word = matchingWord(valueAt(given, path), words)
      if (word !== undefined) copy.set(path, word)
    }
  }
  respell(issues, [])
  return copy.value()
}

/** The allowed values; null if the issue is not about an enum. */
function allowedWordsOf(issue: Issue): readonly unknown[] | null {
  if (issue.code === 'invalid_value') return issue.values
  return issue.code === 'invalid_union' && 'options' in issue ? issue.options : null
}

function matchingWord(value: unknown, words: readonly unknown[]): unknown {
  if (typeof value !== 'string') return undefined
  const lower = value.toLowerCase()
  return words.find((word) => typeof word === 'string' && word !== value && word.toLowerCase() === lower)
}

type Container = Record<PropertyKey, unknown>

/**
 * Copies on write, so that the original stays unchanged. Each object on a path is copied once, however many changes
 * there are.
 */
function copyOnWrite(given: unknown): { readonly set: (path: Path, value: unknown) => void; value: () => unknown } {
  const copies = new Set<unknown>()
  const frame: Container = { root: given }
  const copiedContainer = (container: Container, name: PropertyKey): Container => {
    const found = container[name] as Container
    if (copies.has(found)) return found
    const copied = (Array.isArray(found) ? [...(found as readonly unknown[])] : { ...found }) as Container
    copies.add(copied)
    container[name] = copied
    return copied
  }
  return {
    set: (path, value) => {
      const names = ['root', ...path]
      const last = names.pop() ?? 'root'
      names.reduce(copiedContainer, frame)[last] = value
    },
    value: () => frame['root'],
  }
}

/** Reads one part of a request: returns a value that fits the schema, or rejects the request with every flaw. */
export type Reader = (given: unknown) => unknown

/** The readers of an operation, created once. Null: the operation has no such part. */
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
            : NO_BODY
          : bodyReader({ ...spec, body: spec.body }),
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * An operation without a body accepts no body or an empty object; fields would have no effect, so they are rejected.
 */
const NO_BODY: Reader = (given) => {
  if (given === undefined) return undefined
  if (!isObject(given))
    throw invalid([{ field: '', value: undefined, message: 'takes no body', allowed: 'nothing, or {}' }])
  const flaws = firstNameFlaws(Object.keys(given), {
    at: '',
    describe: (field) => ({ field, value: undefined, message: 'takes no fields', allowed: 'nothing, or {}' }),
  })
  if (flaws.length > 0) throw invalid(flaws)
  return undefined
}

/** Reads the body of an operation. */
export function bodyReader(spec: OperationSpec & { readonly body: z.ZodType }): Reader {
  const read = schemaReader(spec.body)
  const rejectUnknownFields = spec.facade === true ? null : unknownFieldsCheck(spec.body)
  return (given) => {
    if (given === undefined && spec.bodyOptional !== true)
      throw invalid([{ field: '', value: undefined, message: 'a body is missing', allowed: 'a JSON object' }])
    const body = given === undefined ? {} : given
    if (!isObject(body))
      throw invalid([{ field: '', value: undefined, message: 'the body must be an object', allowed: 'a JSON object' }])
    rejectUnknownFields?.(body)
    return read(body)
  }
}

/**
 * Rejects a body with far more fields than the schema has before parsing it, because some must be unknown. Null: the
 * schema accepts arbitrary fields.
 */
function unknownFieldsCheck(schema: z.ZodType): ((body: Readonly<Record<string, unknown>>) => void) | null {
  const { properties = {}, additionalProperties } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const known = Object.keys(properties)
  if (additionalProperties !== false) return null
  return (body) => {
    if (Object.keys(body).length > known.length + MAX_LISTED_FLAWS) throw invalid(unknownFields('', body, known))
  }
}

/** Parses a value with a schema, or rejects the request. */
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
 * URL parameters are texts; those that the schema expects as numbers or booleans are converted. A lenient reader
 * ignores unknown parameters.
 */
function textReader(schema: z.ZodType, lenient = false): Reader {
  const kinds = new Map(Object.entries(propertiesOf(schema)).map(([name, property]) => [name, kindsOf(property)]))
  const read = schemaReader(schema)
  // Most requests have no parameters, and the result for none is always the same.
  const none = schema.safeParse({})
  return (given) => {
    const texts = given as Readonly<Record<string, string | readonly string[]>>
    // Without a prototype, `__proto__` is an ordinary name.
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
  const copiedContainer = typeof property.type === 'string' ? [property.type] : []
  const choices = (property.anyOf ?? []).flatMap((choice) => [...kindsOf(choice)])
  return new Set([...copiedContainer, ...choices])
}

function valueOf(text: string, kinds: ReadonlySet<string> | undefined): unknown {
  if (kinds === undefined) return text
  const isNumeric = kinds.has('integer') || kinds.has('number')
  if (isNumeric && /^-?\d{1,17}(?:\.\d{1,17})?$/.test(text)) return Number(text)
  if (kinds.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
