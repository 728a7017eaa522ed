import { describe, expect, it } from 'vitest'
import { NO_RETRIES } from '../../../src/domain/run/retry.ts'
import { DEFAULT_RETRY_POLICY, parseStoredPolicy, effectivePolicy } from '../../../src/domain/run/retry-policy.ts'

const deployment = { ...DEFAULT_RETRY_POLICY, maxRetries: 7, baseMs: 100, maxMs: 400, jitter: 0 }

const inForce = (given: object, base = DEFAULT_RETRY_POLICY): object => {
  const read = parseStoredPolicy('retry_policy', given, base)
  if (!read.ok) throw new Error('refused')
  return effectivePolicy(read.value, deployment)
}

describe('a policy of an agent or a schedule', () => {
  it.each([
    ['nothing', {}, { maxRetries: 7, baseMs: 100, maxMs: 400, jitter: 0 }],
    ['a number of retries', { max_retries: 2 }, { maxRetries: 2, baseMs: 100, maxMs: 400, jitter: 0 }],
    ['a first wait', { base_ms: 5_000 }, { maxRetries: 7, baseMs: 5_000, maxMs: 5_000, jitter: 0 }],
    ['a longest wait', { max_ms: 3_000 }, { maxRetries: 7, baseMs: 100, maxMs: 3_000 }],
    ['jitter', { jitter: 0.5 }, { maxRetries: 7, jitter: 0.5 }],
    ['a fixed wait', { strategy: 'fixed', base_ms: 30 }, { maxRetries: 7, baseMs: 30, jitter: 0 }],
    ['a ladder', { strategy: 'ladder', ladder_seconds: [1, 2] }, { maxRetries: 2, ladderSeconds: [1, 2], jitter: 0 }],
    [
      'everything',
      { max_retries: 1, base_ms: 2_000, max_ms: 30_000, jitter: 0.25 },
      { maxRetries: 1, baseMs: 2_000, maxMs: 30_000, jitter: 0.25 },
    ],
  ])('that says %s takes the rest from the deployment', (_, given, expected) => {
    expect(inForce(given)).toMatchObject(expected)
    expect(inForce(given)).not.toHaveProperty('leftOut')
  })

  it('of work that is not retried unless it asks stays without retries, and asks with the waits of the deployment', () => {
    expect(inForce({}, NO_RETRIES)).toMatchObject({ maxRetries: 0, baseMs: 100 })
    expect(inForce({ max_retries: 2 }, NO_RETRIES)).toMatchObject({ maxRetries: 2, baseMs: 100, maxMs: 400 })
  })

  it('that was kept before is in force as it is', () => {
    expect(effectivePolicy(DEFAULT_RETRY_POLICY, deployment)).toBe(DEFAULT_RETRY_POLICY)
  })
})
