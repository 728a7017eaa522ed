import { snakeCase, type SnakeCase } from '../../core/letter-case.ts'
import { parsed, type Parsed } from '../input.ts'
import { DEFAULT_RETRY_POLICY, parseKeptPolicy, type RetryPolicy } from '../run/retry-policy.ts'
import { DEFAULT_SCHEDULE_RULES, type ScheduleRules } from './rules.ts'

/** A record under the names that its fields have on the wire. */
type OnWire<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Name in keyof T as SnakeCase<Name & string>]-?: OnWire<Exclude<T[Name], undefined>> }
    : T

/** The rules of a schedule as the API has them. The number of retries of its own is told by its retry policy. */
export type RuleFields = Omit<OnWire<ScheduleRules>, 'own_max_retries'>

/** The same as they may be given: what is left out or null has its default. */
type Given<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Name in keyof T]?: Given<T[Name]> | null | undefined }
    : T

export type GivenRules = Given<RuleFields>

type Values = Readonly<Record<string, unknown>>

/** A field of the rules under both its names. */
interface Field {
  readonly inCode: string
  readonly onWire: string
  readonly usual: unknown
  /** The fields inside of it; null: it is a value. */
  readonly inside: readonly Field[] | null
}

const fieldsOf = (usual: object): readonly Field[] =>
  Object.entries(usual).map(([name, value]: [string, unknown]) => ({
    ...{ inCode: name, onWire: snakeCase(name), usual: value },
    inside: typeof value === 'object' && value !== null && !Array.isArray(value) ? fieldsOf(value) : null,
  }))

const FIELDS = fieldsOf(DEFAULT_SCHEDULE_RULES)

/** The same values under the other names, in the order of the rules, with the defaults of what is left out. */
const renamed = (
  values: Values,
  fields: readonly Field[],
  [from, to]: readonly ['inCode' | 'onWire', 'inCode' | 'onWire'],
): Values =>
  Object.fromEntries(
    fields.map((field) => {
      const value = values[field[from]] ?? null
      if (field.inside === null) return [field[to], value ?? field.usual]
      return [field[to], renamed((value ?? {}) as Values, field.inside, [from, to])]
    }),
  )

/** What a schedule is given of its policies. */
export interface GivenPolicies extends GivenRules {
  readonly retry_policy?: { readonly max_retries?: number | undefined } | null | undefined
}

export interface Policies {
  readonly rules: ScheduleRules
  /** The schedule's own, or null: then what it wakes decides. */
  readonly retryPolicy: RetryPolicy | null
}

/**
 * The policies of a schedule, with the defaults of what was left out. What a retry policy leaves out comes from
 * `retryBase`, because the default number of retries depends on what is woken.
 */
export function policiesFrom(given: GivenPolicies, retryBase = DEFAULT_RETRY_POLICY): Parsed<Policies> {
  const { retry_policy: retries, ...fields } = given
  const rules = renamed(fields, FIELDS, ['onWire', 'inCode']) as unknown as ScheduleRules
  if (retries === undefined || retries === null) return parsed({ rules, retryPolicy: null })
  const read = parseKeptPolicy('retry_policy', retries, retryBase)
  if (!read.ok) return read
  // Only a number that was written limits failure action RETRY; the one that a policy has by default does not.
  return parsed({ rules: { ...rules, ownMaxRetries: retries.max_retries ?? null }, retryPolicy: read.value })
}

/** Rules in the names of the API. Those that an earlier release has not stored have their defaults. */
export function ruleFieldsOf(rules: ScheduleRules): RuleFields {
  const { own_max_retries: _own, ...fields } = renamed({ ...rules }, FIELDS, ['inCode', 'onWire'])
  return fields as unknown as RuleFields
}

/** The names of these fields. */
export const RULE_FIELDS = Object.keys(ruleFieldsOf(DEFAULT_SCHEDULE_RULES)) as readonly (keyof RuleFields)[]
