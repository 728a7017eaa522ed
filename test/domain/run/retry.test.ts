import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES, type ErrorCode } from '../../../src/domain/run/error-codes.ts'
import { later } from '../../../src/domain/instant.ts'
import {
  decideRetry,
  defaultMaxRetries,
  isRetryable,
  retryWait,
  type FailedAttempt,
  type RetryFacts,
} from '../../../src/domain/run/retry.ts'
import { outcomeOfHttpStatus } from '../../../src/domain/run/outcome.ts'
import { DEFAULT_RETRY_POLICY, parseRetryPolicy, type RetryPolicy } from '../../../src/domain/run/retry-policy.ts'
import { explainWhy } from '../../../src/domain/reasons.ts'
import { NOW } from '../../support/builders.ts'

const failed = (over: Partial<FailedAttempt> = {}): FailedAttempt => ({
  errorCode: 'agent_error',
  retryable: null,
  retryAfterMs: null,
  attempt: 1,
  firstAttempt: 1,
  ...over,
})
const facts = (over: Partial<RetryFacts> = {}): RetryFacts => ({
  now: NOW,
  policy: DEFAULT_RETRY_POLICY,
  failureActionRetries: false,
  deadline: null,
  random: 0.5,
  ...over,
})
const policyOf = (value: unknown): RetryPolicy => {
  const read = parseRetryPolicy('retry_policy', value)
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return read.value
}

describe('an answer of 4xx', () => {
  const decided = (status: number): ReturnType<typeof decideRetry> => {
    const outcome = outcomeOfHttpStatus(status)
    if (outcome.kind !== 'failed') throw new Error(`${status} is no failure`)
    return decideRetry(failed(outcome), facts())
  }
  const statuses = Array.from({ length: 100 }, (_, index) => 400 + index)

  it('is final, and says so, unless it says "not now"', () => {
    const retried = statuses.filter((status) => decided(status).kind === 'retry')
    expect(retried).toEqual([408, 425, 429])
    const told = statuses.filter((status) => !retried.includes(status)).map((status) => decided(status).why)
    expect(new Set(told.map(({ reason }) => reason))).toEqual(new Set(['not_retryable']))
    expect(new Set(told.map(explainWhy))).toEqual(
      new Set(['Attempt 1 failed with executor_http_4xx, which is not retried.']),
    )
  })
})

describe('a failing agent turn', () => {
  it('is tried four times, with waits of about 2, 4 and 8 s, and no wait after the last', () => {
    const waits = [1, 2, 3, 4].map((attempt) => {
      const decision = decideRetry(failed({ attempt }), facts())
      return decision.kind === 'retry' ? decision.at - NOW : decision.why.reason
    })
    expect(waits).toEqual([2000, 4000, 8000, 'retries_exhausted'])
  })

  it('keeps each wait inside [1.5, 2.5), [3, 5) and [6, 10) s', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
        const waits = [0, 1, 2].map((used) => retryWait(DEFAULT_RETRY_POLICY, used, random) / 1000)
        waits.forEach((wait, used) => {
          expect(wait).toBeGreaterThanOrEqual(1.5 * 2 ** used)
          expect(wait).toBeLessThan(2.5 * 2 ** used)
        })
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  it('never waits longer than the longest wait, give or take the jitter', () => {
    expect(retryWait(DEFAULT_RETRY_POLICY, 60, 0.5)).toBe(30_000)
    expect(retryWait(DEFAULT_RETRY_POLICY, 2000, 0.5)).toBe(30_000)
  })

  it('counts from its first attempt, whatever that is', () => {
    expect(decideRetry(failed({ attempt: 9, firstAttempt: 7 }), facts())).toMatchObject({ kind: 'retry' })
    expect(decideRetry(failed({ attempt: 10, firstAttempt: 7 }), facts())).toMatchObject({ kind: 'give_up' })
  })

  it('has no retries of its own under failure action RETRY', () => {
    expect(decideRetry(failed(), facts({ failureActionRetries: true })).why.reason).toBe('retries_off')
  })

  it('is not retried when the retry could not start before its deadline', () => {
    expect(decideRetry(failed(), facts({ deadline: later(NOW, 2000) })).why.reason).toBe('no_time_left')
    expect(decideRetry(failed(), facts({ deadline: later(NOW, 2001) })).kind).toBe('retry')
  })

  it('waits as long as the other side asked, but no longer than a day', () => {
    const waits = (retryAfterMs: number): number => {
      const decision = decideRetry(failed({ retryAfterMs }), facts())
      return decision.kind === 'retry' ? decision.at - NOW : -1
    }
    expect([0, 60_000, 1e12].map(waits)).toEqual([2000, 60_000, 86_400_000])
  })
})

describe('which errors are retried', () => {
  const retried: readonly ErrorCode[] = [
    'executor_http_5xx',
    'network',
    'timeout',
    'callback_timeout',
    'node_lost',
    'node_shutdown',
    'executor_offline',
    'malformed_answer',
    'condition_failed',
    'agent_error',
    'command_failed',
    'probe_failed',
    'internal',
  ]
  it.each(Object.keys(ERROR_CODES) as ErrorCode[])('%s', (errorCode) => {
    expect(isRetryable({ errorCode, retryable: null })).toBe(retried.includes(errorCode))
    expect(isRetryable({ errorCode, retryable: false })).toBe(false)
    expect(isRetryable({ errorCode, retryable: true })).toBe(true)
  })

  it('is explained in a sentence', () => {
    const why = decideRetry(failed({ errorCode: 'executor_http_4xx' }), facts()).why
    expect(explainWhy(why)).toBe('Attempt 1 failed with executor_http_4xx, which is not retried.')
  })
})

describe('a retry policy', () => {
  it('of kind ladder climbs each step once unless told otherwise, and the last step repeats', () => {
    const ladder = policyOf({ strategy: 'ladder' })
    expect(ladder.maxRetries).toBe(5)
    expect([0, 1, 2, 3, 4, 5].map((used) => retryWait(ladder, used, 0.9) / 1000)).toEqual([
      30, 60, 300, 900, 3600, 3600,
    ])
    expect(policyOf({ strategy: 'ladder', max_retries: 2 }).maxRetries).toBe(2)
  })

  it('is read up to its bounds: 20 steps, a jitter of 0, a longest wait equal to the first', () => {
    const steps = Array.from({ length: 20 }, () => 1)
    expect(policyOf({ strategy: 'ladder', ladder_seconds: steps }).ladderSeconds).toEqual(steps)
    expect(parseRetryPolicy('p', { ladder_seconds: [...steps, 1] }).ok).toBe(false)
    expect(policyOf({ strategy: 'ladder', ladder_seconds: [7] }).maxRetries).toBe(1)
    expect(policyOf({ jitter: 0 }).jitter).toBe(0)
    expect(policyOf({ base_ms: 500, max_ms: 500 })).toMatchObject({ baseMs: 500, maxMs: 500 })
    expect(policyOf({ base_ms: 90_000 })).toMatchObject({ baseMs: 90_000, maxMs: 90_000 })
    expect(policyOf({})).toEqual({ ...DEFAULT_RETRY_POLICY, baseMs: 2000, maxMs: 30_000 })
  })

  it('of kind fixed waits the same each time', () => {
    const fixed = policyOf({ strategy: 'FIXED', base_ms: 700 })
    expect([0, 5, 9].map((used) => retryWait(fixed, used, 0.1))).toEqual([700, 700, 700])
  })

  it('with 0 retries means none', () => {
    expect(decideRetry(failed(), facts({ policy: policyOf({ max_retries: 0 }) })).kind).toBe('give_up')
  })

  it.each([
    [{ max_retries: -1 }, 'retry_policy.max_retries'],
    [{ strategy: 'random' }, 'retry_policy.strategy'],
    [{ base_ms: 0 }, 'retry_policy.base_ms'],
    [{ base_ms: 5000, max_ms: 10 }, 'retry_policy.max_ms'],
    [{ jitter: 1 }, 'retry_policy.jitter'],
    [{ jitter: '0.5' }, 'retry_policy.jitter'],
    [{ jitter: Number.NaN }, 'retry_policy.jitter'],
    [{ ladder_seconds: [0] }, 'retry_policy.ladder_seconds.0'],
    [{ ladder_seconds: [] }, 'retry_policy.ladder_seconds'],
    [{ ladder_seconds: [30, 0] }, 'retry_policy.ladder_seconds.1'],
    [{ retries: 3 }, 'retry_policy.retries'],
    ['often', 'retry_policy'],
  ])('refuses %j at %s', (value, field) => {
    const read = parseRetryPolicy('retry_policy', value)
    expect(!read.ok && read.flaws.map((flaw) => flaw.field)).toEqual([field])
  })

  it.each([
    ['message', 'chat', false, 3],
    ['schedule', 'http', false, 3],
    ['heartbeat', 'in-process', false, 3],
    ['webhook', 'chat', false, 3],
    ['schedule', 'command', false, 0],
    ['schedule', 'http', true, 0],
    ['task', 'tab-action', false, 0],
  ] as const)('of %s on %s (inline: %s) defaults to %i retries', (trigger, executorKind, inlineExecutor, retries) => {
    expect(defaultMaxRetries({ trigger, executorKind, inlineExecutor })).toBe(retries)
  })
})
