import { z } from 'zod'
import { addAll } from '../core/long-lists.ts'
import type { Flaw, Parsed } from '../core/input.ts'
import { parseJson, parseSessionKey, unstorableIn } from '../core/input-fields.ts'
import { parseMoment } from '../core/instant.ts'

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

/** A check that is made even if the shape is wrong already. */
const always = <T>(check: (payload: Payload<T>) => void): z.core.$ZodCheck<T> => ({
  _zod: { def: { check: 'custom', when: ({ value }) => value !== undefined }, check, onattach: [] },
})

/**
 * A rule that JSON Schema cannot express, by the parser that knows it: the grammar of cron, the names of time zones. What
 * it finds stands in place of what the shape found. The parser is called with an empty field name; the reader puts the
 * path of the value before the names in its flaws.
 */
export const rule = <T>(parse: (field: string, value: unknown) => Parsed<unknown>): z.core.$ZodCheck<T> =>
  always((payload) => {
    const read = parse('', payload.value)
    if (read.ok) return
    const isShape = payload.issues.length > 0
    // Unknown names are not among what the parser was given.
    const unknown = payload.issues.filter(({ code }) => code === 'unrecognized_keys')
    payload.issues.length = 0
    addAll(payload.issues, unknown)
    addFlaws(payload, read.flaws, isShape)
  })

/** A rule between the fields of an object. It is checked even if single fields are wrong, so it must expect anything. */
export const fieldsRule = <T extends object>(check: (value: Partial<T>) => readonly Flaw[]): z.core.$ZodCheck<T> =>
  always((payload) => {
    const given: unknown = payload.value
    if (typeof given === 'object' && given !== null) addFlaws(payload, check(given))
  })

/** A text that the database can hold. */
export const text = (min: number, max: number): z.ZodString =>
  z
    .string()
    .min(min)
    .max(max)
    .check((payload) => {
      const message = unstorableIn(payload.value)
      const allowed = `a text of ${min} to ${max} characters`
      if (message !== null) addFlaws(payload, [{ field: '', value: payload.value, message, allowed }])
    })

/** A whole number inside bounds. -0 becomes 0, so that equal settings compare as equal. */
export const whole = (min: number, max?: number): z.ZodInt => {
  const integer = z.int({ error: ({ code }) => (code === 'invalid_type' ? 'must be a whole number' : undefined) })
  const bounded = max === undefined ? integer.min(min) : integer.min(min).max(max)
  return bounded.overwrite((value) => (value === 0 ? 0 : value))
}

/** A session key. */
export const sessionKeyText = z.string().min(1).max(512).check(rule(parseSessionKey))

/** A time as it may be given: RFC 3339 with an offset, or milliseconds since 1970. */
export const givenMoment = z
  .union([z.string().meta({ format: 'date-time' }), z.int().min(0).max(253_402_300_799_999)])
  .check(rule(parseMoment))

/** Any JSON, as it will be read back from the database. */
export const storableJson = z.unknown().check((payload) => {
  const read = parseJson('', payload.value)
  if (read.ok) payload.value = read.value
  else addFlaws(payload, read.flaws)
})

const CONFIDENTIAL = z.registry<{ readonly confidential: true }>()

/** In place of a value that may be a secret, only wrong. */
export const HIDDEN = '***'

/** Marks what no refusal repeats. Of an object: not even the values of fields with unknown names. */
export function confidential<Schema extends z.ZodType>(schema: Schema): Schema {
  CONFIDENTIAL.add(schema, { confidential: true })
  return schema
}

export const isConfidential = (schema: z.ZodType): boolean => CONFIDENTIAL.has(schema)
