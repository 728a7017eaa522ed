import { describe, expect, it } from 'vitest'
import {
  decideNextTry,
  DELIVERY_TRIES,
  deliveryIdempotencyKey,
  type FailedTry,
} from '../../../src/domain/delivery/delivery-retry.ts'
import { DAY_MS, HOUR_MS, instant } from '../../../src/domain/instant.ts'
import { expectExplained } from '../../support/why.ts'

const noon = instant(Date.parse('2026-01-15T12:00:00Z'))

function decide(overrides: Partial<FailedTry> = {}) {
  const decision = decideNextTry({
    kind: 'target',
    target: 'ops',
    tries: 1,
    failuresInARow: 1,
    now: noon,
    random: 0.5,
    ...overrides,
  })
  expectExplained(decision.why)
  return decision
}

function waitOf(overrides: Partial<FailedTry>): number {
  const decision = decide(overrides)
  if (decision.kind !== 'retry') throw new Error(`expected another try, got ${decision.kind}`)
  return decision.retryAt - noon
}

describe('a target that is down', () => {
  it('is tried again, later each time', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tries) => waitOf({ tries }) / 1000)
    expect(waits).toEqual([5, 15, 60, 300, 900, 1800, 3600, 7200, 14400])
  })

  it('has about eight hours until its tenth try', () => {
    const total = [1, 2, 3, 4, 5, 6, 7, 8, 9].reduce((sum, tries) => sum + waitOf({ tries }), 0)
    expect(total).toBeGreaterThan(7 * HOUR_MS)
    expect(total).toBeLessThan(9 * HOUR_MS)
  })

  it('is disabled after ten failures in a row, whichever messages they were', () => {
    expect(decide({ tries: 1, failuresInARow: 9 }).kind).toBe('retry')
    expect(decide({ tries: 1, failuresInARow: 10 })).toMatchObject({
      kind: 'disable_target',
      why: { reason: 'target_disabled' },
    })
  })

  it('keeps a message that failed ten times while others arrived', () => {
    expect(decide({ tries: 12, failuresInARow: 1 }).kind).toBe('retry')
    expect(decide({ tries: 30, failuresInARow: 1 }).kind).toBe('give_up')
  })
})

describe('a callback that is down', () => {
  it('is given up after ten tries, and disables nothing', () => {
    expect(decide({ kind: 'adhoc', tries: 9, failuresInARow: 9 }).kind).toBe('retry')
    expect(decide({ kind: 'adhoc', tries: 10, failuresInARow: 50 })).toMatchObject({
      kind: 'give_up',
      why: { reason: 'delivery_given_up' },
    })
  })
})

describe('the wait between two tries', () => {
  it('is spread by a quarter either way', () => {
    expect(waitOf({ random: 0 })).toBe(3750)
    expect(waitOf({ random: 0.9999999 })).toBe(6250)
  })

  it('is as long as the receiver asks, within a day', () => {
    expect(waitOf({ retryAfterMs: 120_000 })).toBe(120_000)
    expect(waitOf({ retryAfterMs: 10 })).toBe(5_000)
    expect(waitOf({ retryAfterMs: -10 })).toBe(5_000)
    expect(waitOf({ retryAfterMs: 90 * DAY_MS })).toBe(DAY_MS)
  })

  it('lets one try take ten seconds', () => {
    expect(DELIVERY_TRIES.timeoutMs).toBe(10_000)
  })
})

describe('the idempotency key of a delivery', () => {
  it('is the same for every try and another for every delivery', () => {
    expect(deliveryIdempotencyKey('dlv_1')).toBe(deliveryIdempotencyKey('dlv_1'))
    expect(deliveryIdempotencyKey('dlv_1')).not.toBe(deliveryIdempotencyKey('dlv_2'))
  })
})
