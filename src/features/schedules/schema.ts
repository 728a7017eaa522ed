import { z } from 'zod'
import { anyJson, isoTime, omittedPayload, owner, pageOf, paging } from '../../api/common.ts'
import {
  fieldsRule,
  timeInput,
  named,
  rule,
  sessionKeyText,
  type Shape,
  storableJson,
  text,
  integerBetween,
} from '../../api/fields.ts'
import { SCHEDULE_ALERT_KINDS } from '../../domain/alerts.ts'
import type { Flaw } from '../../domain/input.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { MAX_TIMEOUT_SECONDS } from '../../domain/run/timeouts.ts'
import { ENABLED_WORDS, SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import { ruleFieldsOf } from '../../domain/schedule/rule-fields.ts'
import {
  CONCURRENCY_POLICIES,
  DEFAULT_SCHEDULE_RULES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../domain/schedule/rules.ts'
import { MAX_CRON_LENGTH, parseCron } from '../../domain/time/cron-grammar.ts'
import { DAY_MATCHES } from '../../domain/time/cron-match.ts'
import { DST_POLICIES } from '../../domain/time/dst-policy.ts'
import { MAX_EXCLUSIONS, parseExclusion } from '../../domain/time/exclusion.ts'
import { MAX_JITTER_MS } from '../../domain/time/jitter.ts'
import { MAX_RULE_LENGTH } from '../../domain/time/rrule.ts'
import {
  isGiven,
  KIND_WORDS,
  MAX_INTERVAL_SECONDS,
  MIN_INTERVAL_SECONDS,
  synonymFlaws,
  timingFlaws,
} from '../../domain/time/timing-fields.ts'
import { MAX_ZONE_NAME, parseZone } from '../../domain/time/zone.ts'
import { executor, inlineExecutor } from '../../executors/schema.ts'
import { scheduleBudget, scheduleBudgetInput } from '../budgets/schema.ts'
import { probeCounts, probeInput } from '../probes/schema.ts'
import { cadence, cadenceInput, ladder, pace, retryPolicy, retryPolicyInput, scheduleNote } from './rules-schema.ts'
import { scheduleDelivery } from '../targets/schema.ts'

const DAY_SECONDS = 86_400
const YEAR_SECONDS = 366 * DAY_SECONDS

/** Fields with their descriptions, which are used for both the input and the view. */
type DescribedFields = Readonly<Record<string, readonly [field: z.ZodType, about: string]>>

const describeEach = (
  fields: DescribedFields,
  wrap: (field: z.ZodType) => z.ZodType,
  describe = (_name: string, description: string): string => description,
): Readonly<Record<string, z.ZodType>> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, [field, description]]) => [
      name,
      wrap(field).describe(describe(name, description)),
    ]),
  )

const RULE_DEFAULTS: Readonly<Record<string, unknown>> = ruleFieldsOf(DEFAULT_SCHEDULE_RULES)
const FAILURE_OPTION_DEFAULTS = RULE_DEFAULTS['failure_options'] as Readonly<Record<string, unknown>>

/** The description of a field, with its default if it has one. */
function withDefault(name: string, description: string): string {
  const defaultValue = RULE_DEFAULTS[name] ?? null
  if (defaultValue === null) return description
  return `${description} Default: ${typeof defaultValue === 'string' ? `\`${defaultValue}\`` : JSON.stringify(defaultValue)}.`
}

/** Optional fields; null means the default. */
const nullishFields = <const F extends DescribedFields>(
  fields: F,
): { [Name in keyof F]: z.ZodOptional<z.ZodNullable<F[Name][0]>> } =>
  describeEach(fields, (field) => field.nullish(), withDefault) as never

const optionalFields = <const F extends DescribedFields>(fields: F): { [Name in keyof F]: z.ZodOptional<F[Name][0]> } =>
  describeEach(fields, (field) => field.optional()) as never

const viewFields = <const F extends DescribedFields>(fields: F): { [Name in keyof F]: F[Name][0] } =>
  describeEach(fields, (field) => field) as never

/** Fields that are null without a limit. */
const nullableFields = <const F extends DescribedFields>(fields: F): { [Name in keyof F]: z.ZodNullable<F[Name][0]> } =>
  describeEach(fields, (field) => field.nullable()) as never

const failureOptions = {
  ladder_seconds: [ladder, 'With `BACKOFF`: the waits after the first, second and later failures.'],
  threshold: [
    integerBetween(1, 1_000),
    'With `HALF_OPEN`: consecutive failures after which occurrences are skipped. Default: 3.',
  ],
  cooldown_seconds: [
    integerBetween(1, 30 * DAY_SECONDS),
    'With `HALF_OPEN`: how long occurrences are skipped. Default: 5 min.',
  ],
} as const

/** Rules that every schedule has, given or by default. */
const rules = {
  misfire_policy: [z.enum(MISFIRE_POLICIES), 'What happens after missed occurrences.'],
  catchup_limit: [integerBetween(1, 10_000), 'How many missed occurrences are caught up, newest first.'],
  overlap_action: [z.enum(OVERLAP_ACTIONS), 'What happens while the previous run is pending.'],
  failure_action: [z.enum(FAILURE_ACTIONS), 'What happens after a failed run.'],
  concurrency_policy: [z.enum(CONCURRENCY_POLICIES), 'What happens when all slots of the schedule are taken.'],
  max_concurrency: [integerBetween(1, 10_000), 'Slots of the schedule.'],
  queue_depth: [integerBetween(0, 100_000), 'How many runs may wait for a slot.'],
  jitter_ms: [integerBetween(0, MAX_JITTER_MS), 'Maximum delay of a start. An occurrence always gets the same delay.'],
} as const

/** Rules that are optional. */
const limits = {
  catchup_window_seconds: [
    integerBetween(0, YEAR_SECONDS),
    'Maximum age of a missed occurrence that is caught up. Default: 15 min.',
  ],
  max_parallel: [integerBetween(1, 10_000), 'With `PARALLEL`: maximum number of concurrent runs. Default: no limit.'],
  max_fires: [integerBetween(1), 'Number of runs after which the schedule ends. Default: no limit.'],
  alert_after: [
    integerBetween(1, 1_000_000),
    "Consecutive failures that raise an alert. Default: the deployment's setting.",
  ],
  max_lateness_seconds: [
    integerBetween(0, YEAR_SECONDS),
    'Maximum lateness of a run before an alert is raised. Default: no limit.',
  ],
} as const

/** The settings of the policies with their defaults, for docs/concepts/schedules.md. */
export const POLICY_SETTINGS: readonly (readonly [name: string, about: string, usual: unknown])[] = [
  ...Object.entries<DescribedFields[string]>({ ...rules, ...limits })
    .filter(([, [field]]) => !(field instanceof z.ZodEnum))
    .map(([name, [, description]]) => [name, description, RULE_DEFAULTS[name]] as const),
  ...Object.entries<DescribedFields[string]>(failureOptions).map(
    ([name, [, description]]) => [`failure_options.${name}`, description, FAILURE_OPTION_DEFAULTS[name]] as const,
  ),
]

const FAILURE_OPTIONS_DESCRIPTION = 'Options for `failure_action`.'

/** The rules of a schedule in its view. */
const rulesView = {
  ...viewFields(rules),
  ...nullableFields(limits),
  failure_options: z.strictObject(viewFields(failureOptions)).describe(FAILURE_OPTIONS_DESCRIPTION),
}

const everySeconds = integerBetween(MIN_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS)
const cronText = z.string().min(1).max(MAX_CRON_LENGTH).check(rule(parseCron))
const zoneName = z.string().min(1).max(MAX_ZONE_NAME).check(rule(parseZone))
const atMs = integerBetween(0, 253_402_300_799_999)
const everyMs = integerBetween(MIN_INTERVAL_SECONDS * 1_000, MAX_INTERVAL_SECONDS * 1_000)

/** Days and time ranges without occurrences. */
export const exclusion = z
  .array(z.union([z.string(), z.looseObject({ from: z.string(), to: z.string() })]))
  .max(MAX_EXCLUSIONS)
  .check(rule(parseExclusion))

/** Policy values are accepted in any case and returned as written here. */
export const scheduleFields = {
  name: text(1, 200).nullish().describe('Name of the schedule.'),
  description: text(0, 10_000).nullish().describe('Free-text description.'),
  agent_id: text(1, 200).nullish().describe('Agent that does the work. Default: the default agent of the org.'),
  executor: inlineExecutor
    .nullish()
    .describe('Executor to use instead of an agent. Runs without an agent are retried only with a `retry_policy`.'),
  at: timeInput.nullish().describe('Run once at this time: RFC 3339, or Unix time in milliseconds.'),
  every_seconds: everySeconds.nullish().describe('Interval between occurrences, counted from `anchor`.'),
  anchor: timeInput.nullish().describe('Start of the interval or recurrence. Default: when the schedule was created.'),
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
  lane: text(1, 100).nullish().describe('Lane whose slots the runs use. Default: the lane of scheduled work.'),
  enabled: z.boolean().nullish().describe('Whether the schedule fires. Default: true.'),
  ...nullishFields(rules),
  ...nullishFields(limits),
  failure_options: z.strictObject(optionalFields(failureOptions)).nullish().describe(FAILURE_OPTIONS_DESCRIPTION),
  retry_policy: retryPolicyInput.nullish().describe('Retries of failed attempts. Default: the policy of the agent.'),
  timeout_seconds: integerBetween(-MAX_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS)
    .nullish()
    .describe('Maximum duration of an attempt. Default: the timeout of the agent.'),
  starts_at: timeInput.nullish().describe('No occurrence before this time.'),
  ends_at: timeInput.nullish().describe('No occurrence at or after this time.'),
  exclude: exclusion.nullish().describe('Dates such as `2026-12-25`, and windows `{from, to}`, without occurrences.'),
  cadence: cadenceInput
    .nullish()
    .describe('Bounds within which the interval adapts. Default: the interval stays fixed. Only with `every_seconds`.'),
  delete_after_run: z.boolean().nullish().describe('Delete a one-time schedule after its run.'),
  delivery: scheduleDelivery.nullish().describe('Target for results. Default: none.'),
  budget: scheduleBudgetInput.nullish().describe('Budget of the schedule. Default: no limit.'),
  probe: probeInput.nullish().describe('Check that runs before the agent does. Default: none.'),
  kind: z.enum(KIND_WORDS).nullish().describe('Kind of timing. Default: that of the timing field given.'),
  schedule_type: z.enum(KIND_WORDS).nullish().describe('Same as `kind`.'),
  cron_expr: cronText.nullish().describe('Same as `cron`.'),
  expr: cronText.nullish().describe('Same as `cron`.'),
  interval_seconds: everySeconds.nullish().describe('Same as `every_seconds`.'),
  everyMs: everyMs.nullish().describe('Same as `every_seconds`, in milliseconds.'),
  run_at: timeInput.nullish().describe('Same as `at`.'),
  atMs: atMs.nullish().describe('Same as `at`, as Unix time in milliseconds.'),
  tz: zoneName.nullish().describe('Same as `timezone`.'),
  status: z
    .enum(ENABLED_WORDS)
    .nullish()
    .describe('`ENABLED` or `DISABLED` (case-insensitive); same as `enabled` true or false.'),
}

type Given = Readonly<Record<string, unknown>>

/** Flaws between the fields of a schedule. `isWhole`: a new schedule, which must have a timing. */
export const scheduleFlaws = (given: Given, isWhole: boolean): readonly Flaw[] => [
  ...timingFlaws(given, isWhole),
  ...synonymFlaws(given, ['enabled', 'status']),
  ...executorFlaws(given),
]

const executorFlaws = ({ executor, agent_id: agentId }: Given): readonly Flaw[] =>
  isGiven(executor) && isGiven(agentId)
    ? [{ field: 'executor', value: executor, message: 'cannot be combined with agent_id' }]
    : []

/** Checks between the fields of a new schedule, and of a change. */
export const scheduleRule = fieldsRule<Given>((given) => scheduleFlaws(given, true))
const scheduleChangeRule = fieldsRule<Given>((given) => scheduleFlaws(given, false))

export const SCHEDULE_SORTS = [
  '-created_at',
  'created_at',
  'name',
  '-name',
  'next_run_at',
  '-next_run_at',
  '-failure_streak',
] as const

export type ScheduleSort = (typeof SCHEDULE_SORTS)[number]

export const scheduleInput = named(
  'ScheduleInput',
  z.strictObject(scheduleFields).check(scheduleRule),
  'Exactly one of at, every_seconds, cron and rrule is required; every other field has a default, which null restores.',
)
export type ScheduleInput = Shape<typeof scheduleInput>

export const schedulePatch = named(
  'SchedulePatch',
  z.strictObject(scheduleFields).check(scheduleChangeRule),
  'A change of a schedule. Omitted fields keep their values; null restores the default.',
)

/** The timing of a schedule in its view. */
const timingView = {
  timezone: z.string(),
  at: isoTime.optional(),
  every_seconds: z.int().optional(),
  everyMs: z.int().optional().describe('In place of `every_seconds`, for intervals that are not whole seconds.'),
  anchor: isoTime.optional(),
  cron: z.string().optional(),
  dst: z.enum(DST_POLICIES).optional(),
  day_match: z.enum(DAY_MATCHES).optional(),
  rrule: z.string().optional(),
  starts_at: isoTime.optional(),
  ends_at: isoTime.optional(),
  exclude: z.array(z.union([z.string(), z.strictObject({ from: isoTime, to: isoTime })])).optional(),
  cadence: cadence.optional(),
  schedule_type: z.enum(['cron', 'interval', 'once', 'rrule']).optional(),
  cron_expr: z.string().optional(),
  interval_seconds: z.number().optional(),
  run_at: isoTime.optional(),
}

const approval = named(
  'Approval',
  z.strictObject({
    requested_by: z.string(),
    run_id: z.string().nullable(),
    requested_at: isoTime,
    changes: z
      .record(z.string(), z.strictObject({ before: anyJson, after: anyJson }))
      .nullable()
      .describe('Last approved and proposed values by field. Null: the schedule is new.'),
    rejected: z.strictObject({ by: z.string(), at: isoTime, reason: z.string() }).nullable(),
  }),
  'A new schedule or a change that needs approval.',
)
export type ApprovalView = Shape<typeof approval>

export const rejectInput = named(
  'RejectInput',
  z.strictObject({ reason: text(1, 1_000) }),
  'Why a proposal is rejected.',
)
export type RejectInput = Shape<typeof rejectInput>

export const schedule = named(
  'Schedule',
  z.strictObject({
    ...timingView,
    ...rulesView,
    id: z.string(),
    org_id: z.string(),
    name: z.string(),
    description: z.string(),
    agent_id: z.string().nullable().describe('Null: the schedule has its own executor.'),
    executor: executor.nullable(),
    kind: z.enum(['at', 'every', 'cron', 'rrule']),
    sentence: z.string(),
    state: z.enum(SCHEDULE_STATES),
    enabled: z.boolean(),
    next_run_at: isoTime.nullable(),
    pace: pace.nullable().describe('Current interval. Null without a cadence.'),
    last_run_at: isoTime.nullable(),
    last_status: z.enum(RUN_STATES).nullable(),
    last_error: z.string().nullable(),
    failure_streak: z.int(),
    failure_count: z.int(),
    alerts: z.array(z.enum(SCHEDULE_ALERT_KINDS)).describe('Kinds of open alerts.'),
    fires: z.int().describe('Occurrences that became runs.'),
    session: z.string(),
    lane: z.string().nullable(),
    retry_policy: retryPolicy.nullable().describe('Null: the default of the agent or executor.'),
    timeout_seconds: z.int().nullable(),
    delete_after_run: z.boolean(),
    payload: anyJson,
    ...omittedPayload,
    delivery: scheduleDelivery.nullable(),
    delivery_disabled: z.boolean().describe('Whether the target is disabled, so that results are held.'),
    budget: scheduleBudget.nullable().describe('Its own budget.'),
    probe: probeInput.nullable().describe('Check that runs before the agent does.'),
    probe_counts: probeCounts
      .optional()
      .describe('How often the probe ran and what it saved. Only of a single schedule, once it has run.'),
    created_by: z.string().nullable(),
    owner,
    created_by_run: z
      .string()
      .nullable()
      .describe('Run that created the schedule, or that the schedule was created from.'),
    approval: approval.nullable().describe('The change that needs approval, or was rejected.'),
    created_at: isoTime,
    updated_at: isoTime,
    version: z.int(),
    notes: z
      .array(z.string())
      .optional()
      .describe(
        'Values filled in by restrictions (only when it is created), and whether it can never fire (only of a single schedule).',
      ),
    note_codes: z.array(scheduleNote).optional().describe('The same notes as codes with values, for translation.'),
  }),
  'A schedule with its defaults and its state.',
)
export type ScheduleView = Shape<typeof schedule>

export const schedulePage = pageOf('SchedulePage', schedule)

export const scheduleFilter = z.strictObject({
  state: z.enum(SCHEDULE_STATES).optional().describe('State of the schedule.'),
  agent_id: z.string().min(1).max(200).optional().describe('Schedules of this agent.'),
  kind: z.enum(KIND_WORDS).optional().describe('Kind of timing.'),
  q: z.string().max(200).optional().describe('Part of the name or description (case-insensitive).'),
  failing: z.boolean().optional().describe('Whether the last run failed or the schedule was given up.'),
  sort: z.enum(SCHEDULE_SORTS).optional().describe('Default: `-created_at`, newest first.'),
  ...paging,
})
export type ScheduleFilter = Shape<typeof scheduleFilter>

export const runNowInput = z.strictObject({
  mode: z.enum(['force', 'due']).optional(),
})

export const runNowAnswer = named(
  'RunNowAnswer',
  z.strictObject({ ran: z.boolean(), run_id: z.string().optional(), reason: z.literal('not-due').optional() }),
)
export type RunNowAnswer = Shape<typeof runNowAnswer>

/** The timing of a schedule with its defaults. The fields depend on the kind. */
export type ScheduleTimingView = Pick<ScheduleView, keyof typeof timingView>
