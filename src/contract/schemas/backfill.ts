import { z } from 'zod'
import {
  BACKFILL_BOUNDS,
  BACKFILL_CHOICES,
  BACKFILL_ORDERS,
  BACKFILL_POLICIES,
  BACKFILL_STATES,
  type BackfillCounts,
} from '../../core/backfill/backfill.ts'
import type { StandingCounts } from '../../core/backfill/moments.ts'
import type { BackfillCancel, BackfillFilter, BackfillInput, BackfillView } from '../backfill.ts'
import { givenMoment, id, moment, pageOf, paging, why } from './common.ts'
import { named, shaped } from './shaped.ts'

const within = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max)

export const backfillInput: z.ZodType<BackfillInput> = named(
  'BackfillInput',
  shaped<BackfillInput>()({
    from: givenMoment,
    to: givenMoment.optional(),
    which: z.enum(BACKFILL_CHOICES).optional(),
    order: z.enum(BACKFILL_ORDERS).optional(),
    policy: z.enum(BACKFILL_POLICIES).optional(),
    max_active: within(BACKFILL_BOUNDS.maxActive).optional(),
    spacing_ms: within(BACKFILL_BOUNDS.spacingMs).optional(),
    lane: z.string().min(1).max(64).nullish(),
    stop_on_failures: within(BACKFILL_BOUNDS.stopOnFailures).nullish(),
    deliver: z.boolean().optional(),
    dry_run: z.boolean().optional(),
  }),
)

const standings = shaped<StandingCounts>()({
  ...{ not_run: z.int(), failed: z.int(), cancelled: z.int(), succeeded: z.int(), pending: z.int() },
})

const some = z.int().optional() as z.ZodType<number>

const counts = shaped<BackfillCounts>()({
  ...{ success: some, failed: some, timeout: some, cancelled: some, skipped: some },
  ...{ dropped: some, rejected: some, expired: some },
})

export const backfill: z.ZodType<BackfillView> = named(
  'Backfill',
  shaped<BackfillView>()({
    id: z.string().nullable(),
    org_id: z.string(),
    schedule_id: z.string(),
    state: z.enum([...BACKFILL_STATES, 'planned']),
    why: why.nullable(),
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
    total: z.int(),
    first: moment.nullable(),
    last: moment.nullable(),
    left_out: standings,
    ended: z.int(),
    in_flight: z.int(),
    remaining: z.int(),
    counts,
    run_ids: z.array(z.string()),
    runs_per_minute: z.number().nullable(),
    eta: moment.nullable(),
    expected: shaped<BackfillView['expected']>()({
      at_once: z.int(),
      duration_ms: z.number().nullable(),
      tokens: z.number().nullable(),
      cost: z.number().nullable(),
    }),
    notes: z.array(z.string()),
    created_by: z.string(),
    created_at: moment,
    finished_at: moment.nullable(),
  }),
  'Past moments of a schedule that are made into runs. `planned`: only asked about, nothing was changed.',
)

export const backfillPage = pageOf('BackfillPage', backfill)

export const backfillCancel: z.ZodType<BackfillCancel> = named(
  'BackfillCancel',
  shaped<BackfillCancel>()({ running: z.enum(['finish', 'cancel']).optional() }),
)

export const backfillFilter = shaped<BackfillFilter>()({
  schedule_id: id.optional(),
  state: z.enum(BACKFILL_STATES).optional(),
  ...paging,
})
