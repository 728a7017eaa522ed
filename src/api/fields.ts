import { z } from 'zod'
import { addAll } from '../domain/long-lists.ts'
import { flawed, parsed, parseInteger, type Flaw, type Parsed } from '../domain/input.ts'
import { parseJson, parseObject, parseSessionKey, unstorableIn } from '../domain/input-fields.ts'
import { formatInstant, parseInstant, parseMoment } from '../domain/instant.ts'
import { parseZone } from '../core/time/zone.ts'

/** What an issue of zod carries when a rule found it: flaws that have their words already. */
export interface RuleFound {
  readonly flaws: readonly Flaw[]
  /** Whether the described shape refuses the value too; the rule only has the better words. */
  readonly isShape: boolean
}

type Payload<T = unknown> = z.core.ParsePayload<T>

/** Notes what a rule found. The flaws name fields from the checked value on: `start` of quiet hours, or nothing. */
function addFlaws(payload: Payload, flaws: readonly Flaw[], isShape = false): void {
  if (flaws.length === 0) return
  const found: RuleFound = { flaws, isShape }
  payload.issues.push({ code: 'custom', input: payload.value, params: { found }, continue: true })
}

/** Whether an issue is of the shape, and not of another rule that was checked before. */
const isOfShape = ({ code, params }: Payload['issues'][number]): boolean =>
  code !== 'custom' || (params?.['found'] as RuleFound | undefined)?.isShape !== false

/** A check that is made even if the shape is wrong already. */
const always = <T>(check: (payload: Payload<T>) => void): z.core.$ZodCheck<T> => ({
  _zod: { def: { check: 'custom', when: ({ value }) => value !== undefined }, check, onattach: [] },
})

/** What was given: the value of an object that is refused for unknown fields comes without them. */
const givenTo = ({ issues, value }: Payload): unknown =>
  issues.find(({ code, path = [] }) => code === 'unrecognized_keys' && path.length === 0)?.input ?? value

/**
 * A rule that JSON Schema cannot express, by the parser that knows it: the grammar of cron, the names of time zones. What
 * it finds stands in place of what the shape found. The parser is called with an empty field name; the reader puts the
 * path of the value before the names in its flaws.
 */
export const rule = <T>(parse: (field: string, value: unknown) => Parsed<unknown>): z.core.$ZodCheck<T> =>
  always((payload) => {
    const read = parse('', givenTo(payload))
    if (read.ok) return
    const isShape = payload.issues.some(isOfShape)
    // The parser may not look for unknown names.
    const unknown = payload.issues.filter(({ code }) => code === 'unrecognized_keys')
    payload.issues.length = 0
    addAll(payload.issues, unknown)
    addFlaws(payload, read.flaws, isShape)
  })

/**
 * A value that a parser of ours reads: what it accepts is accepted, and comes out in its spelling, even where the described
 * shape is narrower; what it refuses is told in its words.
 */
export const readWith = <T>(parse: (field: string, value: unknown) => Parsed<T>): z.core.$ZodCheck<T> =>
  always((payload) => {
    const read = parse('', payload.value)
    const isShape = payload.issues.some(isOfShape)
    payload.issues.length = 0
    if (read.ok) payload.value = read.value
    else addFlaws(payload, read.flaws, isShape)
  })

/** A rule between the fields of an object. It is checked even if single fields are wrong, so it must expect anything. */
export const fieldsRule = <T extends object>(check: (value: Partial<T>) => readonly Flaw[]): z.core.$ZodCheck<T> =>
  always((payload) => {
    const given: unknown = payload.value
    if (typeof given === 'object' && given !== null) addFlaws(payload, check(given))
  })

/** A text that the database can hold. JSON Schema counts characters, we count UTF-16 code units: a rule, as NUL is. */
export const text = (min: number, max: number): z.ZodString =>
  (min === 0 ? z.string() : z.string().min(min)).max(max).check((payload) => {
    const message = unstorableIn(payload.value) ?? (payload.value.length > max ? 'is too long' : null)
    const allowed = `a text of ${min} to ${max} characters`
    if (message !== null) addFlaws(payload, [{ field: '', value: payload.value, message, allowed }])
  })

/** A text of a form that has a name: an id, the name of a channel. */
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

/** A whole number inside bounds. -0 becomes 0, so that equal settings compare as equal. */
export const whole = (min: number, max?: number): z.ZodInt => {
  const integer = z.int({ error: ({ code }) => (code === 'invalid_type' ? 'must be a whole number' : undefined) })
  const bounded = max === undefined ? integer.min(min) : integer.min(min).max(max)
  const bounds = max === undefined ? { min } : { min, max }
  return bounded
    .overwrite((value) => (value === 0 ? 0 : value))
    .check(rule((field, value) => parseInteger(field, value, bounds)))
}

/** A session key. */
export const sessionKeyText = z.string().min(1).max(512).check(rule(parseSessionKey))

/** A time as it may be given: RFC 3339 with an offset, or milliseconds since 1970. */
export const givenMoment = z
  .union([z.string().meta({ format: 'date-time' }), z.int().min(0).max(253_402_300_799_999)])
  .check(rule(parseMoment))

/** A time as a text: RFC 3339 with an offset; it comes out in UTC. */
export const givenInstant = z
  .string()
  .meta({ format: 'date-time' })
  .check(
    readWith((field, value) => {
      const at = parseInstant(field, value)
      return at.ok ? parsed(formatInstant(at.value)) : at
    }),
  )

/** The name of a time zone, in any case; it comes out as IANA spells it. */
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

/** Reads by a parser alone, where reading by a schema too would copy large values twice. */
const readBy = (parse: (field: string, value: unknown) => Parsed<unknown>): z.ZodUnknown =>
  z.unknown().check((payload) => {
    const read = parse('', payload.value)
    if (read.ok) payload.value = read.value
    else addFlaws(payload, read.flaws)
  })

/** Any JSON, as it will be read back from the database. */
export const storableJson = readBy(parseJson)

/** The same of an object whose fields are the caller's own business. */
export const storableObject = readBy((field, value) => {
  const object = parseObject(field, value)
  return object.ok ? parseJson(field, object.value) : object
}).meta({ type: 'object', additionalProperties: {} }) as unknown as z.ZodType<Readonly<Record<string, unknown>>>

/** The same of a list. */
export const storableList = readBy((field, value) =>
  Array.isArray(value) ? parseJson(field, value) : flawed({ field, value, message: 'must be a list' }),
).meta({ type: 'array', items: {} }) as unknown as z.ZodType<readonly unknown[]>

/** A schema that describes what is read in another way. Whatever is made from it, as by `describe`, reads as described. */
function readAs<Schema extends z.ZodType>(schema: Schema, run: z.core.$ZodType['_zod']['run']): Schema {
  const described = schema.clone()
  described._zod.run = run
  return described
}

/** Describes entries that are read later, one by one: what is wrong with one must not refuse the others. */
export const readLater = <Schema extends z.ZodType>(schema: Schema): Schema => readAs(schema, (payload) => payload)

/** Whether a value counts as left out where clients send empty fields: null, or a text of nothing but spaces. */
export const isBlank = (value: unknown): boolean => value === null || (typeof value === 'string' && value.trim() === '')

const BLANKABLE = z.registry<{ readonly blankable: true }>()

/** A field that may be left out, and counts as left out if it is blank. */
export function orBlank<Schema extends z.ZodType>(schema: Schema): z.ZodOptional<Schema> {
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

/** In place of a value that may be a secret, only wrong. */
export const HIDDEN = '***'

/** Marks what no refusal repeats. Of an object: not even the values of fields with unknown names. */
export function confidential<Schema extends z.ZodType>(schema: Schema): Schema {
  CONFIDENTIAL.add(schema, { confidential: true })
  return schema
}

export const isConfidential = (schema: z.ZodType): boolean => CONFIDENTIAL.has(schema)

/** Fields that a change cannot have because they never change, and what to make instead. */
interface FixedFields {
  readonly names: readonly string[]
  readonly allowed: string
}

const FIXED = z.registry<FixedFields>()

/** Names what a change of a thing cannot change, so that a refusal can say so. */
export function withFixed<Schema extends z.ZodObject>(schema: Schema, fixed: FixedFields): Schema {
  FIXED.add(schema, fixed)
  return schema
}

/** What to make instead of changing this field; undefined: it is no fixed field of the object. */
export function insteadOf(schema: z.ZodType, name: string): string | undefined {
  const fixed = FIXED.get(schema)
  return fixed?.names.includes(name) === true ? fixed.allowed : undefined
}
