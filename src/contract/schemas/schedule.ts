import { z } from 'zod'
import { SCHEDULE_ALERT_KINDS } from '../../core/alerts.ts'
import {
  CONCURRENCY_POLICIES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../core/schedule/schedule-rules.ts'
import { RETRY_STRATEGIES } from '../../core/run/retry-policy.ts'
import { ENABLED_WORDS, SCHEDULE_STATES } from '../../core/schedule/schedule-life.ts'
import { DAY_MATCHES, DST_POLICIES } from '../../core/time/cron.ts'
import {
  SCHEDULE_SORTS,
  type DstNoteView,
  type PreviewInput,
  type RetryPolicyView,
  type RunNowAnswer,
  type ScheduleFilter,
  type ScheduleInput,
  type SchedulePreview,
  type ScheduleView,
  type ApprovalView,
  type RejectInput,
} from '../schedule.ts'
import { anyJson, givenMoment, moment, omittedPayload, oneOf, pageOf, paging } from './common.ts'
import { scheduleBudget, scheduleBudgetInput } from './budget.ts'
import { executor, inlineExecutor } from './executor.ts'
import { cadence, cadenceInput, comingMoment, pace } from './pace.ts'
import { named, shaped } from './shaped.ts'
import { scheduleNote } from './schedule-note.ts'
import { scheduleDelivery } from './target.ts'
import { probeCounts, probeInput } from './wake-probe.ts'

const DAY_SECONDS = 86_400
const YEAR_SECONDS = 366 * DAY_SECONDS
const KIND_WORDS = ['at', 'once', 'every', 'interval', 'cron', 'rrule'] as const

/** The waits of a ladder, in seconds. */
const ladder = z.array(z.int().min(1).max(DAY_SECONDS)).min(1).max(100)

/** How often and how soon a failed attempt is repeated. What is left out comes from the defaults. */
export const retryPolicyInput = named(
  'RetryPolicyInput',
  z.strictObject({
    max_retries: z.int().min(0).max(1_000).optional(),
    strategy: z.enum(RETRY_STRATEGIES).optional(),
    base_ms: z.int().min(1).max(86_400_000).optional(),
    max_ms: z.int().min(1).max(86_400_000).optional(),
    jitter: z.number().min(0).max(1).optional(),
    ladder_seconds: ladder.optional(),
  }),
)

export const retryPolicy: z.ZodType<RetryPolicyView> = named(
  'RetryPolicy',
  shaped<RetryPolicyView>()({
    max_retries: z.int(),
    strategy: oneOf(RETRY_STRATEGIES),
    base_ms: z.int(),
    max_ms: z.int(),
    jitter: z.number(),
    ladder_seconds: z.array(z.number()),
  }),
)

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
  executor: inlineExecutor.nullish(),
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
  dst: oneOf(DST_POLICIES).nullish(),
  day_match: oneOf(DAY_MATCHES).nullish(),
  payload: anyJson.optional(),
  session: z.string().min(1).max(512).nullish(),
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
  alert_after: z.int().min(1).nullish(),
  max_lateness_seconds: z.int().min(0).nullish(),
  exclude: z.array(anyJson).nullish(),
  cadence: cadenceInput.nullish(),
  delete_after_run: z.boolean().nullish(),
  delivery: scheduleDelivery.nullish(),
  budget: scheduleBudgetInput.nullish(),
  probe: probeInput.nullish(),
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
  status: z.enum(ENABLED_WORDS).nullish(),
}

export const scheduleInput: z.ZodType<ScheduleInput> = named(
  'ScheduleInput',
  shaped<ScheduleInput>()(scheduleFields),
  'Exactly one of at, every_seconds, cron and rrule says when; everything else has a default, which null brings back.',
)

export const previewInput: z.ZodType<PreviewInput> = named(
  'PreviewInput',
  shaped<PreviewInput>()({
    ...scheduleFields,
    count: z.int().min(1).max(1_000).nullish(),
    from: givenMoment.nullish(),
  }),
)

/** When it fires, as it is shown. */
const timingView = {
  timezone: z.string(),
  at: moment.optional(),
  every_seconds: z.int().optional(),
  everyMs: z.int().optional(),
  anchor: moment.optional(),
  cron: z.string().optional(),
  dst: oneOf(DST_POLICIES).optional(),
  day_match: oneOf(DAY_MATCHES).optional(),
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
  alert_after: z.int().nullable(),
  max_lateness_seconds: z.int().nullable(),
}

const approval: z.ZodType<ApprovalView> = named(
  'Approval',
  shaped<ApprovalView>()({
    requested_by: z.string(),
    run_id: z.string().nullable(),
    requested_at: moment,
    changes: z.record(z.string(), z.strictObject({ before: anyJson, after: anyJson })).nullable(),
    rejected: z.strictObject({ by: z.string(), at: moment, reason: z.string() }).nullable(),
  }),
)

export const rejectInput: z.ZodType<RejectInput> = named(
  'RejectInput',
  shaped<RejectInput>()({ reason: z.string().min(1).max(1_000) }),
)

export const schedule: z.ZodType<ScheduleView> = named(
  'Schedule',
  shaped<ScheduleView>()({
    ...timingView,
    ...rulesView,
    id: z.string(),
    org_id: z.string(),
    name: z.string(),
    description: z.string(),
    agent_id: z.string().nullable(),
    executor: executor.nullable(),
    kind: z.enum(['at', 'every', 'cron', 'rrule']),
    sentence: z.string(),
    state: z.enum(SCHEDULE_STATES),
    enabled: z.boolean(),
    next_run_at: moment.nullable(),
    pace: pace.nullable(),
    last_run_at: moment.nullable(),
    last_status: z.string().nullable(),
    last_error: z.string().nullable(),
    failure_streak: z.int(),
    failure_count: z.int(),
    alerts: z.array(z.enum(SCHEDULE_ALERT_KINDS)),
    fires: z.int(),
    session: z.string(),
    lane: z.string().nullable(),
    retry_policy: retryPolicy.nullable(),
    timeout_seconds: z.int().nullable(),
    delete_after_run: z.boolean(),
    payload: anyJson,
    ...omittedPayload,
    delivery: scheduleDelivery.nullable(),
    delivery_disabled: z.boolean(),
    budget: scheduleBudget.nullable(),
    probe: probeInput.nullable(),
    probe_counts: probeCounts.optional(),
    created_by: z.string().nullable(),
    owner: z.string().nullable(),
    created_by_run: z.string().nullable(),
    approval: approval.nullable(),
    created_at: moment,
    updated_at: moment,
    version: z.int(),
    notes: z.array(z.string()).optional(),
    note_codes: z.array(scheduleNote).optional(),
  }),
)

export const schedulePage = pageOf('SchedulePage', schedule)

export const scheduleFilter = shaped<ScheduleFilter>()({
  state: oneOf(SCHEDULE_STATES).optional(),
  agent_id: z.string().min(1).max(200).optional(),
  kind: z.enum(KIND_WORDS).optional(),
  q: z.string().max(200).optional(),
  failing: z.boolean().optional(),
  sort: z.enum(SCHEDULE_SORTS).optional(),
  ...paging,
})

export const runNowInput = shaped<{ readonly mode?: 'force' | 'due' | undefined }>()({
  mode: z.enum(['force', 'due']).optional(),
})

export const runNowAnswer: z.ZodType<RunNowAnswer> = named(
  'RunNowAnswer',
  shaped<RunNowAnswer>()({ ran: z.boolean(), run_id: z.string().optional(), reason: z.string().optional() }),
)

export const dstNote = shaped<DstNoteView>()({
  at: moment,
  zone: z.string(),
  kind: z.enum(['gap', 'repeat']),
  offset_before: z.string(),
  offset_after: z.string(),
  effect: z.enum(['none', 'skipped', 'fires_after_gap', 'shifted', 'first_pass_only', 'both_passes']),
  sentence: z.string(),
})

export const preview: z.ZodType<SchedulePreview> = named(
  'Preview',
  shaped<SchedulePreview>()({
    ...{ sentence: z.string(), next: z.array(moment), dst_notes: z.array(dstNote) },
    coming: z.array(comingMoment).optional(),
    notes: z.array(z.string()).optional(),
    note_codes: z.array(scheduleNote).optional(),
  }),
)
