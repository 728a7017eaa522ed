import { z } from 'zod'
import {
  BACKFILL_BOUNDS,
  BACKFILL_CHOICES,
  BACKFILL_ORDERS,
  BACKFILL_POLICIES,
  BACKFILL_STATES,
} from '../core/backfill/backfill.ts'
import { givenMoment, id, moment, pageOf, why, paging } from './common.ts'
import { named, type Shape } from './shape.ts'
import type { Page } from './page.ts'

const within = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max)

export const backfillInput = named(
  'BackfillInput',
  z.strictObject({
    from: givenMoment.describe('The first moment of the range.'),
    to: givenMoment
      .optional()
      .describe('The end of the range, which is not part of it; now unless given, and not in the future.'),
    which: z.enum(BACKFILL_CHOICES).optional().describe('`missing` unless given: what has had no run that succeeded.'),
    order: z.enum(BACKFILL_ORDERS).optional(),
    policy: z
      .enum(BACKFILL_POLICIES)
      .optional()
      .describe("How it gets along with the schedule's own runs; `wait` unless given."),
    max_active: within(BACKFILL_BOUNDS.maxActive).optional().describe('Runs at a time; 1 unless given.'),
    spacing_ms: within(BACKFILL_BOUNDS.spacingMs).optional().describe('The least time between two that are made.'),
    lane: z.string().min(1).max(64).nullish().describe('The lane of the schedule unless given.'),
    stop_on_failures: within(BACKFILL_BOUNDS.stopOnFailures)
      .nullish()
      .describe('Failures in a row that end it; 5 unless given, null: none do.'),
    deliver: z.boolean().optional().describe('Whether results go where those of the schedule go; true unless given.'),
    dry_run: z.boolean().optional().describe('Says what would be done, and changes nothing.'),
  }),
  'Which past moments of a schedule are to be run, and how fast.',
)
export type BackfillInput = Shape<typeof backfillInput>

const standings = z.strictObject({
  ...{ not_run: z.int(), failed: z.int(), cancelled: z.int(), succeeded: z.int(), pending: z.int() },
})

const some = z.int().optional()

const counts = z.strictObject({
  ...{ success: some, failed: some, timeout: some, cancelled: some, skipped: some },
  ...{ dropped: some, rejected: some, expired: some },
})

export const backfill = named(
  'Backfill',
  z.strictObject({
    id: z.string().nullable().describe('Null when it was only planned.'),
    org_id: z.string(),
    schedule_id: z.string(),
    state: z.enum([...BACKFILL_STATES, 'planned']),
    why: why.nullable().describe('Why it has ended, or what it waits for; null while it goes on.'),
    sentence: z.string().nullable(),
    from: moment,
    to: moment,
    which: z.enum(BACKFILL_CHOICES),
    order: z.enum(BACKFILL_ORDERS),
    policy: z.enum(BACKFILL_POLICIES),
    max_active: z.int(),
    spacing_ms: z.int(),
    lane: z.string().nullable(),
    stop_on_failures: z.int().nullable(),
    deliver: z.boolean(),
    total: z.int().describe('How many moments it takes, and the first and the last of them by the clock.'),
    first: moment.nullable(),
    last: moment.nullable(),
    left_out: standings.describe('Moments of the range it leaves out, by what has become of them.'),
    ended: z.int().describe('Of the moments: those whose run has ended, is under way, and is still to come.'),
    in_flight: z.int(),
    remaining: z.int(),
    counts: counts.describe('How the runs ended.'),
    run_ids: z.array(z.string()).describe('The runs that are under way.'),
    runs_per_minute: z.number().nullable(),
    eta: moment.nullable(),
    expected: z
      .strictObject({
        at_once: z.int().describe('Runs at a time, as far as the schedule lets it.'),
        duration_ms: z.number().nullable(),
        tokens: z.number().nullable(),
        cost: z.number().nullable(),
      })
      .describe('What was expected when it began; null where nobody could know.'),
    notes: z.array(z.string()).describe('What one should know about it.'),
    created_by: z.string(),
    created_at: moment,
    finished_at: moment.nullable(),
  }),
  'Past moments of a schedule that are made into runs. `planned`: only asked about, nothing was changed.',
)
export type BackfillView = Shape<typeof backfill>

export const backfillPage = pageOf('BackfillPage', backfill)

export const backfillCancel = named(
  'BackfillCancel',
  z.strictObject({
    running: z
      .enum(['finish', 'cancel'])
      .optional()
      .describe(
        'What becomes of its runs: those that work `finish` unless given; what waits is cancelled in any case.',
      ),
  }),
  'How a backfill is cancelled.',
)
export type BackfillCancel = Shape<typeof backfillCancel>

/** Which backfills are wanted. */
export const backfillFilter = z.strictObject({
  schedule_id: id.optional(),
  state: z.enum(BACKFILL_STATES).optional(),
  ...paging,
})
export type BackfillFilter = Shape<typeof backfillFilter>

/** Backfills of a program that embeds the engine: `schedules.backfill` begins one. */
export interface Backfills {
  readonly list: (filter?: BackfillFilter) => Promise<Page<BackfillView>>
  readonly get: (id: string) => Promise<BackfillView>
  /** What waits is cancelled; what works goes on, unless `running` is `cancel`. */
  readonly cancel: (id: string, how?: BackfillCancel) => Promise<BackfillView>
}
