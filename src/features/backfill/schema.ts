import { z } from 'zod'
import {
  BACKFILL_BOUNDS,
  BACKFILL_CHOICES,
  BACKFILL_ORDERS,
  BACKFILL_POLICIES,
  BACKFILL_STATES,
} from '../../domain/schedule/backfill.ts'
import { id, isoTime, pageOf, why, paging } from '../../api/common.ts'
import { timeInput, named, type Shape, text, integerBetween } from '../../api/fields.ts'

const boundedWhole = ({ min, max }: { readonly min: number; readonly max: number }) => integerBetween(min, max)

export const backfillInput = named(
  'BackfillInput',
  z.strictObject({
    from: timeInput.describe('Start of the range, inclusive.'),
    to: timeInput.optional().describe('End of the range, exclusive. Default: now. Not in the future.'),
    which: z
      .enum(BACKFILL_CHOICES)
      .optional()
      .describe('Which occurrences to run. Default: `missing`, those without a successful run.'),
    order: z.enum(BACKFILL_ORDERS).optional().describe('Which occurrences come first. Default: `oldest`.'),
    policy: z
      .enum(BACKFILL_POLICIES)
      .optional()
      .describe("Whether to wait for the schedule's own runs or to run beside them. Default: `wait`."),
    max_active: boundedWhole(BACKFILL_BOUNDS.maxActive).optional().describe('Maximum concurrent runs. Default: 1.'),
    spacing_ms: boundedWhole(BACKFILL_BOUNDS.spacingMs).optional().describe('Minimum time between two runs.'),
    lane: text(1, 64).nullish().describe("Lane of the backfill's runs. Default: the lane of the schedule."),
    stop_on_failures: boundedWhole(BACKFILL_BOUNDS.stopOnFailures)
      .nullish()
      .describe('Consecutive failures that stop the backfill. Default: 5. Null: never.'),
    deliver: z
      .boolean()
      .optional()
      .describe('Whether results are delivered as those of the schedule are. Default: true.'),
    dry_run: z.boolean().optional().describe('Return the plan and change nothing.'),
  }),
  'Which past occurrences of a schedule to run, and how fast.',
)
export type BackfillInput = Shape<typeof backfillInput>

const outcomeCounts = z.strictObject({
  ...{ not_run: z.int(), failed: z.int(), cancelled: z.int(), succeeded: z.int(), pending: z.int() },
})

const optionalCount = z.int().optional()

const endedCounts = z.strictObject({
  ...{
    success: optionalCount,
    failed: optionalCount,
    timeout: optionalCount,
    cancelled: optionalCount,
    skipped: optionalCount,
  },
  ...{ dropped: optionalCount, rejected: optionalCount, expired: optionalCount },
})

export const backfill = named(
  'Backfill',
  z.strictObject({
    id: z.string().nullable().describe('Null for a plan.'),
    org_id: z.string(),
    schedule_id: z.string(),
    state: z.enum([...BACKFILL_STATES, 'planned']),
    why: why.nullable().describe('Why the backfill ended, or what it is waiting for. Null while it is running.'),
    sentence: z.string().nullable(),
    from: isoTime,
    to: isoTime,
    which: z.enum(BACKFILL_CHOICES),
    order: z.enum(BACKFILL_ORDERS),
    policy: z.enum(BACKFILL_POLICIES),
    max_active: z.int(),
    spacing_ms: z.int(),
    lane: z.string().nullable(),
    stop_on_failures: z.int().nullable(),
    deliver: z.boolean(),
    total: z.int().describe('Number of occurrences; `first` and `last` are the earliest and the latest.'),
    first: isoTime.nullable(),
    last: isoTime.nullable(),
    left_out: outcomeCounts.describe('Occurrences in the range that are left out, by outcome.'),
    ended: z
      .int()
      .describe('Occurrences whose run has ended; `in_flight` is those running, `remaining` those still to come.'),
    in_flight: z.int(),
    remaining: z.int(),
    counts: endedCounts.describe('Ended runs by status.'),
    run_ids: z.array(z.string()).describe('Runs in progress.'),
    runs_per_minute: z.number().nullable(),
    eta: isoTime.nullable(),
    expected: z
      .strictObject({
        at_once: z.int().describe('Concurrent runs, as far as the schedule allows.'),
        duration_ms: z.number().nullable(),
        tokens: z.number().nullable(),
        cost: z.number().nullable(),
      })
      .describe('Estimates from when the backfill was created. Null: unknown.'),
    notes: z.array(z.string()).describe('Notes about the backfill.'),
    created_by: z.string(),
    created_at: isoTime,
    finished_at: isoTime.nullable(),
  }),
  'Runs for past occurrences of a schedule. State `planned`: the result of a dry run.',
)
export type BackfillView = Shape<typeof backfill>

export const backfillPage = pageOf('BackfillPage', backfill)

export const backfillCancel = named(
  'BackfillCancel',
  z.strictObject({
    running: z
      .enum(['finish', 'cancel'])
      .optional()
      .describe('What happens to runs in progress. Default: `finish`. Queued runs are cancelled in any case.'),
  }),
  'How to cancel a backfill.',
)
export type BackfillCancel = Shape<typeof backfillCancel>

/** Filters of a list of backfills. */
export const backfillFilter = z.strictObject({
  schedule_id: id.optional().describe('Backfills of this schedule.'),
  state: z.enum(BACKFILL_STATES).optional().describe('State of the backfill.'),
  ...paging,
})
export type BackfillFilter = Shape<typeof backfillFilter>
