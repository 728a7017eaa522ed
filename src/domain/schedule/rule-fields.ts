import { snakeCase, type SnakeCase } from '../nearest-word.ts'
import { parsed, type Parsed } from '../input.ts'
import { DEFAULT_RETRY_POLICY, parseStoredPolicy, type RetryPolicy } from '../run/retry-policy.ts'
import { DEFAULT_SCHEDULE_RULES, type ScheduleRules } from './rules.ts'

/** A record with the API names of its fields. */
type OnWire<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Name in keyof T as SnakeCase<Name & string>]-?: OnWire<Exclude<T[Name], undefined>> }
    : T

/** The rules of a schedule as the API has them; the schedule's own number of retries is in its retry policy. */
export type RuleFields = Omit<OnWire<ScheduleRules>, 'own_max_retries'>

/** Rules from a request; omitted and null fields get defaults. */
type Given<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Name in keyof T]?: Given<T[Name]> | null | undefined }
    : T

export type GivenRules = Given<RuleFields>

type Values = Readonly<Record<string, unknown>>

/** A field of the rules with both its names. */
interface RuleField {
  readonly inCode: string
  readonly onWire: string
  readonly defaultValue: unknown
  /** Its nested fields; null for a plain value. */
  readonly nested: readonly RuleField[] | null
}

const fieldsOf = (defaults: object): readonly RuleField[] =>
  Object.entries(defaults).map(([name, value]: [string, unknown]) => ({
    ...{ inCode: name, onWire: snakeCase(name), defaultValue: value },
    nested: typeof value === 'object' && value !== null && !Array.isArray(value) ? fieldsOf(value) : null,
  }))

const FIELDS = fieldsOf(DEFAULT_SCHEDULE_RULES)

/** The values under their other names, in the order of the rules, with defaults for omitted ones. */
const renamed = (
  values: Values,
  fields: readonly RuleField[],
  [from, to]: readonly ['inCode' | 'onWire', 'inCode' | 'onWire'],
): Values =>
  Object.fromEntries(
    fields.map((field) => {
      const value = values[field[from]] ?? null
      if (field.nested === null) return [field[to], value ?? field.defaultValue]
      return [field[to], renamed((value ?? {}) as Values, field.nested, [from, to])]
    }),
  )

/** The policies of a schedule in a request. */
export interface GivenPolicies extends GivenRules {
  readonly retry_policy?: { readonly max_retries?: number | undefined } | null | undefined
}

export interface Policies {
  readonly rules: ScheduleRules
  /** The schedule's own policy; null: the agent or executor decides. */
  readonly retryPolicy: RetryPolicy | null
}

/**
 * The policies of a schedule with defaults. Fields that a retry policy omits come from `retryBase`, because the
 * default number of retries depends on the executor.
 */
export function policiesFrom(given: GivenPolicies, retryBase = DEFAULT_RETRY_POLICY): Parsed<Policies> {
  const { retry_policy: retries, ...fields } = given
  const rules = renamed(fields, FIELDS, ['onWire', 'inCode']) as unknown as ScheduleRules
  if (retries === undefined || retries === null) return parsed({ rules, retryPolicy: null })
  const read = parseStoredPolicy('retry_policy', retries, retryBase)
  if (!read.ok) return read
  // Only an explicit number limits failure action RETRY, not a policy's default.
  return parsed({ rules: { ...rules, ownMaxRetries: retries.max_retries ?? null }, retryPolicy: read.value })
}

/** Rules with their API names. Fields that an earlier release did not store get defaults. */
export function ruleFieldsOf(rules: ScheduleRules): RuleFields {
  const { own_max_retries: _own, ...fields } = renamed({ ...rules }, FIELDS, ['inCode', 'onWire'])
  return fields as unknown as RuleFields
}

/** The API names of the rules. */
export const RULE_FIELDS = Object.keys(ruleFieldsOf(DEFAULT_SCHEDULE_RULES)) as readonly (keyof RuleFields)[]
