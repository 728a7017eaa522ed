import { z } from 'zod'
import {
  MAX_LADDER_STEPS,
  MAX_RETRIES,
  MAX_WAIT_MS,
  parseLadder,
  parseShare,
  policyFlaws,
  RETRY_STRATEGIES,
} from '../domain/run/retry-policy.ts'
import { fieldsRule, rule, whole } from '../api/fields.ts'
import { named, type Shape } from './shape.ts'

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

/** How often and how soon a failed attempt is repeated. What is left out comes from the defaults. */
export const retryPolicyInput = named(
  'RetryPolicyInput',
  z
    .strictObject({
      max_retries: whole(0, MAX_RETRIES).optional().describe('Maximum number of retries.'),
      strategy: z.enum(RETRY_STRATEGIES).optional().describe('How the waits grow.'),
      base_ms: whole(1, MAX_WAIT_MS).optional().describe('First wait.'),
      max_ms: whole(1, MAX_WAIT_MS).optional().describe('Longest wait. Not below `base_ms` if the waits grow.'),
      jitter: z.number().min(0).lt(1).check(rule(parseShare)).optional().describe('Random share of each wait, 0 to 1.'),
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
