import { describe, expect, it } from 'vitest'
import { later, type Instant } from '../../../src/domain/instant.ts'
import {
  isAcceptance,
  NODE_LOST,
  NODE_SHUTDOWN,
  outcomeOfHttpStatus,
  outcomeOfResult,
  settleAttempt,
  type AttemptOutcome,
} from '../../../src/domain/run/outcome.ts'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import { attemptEndsBy, callbackEndsBy, isExpired, type TimeLimits } from '../../../src/domain/run/timeouts.ts'
import { NOW } from '../../support/builders.ts'

const facts = { now: NOW, policy: DEFAULT_RETRY_POLICY, failureActionRetries: false, deadline: null, random: 0.5 }
const first = { attempt: 1, firstAttempt: 1 }
const last = { attempt: 4, firstAttempt: 1 }
const failed = (errorCode: 'agent_error' | 'executor_http_4xx'): AttemptOutcome => ({
  kind: 'failed',
  errorCode,
  retryable: null,
  retryAfterMs: null,
})

describe('what an attempt does to its run', () => {
  it.each<[string, AttemptOutcome, typeof first, string]>([
    ['success', { kind: 'succeeded' }, first, 'succeed'],
    ['an accepted request', { kind: 'accepted' }, first, 'accept'],
    ['a stop', { kind: 'stopped' }, first, 'stopped'],
    ['a failure with retries left', failed('agent_error'), first, 'retry'],
    ['a failure without', failed('agent_error'), last, 'give_up'],
    ['a failure that is never retried', failed('executor_http_4xx'), first, 'give_up'],
    ['a timeout with retries left', { kind: 'timed_out', errorCode: 'timeout' }, first, 'retry'],
    ['a timeout without', { kind: 'timed_out', errorCode: 'timeout' }, last, 'time_out'],
    ['a missing callback', { kind: 'timed_out', errorCode: 'callback_timeout' }, last, 'time_out'],
    ['a lost node', NODE_LOST, first, 'retry'],
    ['a lost node on the last attempt', NODE_LOST, last, 'give_up'],
    ['a node that shuts down', NODE_SHUTDOWN, first, 'retry'],
  ])('%s', (_, outcome, attempt, event) => {
    const settled = settleAttempt(outcome, attempt, facts)
    expect(settled.event).toBe(event)
    expect(settled.retryAt === null).toBe(event !== 'retry')
  })

  it('waits as long as the other side asked', () => {
    const busy = settleAttempt(outcomeOfHttpStatus(429, 60_000), first, facts)
    expect(busy).toMatchObject({ event: 'retry', retryAt: later(NOW, 60_000), errorCode: 'executor_http_4xx' })
    expect(settleAttempt(outcomeOfHttpStatus(503, 60_000), first, facts).retryAt).toBe(later(NOW, 60_000))
  })

  it.each(['failed', 'timeout'] as const)('is over when the executor says that %s is not to be retried', (status) => {
    const said = (retryable: boolean | null): string =>
      settleAttempt(outcomeOfResult({ status, errorCode: null, retryable }), first, facts).event
    expect([said(false), said(true), said(null)]).toEqual([
      status === 'failed' ? 'give_up' : 'time_out',
      'retry',
      'retry',
    ])
  })

  it('fails twice, then works: three attempts and one success', () => {
    const events = [failed('agent_error'), failed('agent_error'), { kind: 'succeeded' } as const].map(
      (outcome, index) => settleAttempt(outcome, { attempt: index + 1, firstAttempt: 1 }, facts).event,
    )
    expect(events).toEqual(['retry', 'retry', 'succeed'])
  })
})

describe('what an answer means', () => {
  it.each([
    [200, { kind: 'succeeded' }],
    [204, { kind: 'succeeded' }],
    [299, { kind: 'succeeded' }],
    [300, { kind: 'failed', errorCode: 'executor_http_3xx' }],
    [301, { kind: 'failed', errorCode: 'executor_http_3xx' }],
    [400, { kind: 'failed', errorCode: 'executor_http_4xx', retryable: null }],
    [404, { kind: 'failed', errorCode: 'executor_http_4xx', retryable: null }],
    [425, { kind: 'failed', errorCode: 'executor_http_4xx', retryable: true }],
    [408, { kind: 'failed', errorCode: 'executor_http_4xx', retryable: true }],
    [429, { kind: 'failed', errorCode: 'executor_http_4xx', retryable: true, retryAfterMs: 7000 }],
    [500, { kind: 'failed', errorCode: 'executor_http_5xx', retryable: null }],
    [503, { kind: 'failed', errorCode: 'executor_http_5xx', retryAfterMs: 7000 }],
  ])('HTTP %i', (status, outcome) => {
    expect(outcomeOfHttpStatus(status, 7000)).toMatchObject(outcome)
  })

  it.each([
    ['success', { kind: 'succeeded' }],
    ['timeout', { kind: 'timed_out', errorCode: 'timeout' }],
    ['cancelled', { kind: 'stopped' }],
    ['failed', { kind: 'failed', errorCode: 'agent_error', retryable: false }],
  ] as const)('result %s', (status, outcome) => {
    expect(outcomeOfResult({ status, errorCode: null, retryable: false })).toMatchObject(outcome)
  })
})

describe('an answer that a result will follow', () => {
  it.each([
    [202, { async: true }, false, true],
    [202, { async: 'true' }, false, false],
    [202, null, false, false],
    [202, 'accepted', false, false],
    [202, 'accepted', true, true],
    [200, { async: true }, true, false],
    [500, { async: true }, true, false],
  ])('HTTP %i with %j (async executor: %s): %s', (status, body, isAsync, expected) => {
    expect(isAcceptance({ status, body }, isAsync)).toBe(expected)
  })
})

describe('how long an attempt may take', () => {
  const limits = (over: Partial<TimeLimits>): TimeLimits => ({
    timeoutSeconds: null,
    executor: 'http',
    trigger: 'schedule',
    deadline: null,
    maxTimeoutSeconds: null,
    ...over,
  })
  const secondsUntil = (end: Instant): number => (end - NOW) / 1000

  it.each([
    [8, 8],
    [0, 10],
    [-1, 10],
    [null, 10],
  ])('with timeout_seconds %s is %i s', (timeoutSeconds, expected) => {
    expect(secondsUntil(attemptEndsBy(NOW, limits({ timeoutSeconds })))).toBe(expected)
  })

  it.each([
    ['stated, and longer than the org allows', { timeoutSeconds: 3_600 }, 60],
    ['stated, and shorter', { timeoutSeconds: 8 }, 8],
    ['not stated, and longer by default', { executor: 'worker' }, 60],
    ['not stated, and shorter by default', { executor: 'http' }, 10],
    ['a deadline far away', { trigger: 'task', deadline: later(NOW, 3_600_000) }, 60],
    ['a deadline that comes first', { trigger: 'task', deadline: later(NOW, 5_000) }, 5],
  ] as const)('is at most what the org allows, 60 s: %s', (_, over, expected) => {
    expect(secondsUntil(attemptEndsBy(NOW, limits({ ...over, maxTimeoutSeconds: 60 })))).toBe(expected)
  })

  it('is at most what the org allows while a callback is awaited, counted from its start', () => {
    const at = { startedAt: NOW, acceptedAt: later(NOW, 20_000) }
    expect(secondsUntil(callbackEndsBy(at, limits({ maxTimeoutSeconds: 60 })))).toBe(60)
    expect(secondsUntil(callbackEndsBy(at, limits({ maxTimeoutSeconds: 1_000 })))).toBe(320)
  })

  it('never goes beyond the deadline of the run, and for a task is that deadline', () => {
    const deadline = later(NOW, 60_000)
    expect(secondsUntil(attemptEndsBy(NOW, limits({ deadline, executor: 'chat' })))).toBe(60)
    expect(secondsUntil(attemptEndsBy(NOW, limits({ deadline, trigger: 'task' })))).toBe(60)
    expect(secondsUntil(attemptEndsBy(NOW, limits({ deadline })))).toBe(10)
  })

  it('leaves five minutes for a callback, unless a stated timeout covers the whole attempt', () => {
    const at = { startedAt: NOW, acceptedAt: later(NOW, 3_000) }
    expect(secondsUntil(callbackEndsBy(at, limits({})))).toBe(303)
    expect(secondsUntil(callbackEndsBy(at, limits({ timeoutSeconds: 20 })))).toBe(20)
  })

  it('is over for waiting work exactly at its deadline', () => {
    expect(isExpired({ deadline: later(NOW, 1) }, NOW)).toBe(false)
    expect(isExpired({ deadline: NOW }, NOW)).toBe(true)
    expect(isExpired({ deadline: null }, NOW)).toBe(false)
  })
})
