import { z } from 'zod'
import { parseDuration } from '../domain/duration.ts'
import { parseJson, parseObject, parseSessionKey, whyUnstorable } from '../domain/input-fields.ts'
import { type Flaw, flawed, parsed, type Parsed, parseInteger } from '../domain/input.ts'
import { formatInstant, parseInstant, parseTimeOrMs } from '../domain/instant.ts'
import { addAll } from '../domain/long-lists.ts'
import { parseZone } from '../domain/time/zone.ts'

/** Deeply readonly. */
type DeepReadonly<Value> = unknown extends Value ? Value : { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }

/**
 * The type of the values that a schema allows. Every request, response and event type is derived from its schema this
 * way.
 */
export type Shape<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>

/** The name of a shape in the OpenAPI document. */
export interface ShapeName {
  readonly id: string
  readonly description?: string
}

/** The named shapes. Filled while the schema modules load, and not changed after that. */
export const NAMED_SHAPES = new Map<z.ZodType, ShapeName>()

/** Registers the name of a shape. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema, description?: string): Schema {
  NAMED_SHAPES.set(schema, { id, ...(description === undefined ? {} : { description }) })
  return schema
}

/** The payload of a zod issue that a rule reported: flaws that already have their messages. */
export interface RuleFlaws {
  readonly flaws: readonly Flaw[]
  /** Whether the schema itself rejects the value too, so that the rule only adds the better message. */
  readonly isShape: boolean
}

type Payload<T = unknown> = z.core.ParsePayload<T>

/**
 * Adds the flaws that a rule found. Field names in them are relative to the checked value, and empty for the value
 * itself.
 */
function addFlaws(payload: Payload, flaws: readonly Flaw[], isShape = false): void {
  if (flaws.length === 0) return
  const found: RuleFlaws = { flaws, isShape }
  payload.issues.push({ code: 'custom', input: payload.value, params: { found }, continue: true })
}

/** Whether an issue comes from the schema, and not from a rule that ran earlier. */
const isSchemaIssue = ({ code, params }: Payload['issues'][number]): boolean =>
  code !== 'custom' || (params?.['found'] as RuleFlaws | undefined)?.isShape !== false

/** A check that runs even if the value already violates the schema. */
const alwaysCheck = <T>(check: (payload: Payload<T>) => void): z.core.$ZodCheck<T> => ({
  _zod: { def: { check: 'custom', when: ({ value }) => value !== undefined }, check, onattach: [] },
})

/** The value as sent: zod strips unknown fields from the value of an object that it rejects for them. */
const originalValue = ({ issues, value }: Payload): unknown =>
  issues.find(({ code, path = [] }) => code === 'unrecognized_keys' && path.length === 0)?.input ?? value

/**
 * A rule that JSON Schema cannot express, checked by a parser: the grammar of cron, the names of time zones. Its flaws
 * replace those of the schema. The parser is called with an empty field name; the reader puts the path of the value in
 * front of the names in its flaws.
 */
export const rule = <T>(parse: (field: string, value: unknown) => Parsed<unknown>): z.core.$ZodCheck<T> =>
  alwaysCheck((payload) => {
    const read = parse('', originalValue(payload))
    if (read.ok) return
    const isShape = payload.issues.some(isSchemaIssue)
    // The parser may not check for unknown names, so those issues are kept.
    const unknown = payload.issues.filter(({ code }) => code === 'unrecognized_keys')
    payload.issues.length = 0
    addAll(payload.issues, unknown)
    addFlaws(payload, read.flaws, isShape)
  })

/**
 * A value that a parser reads: what the parser accepts is accepted and normalized, even where the schema is narrower;
 * what it rejects is reported in the words of the parser.
 */
export const readWith = <T>(parse: (field: string, value: unknown) => Parsed<T>): z.core.$ZodCheck<T> =>
  alwaysCheck((payload) => {
    const read = parse('', payload.value)
    const isShape = payload.issues.some(isSchemaIssue)
    payload.issues.length = 0
    if (read.ok) payload.value = read.value
    else addFlaws(payload, read.flaws, isShape)
  })

/** A rule between the fields of an object. It runs even if single fields are wrong, so it must handle any value. */
export const fieldsRule = <T extends object>(check: (value: Partial<T>) => readonly Flaw[]): z.core.$ZodCheck<T> =>
  alwaysCheck((payload) => {
    const given: unknown = payload.value
    if (typeof given === 'object' && given !== null) addFlaws(payload, check(given))
  })

/**
 * A text that the database can store. JSON Schema counts characters, the database limit counts UTF-16 code units, and
 * NUL is not allowed, so a rule checks both.
 */
export const text = (min: number, max: number): z.ZodString =>
  (min === 0 ? z.string() : z.string().min(min)).max(max).check((payload) => {
    const message = whyUnstorable(payload.value) ?? (payload.value.length > max ? 'is too long' : null)
    const allowed = `a text of ${min} to ${max} characters`
    if (message !== null) addFlaws(payload, [{ field: '', value: payload.value, message, allowed }])
  })

/** A text of a named form: an id, the name of a channel. */
export const textLike = (
  form: RegExp,
  { max, ...words }: Pick<Flaw, 'message' | 'allowed'> & { readonly max: number },
): z.ZodString =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(form)
    .check(
      rule((field, value) =>
        typeof value === 'string' && form.test(value) ? parsed(value) : flawed({ field, value, ...words }),
      ),
    )

/** A whole number within bounds. -0 becomes 0, so that equal settings compare as equal. */
export const integerBetween = (min: number, max?: number): z.ZodInt => {
  const integer = z.int({ error: ({ code }) => (code === 'invalid_type' ? 'must be a whole number' : undefined) })
  const bounded = max === undefined ? integer.min(min) : integer.min(min).max(max)
  const bounds = max === undefined ? { min } : { min, max }
  return bounded
    .overwrite((value) => (value === 0 ? 0 : value))
    .check(rule((field, value) => parseInteger(field, value, bounds)))
}

/** A session key. */
export const sessionKeyText = z.string().min(1).max(512).check(rule(parseSessionKey))

/** A time in requests: RFC 3339 with an offset, or Unix time in milliseconds. */
export const timeInput = z
  .union([z.string().meta({ format: 'date-time' }), z.int().min(0).max(253_402_300_799_999)])
  .check(rule(parseTimeOrMs))

/** A time as RFC 3339 with an offset; converted to UTC. */
export const instantInput = z
  .string()
  .meta({ format: 'date-time' })
  .check(
    readWith((field, value) => {
      const at = parseInstant(field, value)
      return at.ok ? parsed(formatInstant(at.value)) : at
    }),
  )

/** The name of a time zone in any letter case; converted to the IANA spelling. */
export const zoneName = z
  .string()
  .min(1)
  .max(100)
  .check(
    readWith((field, value) => {
      const zone = parseZone(field, value)
      return zone.ok ? parsed(zone.value.name) : zone
    }),
  )

/** Reads with the parser only, because reading with a schema as well would copy large values twice. */
const parsedBy = (parse: (field: string, value: unknown) => Parsed<unknown>): z.ZodUnknown =>
  z.unknown().check((payload) => {
    const read = parse('', payload.value)
    if (read.ok) payload.value = read.value
    else addFlaws(payload, read.flaws)
  })

/** Any JSON value that the database returns unchanged. */
export const storableJson = parsedBy(parseJson)

/** A JSON object with arbitrary fields that the database returns unchanged. */
export const storableObject = parsedBy((field, value) => {
  const object = parseObject(field, value)
  return object.ok ? parseJson(field, object.value) : object
}).meta({ type: 'object', additionalProperties: {} }) as unknown as z.ZodType<Readonly<Record<string, unknown>>>

/** A JSON list that the database returns unchanged. */
export const storableList = parsedBy((field, value) =>
  Array.isArray(value) ? parseJson(field, value) : flawed({ field, value, message: 'must be a list' }),
).meta({ type: 'array', items: {} }) as unknown as z.ZodType<readonly unknown[]>

/**
 * A copy of a schema that only describes the value, with another reader. Schemas derived from it, as by `describe`,
 * keep that reader.
 */
function readAs<Schema extends z.ZodType>(schema: Schema, run: z.core.$ZodType['_zod']['run']): Schema {
  const described = schema.clone()
  described._zod.run = run
  return described
}

/** Longer than common proxy timeouts. */
const MAX_WAIT_SECONDS = 300

const SECONDS = z.number().min(0).max(MAX_WAIT_SECONDS)

/** How long a request may wait, in seconds; a duration such as `10s` is converted. */
const waitSeconds = readAs(SECONDS, (payload, ctx) => {
  const given: unknown = payload.value
  const seconds = typeof given === 'string' ? parseDuration(given, 'seconds') : null
  if (seconds !== null) payload.value = seconds
  return SECONDS._zod.run(payload, ctx)
})

/** The query of an operation that can wait for the end of a run. */
export const waitQuery = z.strictObject({
  wait: waitSeconds
    .optional()
    .describe('How long to wait for the end, in seconds or as a duration such as `10s`. Default: not at all.'),
})

/** Describes entries that are validated later, one by one, so that one invalid entry does not reject the others. */
export const validatedLater = <Schema extends z.ZodType>(schema: Schema): Schema => readAs(schema, (payload) => payload)

/** Whether a value counts as omitted where clients send empty fields: null, or a text of only spaces. */
export const isBlank = (value: unknown): boolean => value === null || (typeof value === 'string' && value.trim() === '')

const BLANKABLE = z.registry<{ readonly blankable: true }>()

/** An optional field that counts as omitted if it is blank. */
export function optionalOrBlank<Schema extends z.ZodType>(schema: Schema): z.ZodOptional<Schema> {
  const read = readAs(schema.optional(), (payload, ctx) => {
    if (payload.value !== undefined && !isBlank(payload.value)) return schema._zod.run(payload, ctx)
    payload.value = undefined
    return payload
  })
  BLANKABLE.add(read, { blankable: true })
  return read
}

export const isBlankable = (schema: z.core.$ZodType): boolean => BLANKABLE.has(schema)

const CONFIDENTIAL = z.registry<{ readonly confidential: true }>()

/** Shown instead of an invalid value that may contain a secret. */
export const HIDDEN = '***'

/**
 * Marks a value that no error message repeats. For an object, that includes the values of fields with unknown names.
 */
export function confidential<Schema extends z.ZodType>(schema: Schema): Schema {
  CONFIDENTIAL.add(schema, { confidential: true })
  return schema
}

export const isConfidential = (schema: z.ZodType): boolean => CONFIDENTIAL.has(schema)

/** Fields that an update rejects because they never change, and what to create instead. */
interface FixedFields {
  readonly names: readonly string[]
  readonly allowed: string
}

const FIXED = z.registry<FixedFields>()

/** Names the fields that an update cannot change, so that the error message can say so. */
export function withFixed<Schema extends z.ZodObject>(schema: Schema, fixed: FixedFields): Schema {
  FIXED.add(schema, fixed)
  return schema
}

/** What to create instead of changing this field; undefined if the field is not fixed. */
export function replacementFor(schema: z.ZodType, name: string): string | undefined {
  const fixed = FIXED.get(schema)
  return fixed?.names.includes(name) === true ? fixed.allowed : undefined
}
