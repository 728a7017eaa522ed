import { z } from 'zod'
import type { Flaw } from '../domain/input.ts'
import { MAX_TIMEOUT_SECONDS } from '../domain/run/timeouts.ts'
import { ENABLED_WORDS } from '../domain/schedule/lifecycle.ts'
import { ruleFieldsOf } from '../domain/schedule/rule-fields.ts'
import {
  CONCURRENCY_POLICIES,
  DEFAULT_SCHEDULE_RULES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../domain/schedule/rules.ts'
import { DAY_MATCHES, DST_POLICIES } from '../core/time/cron.ts'
import { MAX_CRON_LENGTH, parseCron } from '../core/time/cron-grammar.ts'
import { MAX_EXCLUSIONS, parseExclusion } from '../domain/time/exclusion.ts'
import { MAX_JITTER_MS } from '../domain/time/jitter.ts'
import { MAX_RULE_LENGTH } from '../core/time/rrule.ts'
import {
  isGiven,
  KIND_WORDS,
  MAX_INTERVAL_SECONDS,
  MIN_INTERVAL_SECONDS,
  synonymFlaws,
  timingFlaws,
} from '../domain/time/timing-fields.ts'
import { MAX_ZONE_NAME, parseZone } from '../core/time/zone.ts'
import { scheduleBudgetInput } from '../features/budgets/schema.ts'
import { inlineExecutor } from '../executors/schema.ts'
import { fieldsRule, givenMoment, rule, sessionKeyText, storableJson, text, whole } from '../api/fields.ts'
import { cadenceInput } from './pace.ts'
import { probeInput } from '../features/probes/schema.ts'
import { ladder, retryPolicyInput } from './retry-policy.ts'
import { scheduleDelivery } from '../features/targets/schema.ts'

const DAY_SECONDS = 86_400
const YEAR_SECONDS = 366 * DAY_SECONDS

/** Fields, each with what it is for; a description stands on a field as it is given and as it is shown. */
type Described = Readonly<Record<string, readonly [field: z.ZodType, about: string]>>

const described = (
  fields: Described,
  wrap: (field: z.ZodType) => z.ZodType,
  tell = (_name: string, about: string): string => about,
): Readonly<Record<string, z.ZodType>> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, [field, about]]) => [name, wrap(field).describe(tell(name, about))]),
  )

const USUAL: Readonly<Record<string, unknown>> = ruleFieldsOf(DEFAULT_SCHEDULE_RULES)
const USUAL_FAILURE_OPTIONS = USUAL['failure_options'] as Readonly<Record<string, unknown>>

/** What a field is for, and what it is where it is left out and always has a value. */
function withDefault(name: string, about: string): string {
  const usual = USUAL[name] ?? null
  if (usual === null) return about
  return `${about} Default: ${typeof usual === 'string' ? `\`${usual}\`` : JSON.stringify(usual)}.`
}

/** Fields that may be left out, or be null where that stands for the default. */
const given = <const F extends Described>(fields: F): { [Name in keyof F]: z.ZodOptional<z.ZodNullable<F[Name][0]>> } =>
  described(fields, (field) => field.nullish(), withDefault) as never

const optional = <const F extends Described>(fields: F): { [Name in keyof F]: z.ZodOptional<F[Name][0]> } =>
  described(fields, (field) => field.optional()) as never

const shown = <const F extends Described>(fields: F): { [Name in keyof F]: F[Name][0] } =>
  described(fields, (field) => field) as never

/** Fields that are null where a schedule has no such limit. */
const orNone = <const F extends Described>(fields: F): { [Name in keyof F]: z.ZodNullable<F[Name][0]> } =>
  described(fields, (field) => field.nullable()) as never

const failureOptions = {
  ladder_seconds: [ladder, 'With `BACKOFF`: the waits after the first, second and later failures.'],
  threshold: [
    whole(1, 1_000),
    'With `HALF_OPEN`: consecutive failures after which occurrences are skipped. Default: 3.',
  ],
  cooldown_seconds: [whole(1, 30 * DAY_SECONDS), 'With `HALF_OPEN`: how long occurrences are skipped. Default: 5 min.'],
} as const

/** Rules that every schedule has, by default or by what was given. */
const rules = {
  misfire_policy: [z.enum(MISFIRE_POLICIES), 'What happens after missed occurrences.'],
  catchup_limit: [whole(1, 10_000), 'How many missed occurrences are caught up, newest first.'],
  overlap_action: [z.enum(OVERLAP_ACTIONS), 'What happens while the previous run is pending.'],
  failure_action: [z.enum(FAILURE_ACTIONS), 'What happens after a failed run.'],
  concurrency_policy: [z.enum(CONCURRENCY_POLICIES), 'What happens when all slots of the schedule are taken.'],
  max_concurrency: [whole(1, 10_000), 'Slots of the schedule.'],
  queue_depth: [whole(0, 100_000), 'How many runs may wait for a slot.'],
  jitter_ms: [whole(0, MAX_JITTER_MS), 'Maximum delay of a start. An occurrence always gets the same delay.'],
} as const

/** Rules that a schedule may be without. */
const limits = {
  catchup_window_seconds: [
    whole(0, YEAR_SECONDS),
    'Maximum age of a missed occurrence that is caught up. Default: 15 min.',
  ],
  max_parallel: [whole(1, 10_000), 'With `PARALLEL`: maximum number of concurrent runs. Default: no limit.'],
  max_fires: [whole(1), 'Number of runs after which the schedule ends. Default: no limit.'],
  alert_after: [whole(1, 1_000_000), "Consecutive failures that raise an alert. Default: the deployment's setting."],
  max_lateness_seconds: [
    whole(0, YEAR_SECONDS),
    'A run that starts later than this raises an alert. Default: no limit.',
  ],
} as const

/** The settings of the policies beside their words, with their values by default, for docs/concepts/schedules.md. */
export const POLICY_SETTINGS: readonly (readonly [name: string, about: string, usual: unknown])[] = [
  ...Object.entries<Described[string]>({ ...rules, ...limits })
    .filter(([, [field]]) => !(field instanceof z.ZodEnum))
    .map(([name, [, about]]) => [name, about, USUAL[name]] as const),
  ...Object.entries<Described[string]>(failureOptions).map(
    ([name, [, about]]) => [`failure_options.${name}`, about, USUAL_FAILURE_OPTIONS[name]] as const,
  ),
]

const ABOUT_FAILURE_OPTIONS = 'Options of `failure_action`.'

/** How the occurrences of a schedule become runs, as it is shown. */
export const rulesView = {
  ...shown(rules),
  ...orNone(limits),
  failure_options: z.strictObject(shown(failureOptions)).describe(ABOUT_FAILURE_OPTIONS),
}

const every = whole(MIN_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS)
const cronText = z.string().min(1).max(MAX_CRON_LENGTH).check(rule(parseCron))
const zoneName = z.string().min(1).max(MAX_ZONE_NAME).check(rule(parseZone))
const atMs = whole(0, 253_402_300_799_999)
const everyMs = whole(MIN_INTERVAL_SECONDS * 1_000, MAX_INTERVAL_SECONDS * 1_000)

/** Days and stretches of time without occurrences. */
export const exclusion = z
  .array(z.union([z.string(), z.looseObject({ from: z.string(), to: z.string() })]))
  .max(MAX_EXCLUSIONS)
  .check(rule(parseExclusion))

/** Policy words are taken in any case and shown as they stand here. */
export const scheduleFields = {
  name: text(1, 200).nullish().describe('Name of the schedule.'),
  description: text(0, 10_000).nullish().describe('What it is for.'),
  agent_id: text(1, 200).nullish().describe('Agent that does the work. Default: the default agent of the org.'),
  executor: inlineExecutor
    .nullish()
    .describe('How the work is performed, in place of an agent. Such runs are retried only with a `retry_policy`.'),
  at: givenMoment.nullish().describe('Run once, at this time: RFC 3339, or milliseconds since 1970.'),
  every_seconds: every.nullish().describe('Interval between occurrences, counted from `anchor`.'),
  anchor: givenMoment
    .nullish()
    .describe('Start of the interval or recurrence. Default: when the schedule was created.'),
  cron: cronText
    .nullish()
    .describe('Cron expression of 5, 6 (with seconds) or 7 fields (with years), or a shortcut such as `@daily`.'),
  rrule: z.string().min(1).max(MAX_RULE_LENGTH).nullish().describe('Recurrence rule as in RFC 5545.'),
  timezone: zoneName.nullish().describe("IANA time zone. Default: the org's time zone."),
  dst: z
    .enum(DST_POLICIES)
    .nullish()
    .describe('What happens at times that a clock change skips or repeats. Default: `vixie`.'),
  day_match: z
    .enum(DAY_MATCHES)
    .nullish()
    .describe('Whether a day must match one of the two day fields (`or`, default) or both (`and`).'),
  payload: storableJson.optional().describe('Input of the agent: text or JSON.'),
  session: sessionKeyText.nullish().describe('`isolated` (default), `main`, or a session key.'),
  lane: text(1, 100).nullish().describe('Lane whose slots its runs use. Default: the lane of scheduled work.'),
  enabled: z.boolean().nullish().describe('Whether it fires. Default: true.'),
  ...given(rules),
  ...given(limits),
  failure_options: z.strictObject(optional(failureOptions)).nullish().describe(ABOUT_FAILURE_OPTIONS),
  retry_policy: retryPolicyInput.nullish().describe('Retries of failed attempts. Default: the policy of the agent.'),
  timeout_seconds: whole(-MAX_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS)
    .nullish()
    .describe('Maximum duration of an attempt. Default: the timeout of the agent.'),
  starts_at: givenMoment.nullish().describe('No occurrence before this time.'),
  ends_at: givenMoment.nullish().describe('No occurrence at or after this time.'),
  exclude: exclusion.nullish().describe('Dates such as `2026-12-25`, and windows `{from, to}`, without occurrences.'),
  cadence: cadenceInput
    .nullish()
    .describe('Bounds within which the interval adapts. Default: it stays fixed. Only with `every_seconds`.'),
  delete_after_run: z.boolean().nullish().describe('Delete a one-time schedule after its run.'),
  delivery: scheduleDelivery.nullish().describe('Target for the results of its runs. Default: none.'),
  budget: scheduleBudgetInput.nullish().describe('Budget of its runs. Default: no limit.'),
  probe: probeInput.nullish().describe('Check that runs before the agent is woken. Default: none.'),
  kind: z.enum(KIND_WORDS).nullish().describe('Kind of timing. Default: that of the timing field given.'),
  schedule_type: z.enum(KIND_WORDS).nullish().describe('Same as `kind`.'),
  cron_expr: cronText.nullish().describe('Same as `cron`.'),
  expr: cronText.nullish().describe('Same as `cron`.'),
  interval_seconds: every.nullish().describe('Same as `every_seconds`.'),
  everyMs: everyMs.nullish().describe('Same as `every_seconds`, in milliseconds.'),
  run_at: givenMoment.nullish().describe('Same as `at`.'),
  atMs: atMs.nullish().describe('Same as `at`, in milliseconds since 1970.'),
  tz: zoneName.nullish().describe('Same as `timezone`.'),
  status: z
    .enum(ENABLED_WORDS)
    .nullish()
    .describe('`ENABLED` or `DISABLED`, in any case; the same as `enabled` true or false.'),
}

type Given = Readonly<Record<string, unknown>>

/** What is wrong between the fields of a schedule. `isWhole`: it is no change, which may leave out when it fires. */
export const scheduleFlaws = (given: Given, isWhole: boolean): readonly Flaw[] => [
  ...timingFlaws(given, isWhole),
  ...synonymFlaws(given, ['enabled', 'status']),
  ...executorFlaws(given),
]

const executorFlaws = ({ executor, agent_id: named }: Given): readonly Flaw[] =>
  isGiven(executor) && isGiven(named)
    ? [{ field: 'executor', value: executor, message: 'cannot be given together with agent_id' }]
    : []

/** The rules between the fields of a new schedule, and of a change. */
export const scheduleRule = fieldsRule<Given>((given) => scheduleFlaws(given, true))
export const changeRule = fieldsRule<Given>((given) => scheduleFlaws(given, false))
