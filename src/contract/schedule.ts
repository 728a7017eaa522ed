import { z } from 'zod'
import { SCHEDULE_ALERT_KINDS } from '../domain/alerts.ts'
import { RUN_STATES } from '../domain/run/run-machine.ts'
import { SCHEDULE_STATES } from '../domain/schedule/lifecycle.ts'
import { DAY_MATCHES, DST_POLICIES } from '../core/time/cron.ts'
import { KIND_WORDS } from '../domain/time/timing-fields.ts'
import { anyJson, moment, owner, pageOf, omittedPayload, paging } from '../api/common.ts'
import { scheduleBudget } from '../features/budgets/schema.ts'
import { executor } from '../executors/schema.ts'
import { cadence, pace } from './pace.ts'
import { text } from '../api/fields.ts'
import { retryPolicy } from './retry-policy.ts'
import { changeRule, rulesView, scheduleFields, scheduleRule } from './schedule-fields.ts'
import { named, type Shape } from './shape.ts'
import { scheduleNote } from './schedule-note.ts'
import { scheduleDelivery } from '../features/targets/schema.ts'
import { probeCounts, probeInput } from '../features/probes/schema.ts'

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
  'Exactly one of at, every_seconds, cron and rrule says when; everything else has a default, which null brings back.',
)
export type ScheduleInput = Shape<typeof scheduleInput>

export const schedulePatch = named(
  'SchedulePatch',
  z.strictObject(scheduleFields).check(changeRule),
  'A change of a schedule. What is left out stays; null brings back the default.',
)

/** When it fires, as it is shown. */
const timingView = {
  timezone: z.string(),
  at: moment.optional(),
  every_seconds: z.int().optional(),
  everyMs: z.int().optional().describe('In place of `every_seconds`, for intervals that are not whole seconds.'),
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

const approval = named(
  'Approval',
  z.strictObject({
    requested_by: z.string(),
    run_id: z.string().nullable(),
    requested_at: moment,
    changes: z
      .record(z.string(), z.strictObject({ before: anyJson, after: anyJson }))
      .nullable()
      .describe('Last approved and proposed values by field. Null: the schedule is new.'),
    rejected: z.strictObject({ by: z.string(), at: moment, reason: z.string() }).nullable(),
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
    next_run_at: moment.nullable(),
    pace: pace.nullable().describe('Current interval. Null without a cadence.'),
    last_run_at: moment.nullable(),
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
    probe: probeInput.nullable().describe('Check that runs before the agent is woken.'),
    probe_counts: probeCounts
      .optional()
      .describe('How often the probe ran and what it saved. Only of a single schedule, once it has run.'),
    created_by: z.string().nullable(),
    owner,
    created_by_run: z.string().nullable().describe('The run that created it, or that it was created from.'),
    approval: approval.nullable().describe('The change that needs approval, or was rejected.'),
    created_at: moment,
    updated_at: moment,
    version: z.int(),
    notes: z
      .array(z.string())
      .optional()
      .describe(
        'Values filled in by restrictions, in the answer to its creation; and that it can never fire, wherever a single schedule is shown.',
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
  q: z.string().max(200).optional().describe('Part of the name or description, in any case.'),
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

/** When a schedule fires, with everything that was filled in written out. Which fields there are depends on the kind. */
export type ScheduleTimingView = Pick<ScheduleView, keyof typeof timingView>
