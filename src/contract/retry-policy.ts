import { z } from 'zod'
import { MAX_LADDER_STEPS, parseLadder, parseRetryPolicy, RETRY_STRATEGIES } from '../core/run/retry-policy.ts'
import { rule, whole } from './fields.ts'
import { named, type Shape } from './shape.ts'

const DAY_SECONDS = 86_400

/** The waits of a ladder, in seconds. */
export const ladder = z.array(whole(1, DAY_SECONDS)).min(1).max(MAX_LADDER_STEPS).check(rule(parseLadder))

/** How often and how soon a failed attempt is repeated. What is left out comes from the defaults. */
export const retryPolicyInput = named(
  'RetryPolicyInput',
  z
    .strictObject({
      max_retries: whole(0, 1_000).optional().describe('Maximum number of retries.'),
      strategy: z.enum(RETRY_STRATEGIES).optional().describe('How the waits grow.'),
      base_ms: whole(1, 1_000 * DAY_SECONDS)
        .optional()
        .describe('First wait.'),
      max_ms: whole(1, 1_000 * DAY_SECONDS)
        .optional()
        .describe('Longest wait.'),
      jitter: z.number().min(0).lt(1).optional().describe('Random share of each wait, 0 to below 1.'),
      ladder_seconds: ladder.optional().describe('The waits before the first, second and later retries.'),
    })
    .check(rule(parseRetryPolicy)),
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
