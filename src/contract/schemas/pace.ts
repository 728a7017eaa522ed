import { z } from 'zod'
import { CERTAINTIES, type CadenceInput, type CadenceView, type ComingMoment, type PaceView } from '../pace.ts'
import { moment, whyFields } from './common.ts'
import { named, shaped } from './shaped.ts'

const MOST_SECONDS = 366 * 86_400

export const cadenceInput: z.ZodType<CadenceInput> = named(
  'CadenceInput',
  shaped<CadenceInput>()({
    min_seconds: z.int().min(1).max(MOST_SECONDS),
    max_seconds: z.int().min(1).max(MOST_SECONDS),
    stretch: z.number().min(1).max(10).optional(),
    quiet_after: z.int().min(1).max(1_000).optional(),
  }),
  'Only with every_seconds, which lies between min_seconds and max_seconds.',
)

export const cadence: z.ZodType<CadenceView> = named(
  'Cadence',
  shaped<CadenceView>()({
    min_seconds: z.int(),
    max_seconds: z.int(),
    stretch: z.number(),
    quiet_after: z.int(),
  }),
)

export const comingMoment: z.ZodType<ComingMoment> = named(
  'ComingMoment',
  shaped<ComingMoment>()({ at: moment, certainty: z.enum(CERTAINTIES) }),
)

const { reason } = whyFields

export const pace: z.ZodType<PaceView> = named(
  'Pace',
  shaped<PaceView>()({
    interval_seconds: z.number(),
    quiet_streak: z.int(),
    change_streak: z.int(),
    sentence: z.string(),
    because: z.strictObject({
      ...whyFields,
      sentence: z.string(),
    }),
    proposed: z
      .strictObject({
        asked: z.string(),
        asked_seconds: z.number(),
        got_seconds: z.number(),
        clamped: z.boolean(),
      })
      .nullable(),
    next: z.array(comingMoment),
    recent: z.array(
      z.strictObject({ at: moment, run_id: z.string(), interval_seconds: z.number(), reason, next: moment }),
    ),
  }),
)
