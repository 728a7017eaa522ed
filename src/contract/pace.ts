import { z } from 'zod'
import { moment, whyFields } from './common.ts'
import { named, type Shape } from './shape.ts'

export const CERTAINTIES = ['firm', 'likely'] as const

/** A moment is firm while nothing but an edit moves it; what a run finds may move the ones behind it. */
export type Certainty = (typeof CERTAINTIES)[number]

const MOST_SECONDS = 366 * 86_400

export const cadenceInput = named(
  'CadenceInput',
  z.strictObject({
    min_seconds: z.int().min(1).max(MOST_SECONDS),
    max_seconds: z.int().min(1).max(MOST_SECONDS),
    stretch: z
      .number()
      .min(1)
      .max(10)
      .optional()
      .describe(
        'By how much one step makes the interval longer or shorter; 2 unless given, 1: only what agents propose moves it.',
      ),
    quiet_after: z
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .describe('So many quiet runs in a row before the first step; 1 unless given.'),
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
  'A cadence with everything that was filled in written out.',
)
export type CadenceView = Shape<typeof cadence>

export const comingMoment = named(
  'ComingMoment',
  z.strictObject({ at: moment, certainty: z.enum(CERTAINTIES) }),
  'A moment that comes, and how sure that is.',
)
export type ComingMoment = Shape<typeof comingMoment>

const { reason } = whyFields

export const pace = named(
  'Pace',
  z.strictObject({
    interval_seconds: z.number(),
    quiet_streak: z.int().describe('Runs in a row that found nothing new, and those that found something.'),
    change_streak: z.int(),
    sentence: z.string().describe('"Between 5 minutes and 6 hours, now every 40 minutes after 3 quiet runs".'),
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
      .describe('What the agent asked for, if that is what decided the next moment.'),
    next: z.array(comingMoment).describe('Empty while it is switched off or has no moment left.'),
    recent: z
      .array(z.strictObject({ at: moment, run_id: z.string(), interval_seconds: z.number(), reason, next: moment }))
      .describe('The last runs that had a say, newest first.'),
  }),
  'How often a schedule with a cadence comes now.',
)
export type PaceView = Shape<typeof pace>

/** One run that had a say in the pace. */
export type PaceStepView = PaceView['recent'][number]
