import { z } from 'zod'
import { isoTime, whyFields } from '../../api/common.ts'
import { fieldsRule, named, rule, type Shape, integerBetween } from '../../api/fields.ts'
import {
  MAX_LADDER_STEPS,
  MAX_RETRIES,
  MAX_WAIT_MS,
  parseLadder,
  parseFraction,
  policyFlaws,
  RETRY_STRATEGIES,
} from '../../domain/run/retry-policy.ts'
import { MAX_CADENCE_SECONDS, MAX_CADENCE_STRETCH } from '../../domain/schedule/pace/settings.ts'

/** Codes of the notes about a schedule. */
export const SCHEDULE_NOTES = ['never_fires', 'ends_at_set'] as const

export const scheduleNote = named(
  'ScheduleNote',
  z.strictObject({
    code: z.enum(SCHEDULE_NOTES),
    params: z.record(z.string(), z.union([z.string(), z.number()])),
  }),
  'A note as a code with values.',
)
export type ScheduleNote = Shape<typeof scheduleNote>

const CERTAINTIES = ['firm', 'likely'] as const

export const cadenceInput = named(
  'CadenceInput',
  z.strictObject({
    min_seconds: integerBetween(1, MAX_CADENCE_SECONDS),
    max_seconds: integerBetween(1, MAX_CADENCE_SECONDS),
    stretch: z
      .number()
      .min(1)
      .max(MAX_CADENCE_STRETCH)
      .optional()
      .describe('Factor of one step. Default: 2. With 1, only proposals of agents change the interval.'),
    quiet_after: integerBetween(1, 1_000).optional().describe('Quiet runs in a row before the first step. Default: 1.'),
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

export const upcomingOccurrence = named(
  'ComingMoment',
  z.strictObject({ at: isoTime, certainty: z.enum(CERTAINTIES) }),
  'A coming occurrence and its certainty.',
)
export type UpcomingOccurrence = Shape<typeof upcomingOccurrence>

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
    next: z.array(upcomingOccurrence).describe('Empty while it is disabled or has no occurrence left.'),
    recent: z
      .array(z.strictObject({ at: isoTime, run_id: z.string(), interval_seconds: z.number(), reason, next: isoTime }))
      .describe('The last runs that affected the interval, newest first.'),
  }),
  'The current interval of a schedule with a cadence.',
)
export type PaceView = Shape<typeof pace>

/** A run that affected the pace. */
export type PaceStepView = PaceView['recent'][number]

/** The waits of a ladder, in seconds. */
export const ladder = z
  .array(
    z
      .int()
      .min(1)
      .max(MAX_WAIT_MS / 1_000),
  )
  .min(1)
  .max(MAX_LADDER_STEPS)
  .check(rule(parseLadder))

/** Number and spacing of retries. Omitted fields come from the defaults. */
export const retryPolicyInput = named(
  'RetryPolicyInput',
  z
    .strictObject({
      max_retries: integerBetween(0, MAX_RETRIES).optional().describe('Maximum number of retries.'),
      strategy: z.enum(RETRY_STRATEGIES).optional().describe('How the waits grow.'),
      base_ms: integerBetween(1, MAX_WAIT_MS).optional().describe('First wait.'),
      max_ms: integerBetween(1, MAX_WAIT_MS)
        .optional()
        .describe('Longest wait. Not below `base_ms` if the waits grow.'),
      jitter: z
        .number()
        .min(0)
        .lt(1)
        .check(rule(parseFraction))
        .optional()
        .describe('Random share of each wait, 0 to 1.'),
      ladder_seconds: ladder.optional().describe('The waits before the first, second and later retries.'),
    })
    .check(fieldsRule((policy) => policyFlaws(policy))),
)

export const retryPolicy = named(
  'RetryPolicy',
  z.strictObject({
    max_retries: z.int(),
    strategy: z.enum(RETRY_STRATEGIES),
    base_ms: z.int(),
    max_ms: z.int(),
    jitter: z.number(),
    ladder_seconds: z.array(z.number()),
  }),
)
export type RetryPolicyView = Shape<typeof retryPolicy>
