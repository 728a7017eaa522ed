import type { ScheduleView } from '../../src/contract/schedule.ts'
import { DEFAULT_SCHEDULE_RULES as RULES } from '../../src/core/schedule/schedule-rules.ts'
import type { Num } from './num.ts'

/** A field that the form and the server call the same, and that is empty in the form where the server has null. */
interface PlainField<T> {
  /** What a new schedule begins with. */
  readonly empty: T
  readonly input: (value: T) => string | number | null
}

const number = (usual: number | null = null): PlainField<Num> => ({
  empty: usual ?? '',
  input: (value) => (value === '' ? null : value),
})
const word = (usual: string): PlainField<string> => ({ empty: usual, input: (value) => value })
const text: PlainField<string> = { empty: '', input: (value) => some(value) }

/** What somebody typed, or null where that is nothing. */
export const some = (typed: string): string | null => (typed.trim() === '' ? null : typed.trim())

const FIELDS = {
  lane: text,
  misfire_policy: word(RULES.misfirePolicy),
  catchup_limit: number(RULES.catchupLimit),
  catchup_window_seconds: number(RULES.catchupWindowSeconds),
  overlap_action: word(RULES.overlapAction),
  max_parallel: number(RULES.maxParallel),
  failure_action: word(RULES.failureAction),
  concurrency_policy: word(RULES.concurrencyPolicy),
  max_concurrency: number(RULES.maxConcurrency),
  queue_depth: number(RULES.queueDepth),
  timeout_seconds: number(),
  max_fires: number(RULES.maxFires),
  alert_after: number(RULES.alertAfter),
  max_lateness_seconds: number(RULES.maxLatenessSeconds),
} satisfies { readonly [Name in keyof ScheduleView]?: PlainField<string> | PlainField<Num> }

type PlainName = keyof typeof FIELDS
/** What a form holds of them. */
export type PlainForm = { readonly [Name in PlainName]: (typeof FIELDS)[Name]['empty'] }

const NAMES = Object.keys(FIELDS) as readonly PlainName[]
const collected = <T>(valueOf: (name: PlainName) => T): Readonly<Record<PlainName, T>> =>
  Object.fromEntries(NAMES.map((name) => [name, valueOf(name)])) as Record<PlainName, T>

export const EMPTY_PLAIN = collected((name) => FIELDS[name].empty) as PlainForm

/** The plain fields of a schedule as it is. */
export const plainForm = (schedule: ScheduleView): PlainForm => collected((name) => schedule[name] ?? '') as PlainForm

/** What the server takes. */
export const plainInput = (form: PlainForm): Readonly<Record<PlainName, string | number | null>> =>
  collected((name) => (FIELDS[name].input as (value: string | number) => string | number | null)(form[name]))
