import { z } from 'zod'
import {
  CONCURRENCY_POLICIES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../core/schedule/schedule-rules.ts'
import { ENABLED_WORDS } from '../core/schedule/schedule-life.ts'
import { DAY_MATCHES, DST_POLICIES } from '../core/time/cron.ts'
import { KIND_WORDS } from '../core/time/timing-fields.ts'
import { scheduleBudgetInput } from './budget.ts'
import { anyJson, givenMoment } from './common.ts'
import { inlineExecutor } from './executor.ts'
import { cadenceInput } from './pace.ts'
import { probeInput } from './probe.ts'
import { ladder, retryPolicyInput } from './retry-policy.ts'
import { scheduleDelivery } from './target.ts'

const DAY_SECONDS = 86_400
const YEAR_SECONDS = 366 * DAY_SECONDS

const failureOptions = z.strictObject({
  ladder_seconds: ladder.optional().describe('With `BACKOFF`: the waits after the first, second and later failures.'),
  threshold: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('With `HALF_OPEN`: consecutive failures after which occurrences are skipped. Default: 3.'),
  cooldown_seconds: z
    .int()
    .min(1)
    .max(30 * DAY_SECONDS)
    .optional()
    .describe('With `HALF_OPEN`: how long occurrences are skipped. Default: 5 min.'),
})

/** Policy words are taken in any case and shown as they stand here. */
export const scheduleFields = {
  name: z.string().min(1).max(200).nullish().describe('Name of the schedule.'),
  description: z.string().max(10_000).nullish().describe('What it is for.'),
  agent_id: z
    .string()
    .min(1)
    .max(200)
    .nullish()
    .describe('Agent that does the work. Default: the default agent of the org.'),
  executor: inlineExecutor
    .nullish()
    .describe('How the work is performed, in place of an agent. Such runs are retried only with a `retry_policy`.'),
  at: givenMoment.nullish().describe('Run once, at this time: RFC 3339, or milliseconds since 1970.'),
  every_seconds: z
    .int()
    .min(1)
    .max(100 * YEAR_SECONDS)
    .nullish()
    .describe('Interval between occurrences, counted from `anchor`.'),
  anchor: givenMoment
    .nullish()
    .describe('Start of the interval or recurrence. Default: when the schedule was created.'),
  cron: z
    .string()
    .min(1)
    .nullish()
    .describe('Cron expression of 5, 6 (with seconds) or 7 fields (with years), or a shortcut such as `@daily`.'),
  rrule: z.string().min(1).nullish().describe('Recurrence rule as in RFC 5545.'),
  timezone: z.string().min(1).nullish().describe("IANA time zone. Default: the org's time zone."),
  dst: z
    .enum(DST_POLICIES)
    .nullish()
    .describe('What happens at times that a clock change skips or repeats. Default: `vixie`.'),
  day_match: z
    .enum(DAY_MATCHES)
    .nullish()
    .describe('Whether a day must match one of the two day fields (`or`, default) or both (`and`).'),
  payload: anyJson.optional().describe('Input of the agent: text or JSON.'),
  session: z.string().min(1).max(512).nullish().describe('`isolated` (default), `main`, or a session key.'),
  lane: z
    .string()
    .min(1)
    .max(100)
    .nullish()
    .describe('Lane whose slots its runs use. Default: the lane of scheduled work.'),
  enabled: z.boolean().nullish().describe('Whether it fires. Default: true.'),
  misfire_policy: z
    .enum(MISFIRE_POLICIES)
    .nullish()
    .describe('What happens after missed occurrences. Default: `CATCH_UP_LIMITED`.'),
  catchup_limit: z
    .int()
    .min(1)
    .max(10_000)
    .nullish()
    .describe('How many missed occurrences are caught up, newest first. Default: 1.'),
  catchup_window_seconds: z
    .int()
    .min(0)
    .max(YEAR_SECONDS)
    .nullish()
    .describe('Maximum age of a missed occurrence that is caught up. Default: 15 min.'),
  overlap_action: z
    .enum(OVERLAP_ACTIONS)
    .nullish()
    .describe('What happens while the previous run is pending. Default: `ALLOW`.'),
  max_parallel: z.int().min(1).max(10_000).nullish().describe('With `PARALLEL`: maximum number of concurrent runs.'),
  failure_action: z.enum(FAILURE_ACTIONS).nullish().describe('What happens after a failed run. Default: `RUN_NEW`.'),
  failure_options: failureOptions.nullish().describe('Options of `failure_action`.'),
  concurrency_policy: z
    .enum(CONCURRENCY_POLICIES)
    .nullish()
    .describe('What happens when all slots of the schedule are taken. Default: `QUEUE`.'),
  max_concurrency: z.int().min(1).max(10_000).nullish().describe('Slots of the schedule. Default: 1.'),
  queue_depth: z.int().min(0).max(100_000).nullish().describe('How many runs may wait for a slot. Default: 10.'),
  retry_policy: retryPolicyInput.nullish().describe('Retries of failed attempts. Default: the policy of the agent.'),
  timeout_seconds: z
    .int()
    .min(-YEAR_SECONDS)
    .max(YEAR_SECONDS)
    .nullish()
    .describe('Maximum duration of an attempt. Default: the timeout of the agent.'),
  starts_at: givenMoment.nullish().describe('No occurrence before this time.'),
  ends_at: givenMoment.nullish().describe('No occurrence at or after this time.'),
  max_fires: z.int().min(1).nullish().describe('Number of runs after which the schedule ends.'),
  jitter_ms: z.int().min(0).nullish().describe('Maximum delay of a start. An occurrence always gets the same delay.'),
  alert_after: z
    .int()
    .min(1)
    .nullish()
    .describe("Consecutive failures that raise an alert. Default: the deployment's setting."),
  max_lateness_seconds: z
    .int()
    .min(0)
    .nullish()
    .describe('A run that starts later than this raises an alert. Default: no limit.'),
  exclude: z
    .array(anyJson)
    .nullish()
    .describe('Dates such as `2026-12-25`, and windows `{from, to}`, without occurrences.'),
  cadence: cadenceInput
    .nullish()
    .describe('Bounds within which the interval adapts. Default: it stays fixed. Only with `every_seconds`.'),
  delete_after_run: z.boolean().nullish().describe('Delete a one-time schedule after its run.'),
  delivery: scheduleDelivery.nullish().describe('Target for the results of its runs. Default: none.'),
  budget: scheduleBudgetInput.nullish().describe('Budget of its runs. Default: no limit.'),
  probe: probeInput.nullish().describe('Check that runs before the agent is woken. Default: none.'),
  kind: z.enum(KIND_WORDS).nullish().describe('Kind of timing. Default: that of the timing field given.'),
  schedule_type: z.enum(KIND_WORDS).nullish().describe('Same as `kind`.'),
  cron_expr: z.string().min(1).nullish().describe('Same as `cron`.'),
  expr: z.string().min(1).nullish().describe('Same as `cron`.'),
  interval_seconds: z
    .int()
    .min(1)
    .max(100 * YEAR_SECONDS)
    .nullish()
    .describe('Same as `every_seconds`.'),
  everyMs: z.int().min(1_000).nullish().describe('Same as `every_seconds`, in milliseconds.'),
  run_at: givenMoment.nullish().describe('Same as `at`.'),
  atMs: z.int().min(0).nullish().describe('Same as `at`, in milliseconds since 1970.'),
  tz: z.string().min(1).nullish().describe('Same as `timezone`.'),
  status: z
    .enum(ENABLED_WORDS)
    .nullish()
    .describe('`ENABLED` or `DISABLED`, in any case; the same as `enabled` true or false.'),
}
