import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { ruleFieldsOf, type RuleFields } from '../../../src/domain/schedule/rule-fields.ts'
import { DEFAULT_SCHEDULE_RULES } from '../../../src/domain/schedule/rules.ts'
import type { Num } from './num.ts'

/** The typed text, or null if it is empty. */
export const some = (typed: string): string | null => (typed.trim() === '' ? null : typed.trim())

/** These have fields of their own in the form. */
const { failure_options: _options, jitter_ms: _jitter, ...RULES } = ruleFieldsOf(DEFAULT_SCHEDULE_RULES)

type Rules = Omit<RuleFields, 'failure_options' | 'jitter_ms'>

/** The fields that the form and the server call the same, empty in the form where the server has null. */
export type PlainForm = { readonly lane: string; readonly timeout_seconds: Num } & {
  readonly [Name in keyof Rules]: Rules[Name] extends string ? string : Num
}
type PlainName = keyof PlainForm

const DEFAULTS = { lane: null, timeout_seconds: null, ...RULES }
const NAMES = Object.keys(DEFAULTS) as readonly PlainName[]
const collected = <T>(valueOf: (name: PlainName) => T): Readonly<Record<PlainName, T>> =>
  Object.fromEntries(NAMES.map((name) => [name, valueOf(name)])) as Record<PlainName, T>

/** What a new schedule begins with. */
export const EMPTY_PLAIN = collected((name) => DEFAULTS[name] ?? '') as PlainForm

/** The plain fields of a schedule as it is. */
export const plainForm = (schedule: ScheduleView): PlainForm => collected((name) => schedule[name] ?? '') as PlainForm

/** What the server takes. */
export const plainInput = (form: PlainForm): Readonly<Record<PlainName, string | number | null>> =>
  collected((name) => {
    const value: string | number = form[name]
    return typeof value === 'string' ? some(value) : value
  })
