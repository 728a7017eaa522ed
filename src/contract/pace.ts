import { z } from 'zod'
import { MAX_CADENCE_SECONDS, MAX_STRETCH } from '../domain/schedule/pace/settings.ts'
import { moment, whyFields } from '../api/common.ts'
import { whole } from '../api/fields.ts'
import { named, type Shape } from './shape.ts'

export const CERTAINTIES = ['firm', 'likely'] as const

/** A moment is firm while nothing but an edit moves it; what a run finds may move the ones behind it. */
export type Certainty = (typeof CERTAINTIES)[number]

export const cadenceInput = named(
  'CadenceInput',
  z.strictObject({
    min_seconds: whole(1, MAX_CADENCE_SECONDS),
    max_seconds: whole(1, MAX_CADENCE_SECONDS),
    stretch: z
      .number()
      .min(1)
      .max(MAX_STRETCH)
      .optional()
      .describe('Factor of one step. Default: 2. With 1, only proposals of agents change the interval.'),
    quiet_after: whole(1, 1_000).optional().describe('Quiet runs in a row before the first step. Default: 1.'),
  }),
  'Only with every_seconds, which lies between min_seconds and max_seconds.',
)
export type CadenceInput = Shape<typeof cadenceInput>

export const cadence = named(
  'Cadence',
  z.strictObject({
    min_seconds: z.int(),
    max_seconds: z.int(),
    stretch: z.number(),
    quiet_after: z.int(),
  }),
  'A cadence with its defaults.',
)
export type CadenceView = Shape<typeof cadence>

export const comingMoment = named(
  'ComingMoment',
  z.strictObject({ at: moment, certainty: z.enum(CERTAINTIES) }),
  'A coming occurrence and its certainty.',
)
export type ComingMoment = Shape<typeof comingMoment>

const { reason } = whyFields

export const pace = named(
  'Pace',
  z.strictObject({
    interval_seconds: z.number(),
    quiet_streak: z
      .int()
      .describe('Consecutive runs that found nothing new; `change_streak` is those that found something.'),
    change_streak: z.int(),
    sentence: z.string().describe('Example: "Between 5 minutes and 6 hours, now every 40 minutes after 3 quiet runs".'),
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
      .nullable()
      .describe('What the agent proposed, if that decided the next occurrence.'),
    next: z.array(comingMoment).describe('Empty while it is disabled or has no occurrence left.'),
    recent: z
      .array(z.strictObject({ at: moment, run_id: z.string(), interval_seconds: z.number(), reason, next: moment }))
      .describe('The last runs that affected the interval, newest first.'),
  }),
  'The current interval of a schedule with a cadence.',
)
export type PaceView = Shape<typeof pace>

/** One run that had a say in the pace. */
export type PaceStepView = PaceView['recent'][number]
