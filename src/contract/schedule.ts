import { z } from 'zod'
import { SCHEDULE_ALERT_KINDS } from '../core/alerts.ts'
import {
  CONCURRENCY_POLICIES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../core/schedule/schedule-rules.ts'
import { ENABLED_WORDS, SCHEDULE_STATES } from '../core/schedule/schedule-life.ts'
import { DAY_MATCHES, DST_POLICIES } from '../core/time/cron.ts'
import { anyJson, givenMoment, moment, pageOf, omittedPayload, paging } from './common.ts'
import { scheduleBudget, scheduleBudgetInput } from './budget.ts'
import { executor, inlineExecutor } from './executor.ts'
import { cadence, cadenceInput, pace } from './pace.ts'
import { ladder, retryPolicy, retryPolicyInput } from './retry-policy.ts'
import { named, type Shape } from './shape.ts'
import { scheduleNote } from './schedule-note.ts'
import { scheduleDelivery } from './target.ts'
import { probeCounts, probeInput } from './probe.ts'

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

const DAY_SECONDS = 86_400
const YEAR_SECONDS = 366 * DAY_SECONDS
const KIND_WORDS = ['at', 'once', 'every', 'interval', 'cron', 'rrule'] as const

const failureOptions = z.strictObject({
  ladder_seconds: ladder.optional(),
  threshold: z.int().min(1).max(1_000).optional(),
  cooldown_seconds: z
    .int()
    .min(1)
    .max(30 * DAY_SECONDS)
    .optional(),
})

/** Policy words are taken in any case and shown as they stand here. */
export const scheduleFields = {
  name: z.string().min(1).max(200).nullish(),
  description: z.string().max(10_000).nullish(),
  agent_id: z.string().min(1).max(200).nullish(),
  executor: inlineExecutor
    .nullish()
    .describe(
      'In place of an agent: how the work is performed. Such runs are not repeated unless `retry_policy` says so.',
    ),
  at: givenMoment.nullish(),
  every_seconds: z
    .int()
    .min(1)
    .max(100 * YEAR_SECONDS)
    .nullish(),
  anchor: givenMoment.nullish(),
  cron: z.string().min(1).nullish(),
  rrule: z.string().min(1).nullish(),
  timezone: z.string().min(1).nullish(),
  dst: z.enum(DST_POLICIES).nullish(),
  day_match: z.enum(DAY_MATCHES).nullish(),
  payload: anyJson.optional(),
  session: z.string().min(1).max(512).nullish().describe('`isolated` (default), `main`, or a session key.'),
  lane: z.string().min(1).max(100).nullish(),
  enabled: z.boolean().nullish(),
  misfire_policy: z.enum(MISFIRE_POLICIES).nullish(),
  catchup_limit: z.int().min(1).max(10_000).nullish(),
  catchup_window_seconds: z.int().min(0).max(YEAR_SECONDS).nullish(),
  overlap_action: z.enum(OVERLAP_ACTIONS).nullish(),
  max_parallel: z.int().min(1).max(10_000).nullish(),
  failure_action: z.enum(FAILURE_ACTIONS).nullish(),
  failure_options: failureOptions.nullish(),
  concurrency_policy: z.enum(CONCURRENCY_POLICIES).nullish(),
  max_concurrency: z.int().min(1).max(10_000).nullish(),
  queue_depth: z.int().min(0).max(100_000).nullish(),
  retry_policy: retryPolicyInput.nullish(),
  timeout_seconds: z.int().min(-YEAR_SECONDS).max(YEAR_SECONDS).nullish(),
  starts_at: givenMoment.nullish(),
  ends_at: givenMoment.nullish(),
  max_fires: z.int().min(1).nullish(),
  jitter_ms: z.int().min(0).nullish(),
  alert_after: z
    .int()
    .min(1)
    .nullish()
    .describe("Failures in a row that raise an alert; the deployment's number unless given."),
  max_lateness_seconds: z
    .int()
    .min(0)
    .nullish()
    .describe('A run that starts later than this raises an alert; however late unless given.'),
  exclude: z.array(anyJson).nullish(),
  cadence: cadenceInput
    .nullish()
    .describe('How far the interval may move by itself; it stays as it is unless given. Only with `every_seconds`.'),
  delete_after_run: z.boolean().nullish(),
  delivery: scheduleDelivery.nullish().describe('Where the results of its runs go; nowhere unless given.'),
  budget: scheduleBudgetInput.nullish().describe('What its runs may use; as much as they want unless given.'),
  probe: probeInput.nullish().describe('What is asked before the agent is woken; nothing unless given.'),
  kind: z.enum(KIND_WORDS).nullish(),
  schedule_type: z.enum(KIND_WORDS).nullish(),
  cron_expr: z.string().min(1).nullish(),
  expr: z.string().min(1).nullish(),
  interval_seconds: z
    .int()
    .min(1)
    .max(100 * YEAR_SECONDS)
    .nullish(),
  everyMs: z.int().min(1_000).nullish(),
  run_at: givenMoment.nullish(),
  atMs: z.int().min(0).nullish(),
  tz: z.string().min(1).nullish(),
  status: z.enum(ENABLED_WORDS).nullish().describe('`ENABLED` or `DISABLED`, in any case: `enabled` as true or false.'),
}

export const scheduleInput = named(
  'ScheduleInput',
  z.strictObject(scheduleFields),
  'Exactly one of at, every_seconds, cron and rrule says when; everything else has a default, which null brings back.',
)
export type ScheduleInput = Shape<typeof scheduleInput>

/** When it fires, as it is shown. */
const timingView = {
  timezone: z.string(),
  at: moment.optional(),
  every_seconds: z.int().optional(),
  everyMs: z
    .int()
    .optional()
    .describe('Instead of `every_seconds`, when the interval is not a whole number of seconds.'),
  anchor: moment.optional(),
  cron: z.string().optional(),
  dst: z.enum(DST_POLICIES).optional(),
  day_match: z.enum(DAY_MATCHES).optional(),
  rrule: z.string().optional(),
  starts_at: moment.optional(),
  ends_at: moment.optional(),
  exclude: z.array(z.union([z.string(), z.strictObject({ from: moment, to: moment })])).optional(),
  cadence: cadence.optional(),
  schedule_type: z.enum(['cron', 'interval', 'once', 'rrule']).optional(),
  cron_expr: z.string().optional(),
  interval_seconds: z.number().optional(),
  run_at: moment.optional(),
}

const rulesView = {
  misfire_policy: z.enum(MISFIRE_POLICIES),
  catchup_limit: z.int(),
  catchup_window_seconds: z.int().nullable(),
  overlap_action: z.enum(OVERLAP_ACTIONS),
  max_parallel: z.int().nullable(),
  failure_action: z.enum(FAILURE_ACTIONS),
  failure_options: z.strictObject({
    ladder_seconds: z.array(z.number()),
    threshold: z.int(),
    cooldown_seconds: z.int(),
  }),
  concurrency_policy: z.enum(CONCURRENCY_POLICIES),
  max_concurrency: z.int(),
  queue_depth: z.int(),
  max_fires: z.int().nullable(),
  jitter_ms: z.int(),
  alert_after: z.int().nullable().describe("Null: the deployment's number."),
  max_lateness_seconds: z.int().nullable(),
}

const approval = named(
  'Approval',
  z.strictObject({
    requested_by: z.string(),
    run_id: z.string().nullable(),
    requested_at: moment,
    changes: z
      .record(z.string(), z.strictObject({ before: anyJson, after: anyJson }))
      .nullable()
      .describe('What it was when it was last approved, and what it is to be; null: it is new.'),
    rejected: z.strictObject({ by: z.string(), at: moment, reason: z.string() }).nullable(),
  }),
  'A new schedule, or a change of one, that waits for somebody who may approve it.',
)
export type ApprovalView = Shape<typeof approval>

export const rejectInput = named(
  'RejectInput',
  z.strictObject({ reason: z.string().min(1).max(1_000) }),
  'Why somebody does not want what was proposed.',
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
    agent_id: z.string().nullable().describe('Null: the schedule has an executor of its own.'),
    executor: executor.nullable(),
    kind: z.enum(['at', 'every', 'cron', 'rrule']),
    sentence: z.string(),
    state: z.enum(SCHEDULE_STATES),
    enabled: z.boolean(),
    next_run_at: moment.nullable(),
    pace: pace.nullable().describe('How often it comes now; null unless it has a cadence.'),
    last_run_at: moment.nullable(),
    last_status: z.string().nullable(),
    last_error: z.string().nullable(),
    failure_streak: z.int(),
    failure_count: z.int(),
    alerts: z.array(z.enum(SCHEDULE_ALERT_KINDS)).describe('Kinds of its open alerts.'),
    fires: z.int().describe('Occurrences that became runs.'),
    session: z.string(),
    lane: z.string().nullable(),
    retry_policy: retryPolicy.nullable().describe('Null: what it wakes decides.'),
    timeout_seconds: z.int().nullable(),
    delete_after_run: z.boolean(),
    payload: anyJson,
    ...omittedPayload,
    delivery: scheduleDelivery.nullable(),
    delivery_disabled: z.boolean().describe('Whether the target is switched off, so that results are held.'),
    budget: scheduleBudget.nullable().describe('Its own budget.'),
    probe: probeInput.nullable().describe('What is asked before the agent is woken.'),
    probe_counts: probeCounts
      .optional()
      .describe(
        'How often that was asked, and what it has saved; only of one schedule that is asked for, once it was.',
      ),
    created_by: z.string().nullable(),
    owner: z.string().nullable().describe('The key or the agent (`agent:<id>`) that made it under guard rails.'),
    created_by_run: z.string().nullable().describe('The run that made it, or that somebody made it of.'),
    approval: approval.nullable().describe('What somebody is asked to approve, or has rejected.'),
    created_at: moment,
    updated_at: moment,
    version: z.int(),
    notes: z
      .array(z.string())
      .optional()
      .describe(
        'What guard rails have filled in, in the answer to its creation; and that it can never fire, wherever one schedule is shown.',
      ),
    note_codes: z
      .array(scheduleNote)
      .optional()
      .describe('The same notes as codes with values, for texts in other languages.'),
  }),
  'A schedule as every surface shows it: what it was given, completed by its defaults, and where it stands.',
)
export type ScheduleView = Shape<typeof schedule>

export const schedulePage = pageOf('SchedulePage', schedule)

export const scheduleFilter = z.strictObject({
  state: z.enum(SCHEDULE_STATES).optional(),
  agent_id: z.string().min(1).max(200).optional(),
  kind: z.enum(KIND_WORDS).optional(),
  q: z.string().max(200).optional().describe('A part of name or description, in any case.'),
  failing: z.boolean().optional().describe('Those whose last run failed, or that were given up; `false`: the others.'),
  sort: z.enum(SCHEDULE_SORTS).optional().describe('`-created_at`, newest first, unless given.'),
  ...paging,
})
export type ScheduleFilter = Shape<typeof scheduleFilter>

export const runNowInput = z.strictObject({
  mode: z.enum(['force', 'due']).optional(),
})

export const runNowAnswer = named(
  'RunNowAnswer',
  z.strictObject({ ran: z.boolean(), run_id: z.string().optional(), reason: z.string().optional() }),
)
export type RunNowAnswer = Shape<typeof runNowAnswer>

/** When a schedule fires, with everything that was filled in written out. Which fields there are depends on the kind. */
export type ScheduleTimingView = Pick<ScheduleView, keyof typeof timingView>

/** How the occurrences of a schedule become runs, or do not. */
export type ScheduleRulesView = Pick<ScheduleView, keyof typeof rulesView>
