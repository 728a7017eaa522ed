import { z } from 'zod'
import { RETRY_STRATEGIES } from '../core/run/retry-policy.ts'
import { named, type Shape } from './shape.ts'

const DAY_SECONDS = 86_400

/** The waits of a ladder, in seconds. */
export const ladder = z.array(z.int().min(1).max(DAY_SECONDS)).min(1).max(100)

/** How often and how soon a failed attempt is repeated. What is left out comes from the defaults. */
export const retryPolicyInput = named(
  'RetryPolicyInput',
  z.strictObject({
    max_retries: z.int().min(0).max(1_000).optional().describe('Maximum number of retries.'),
    strategy: z.enum(RETRY_STRATEGIES).optional().describe('How the waits grow.'),
    base_ms: z.int().min(1).max(86_400_000).optional().describe('First wait.'),
    max_ms: z.int().min(1).max(86_400_000).optional().describe('Longest wait.'),
    jitter: z.number().min(0).max(1).optional().describe('Random share of each wait, 0 to 1.'),
    ladder_seconds: ladder.optional().describe('The waits before the first, second and later retries.'),
  }),
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
