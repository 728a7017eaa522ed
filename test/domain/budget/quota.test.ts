import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { later, MINUTE_MS, type Instant } from '../../../src/domain/instant.ts'
import {
  backOffMs,
  chargeAttempt,
  chargeTokens,
  closedQuota,
  createQuotaState,
  remainingQuota,
  applyRefusal,
  applyReported,
  applySuccess,
  changeQuotas,
  type Quotas,
  type QuotaState,
} from '../../../src/domain/budget/quota.ts'
import { NOW } from '../../support/builders.ts'

const quotas = (over: Partial<Quotas> = {}): Quotas => ({
  ...{ requestsPerMinute: null, tokensPerMinute: null, maxConcurrent: null },
  ...over,
})
const SIXTY = quotas({ requestsPerMinute: 60 })
const at = (ms: number): Instant => later(NOW, ms)

/** So many attempts at once, each with so many tokens. */
function begun(of: Quotas, count: number, { now = NOW, tokens = 0 } = {}): QuotaState {
  let state = createQuotaState(of, NOW)
  for (let left = count; left > 0; left -= 1) state = chargeAttempt(state, of, { now, tokens })
  return state
}

describe('requests a minute', () => {
  it('begin with a minute of them, and come back one by one', () => {
    expect(closedQuota(begun(SIXTY, 59), SIXTY, NOW)).toBeNull()
    const used = begun(SIXTY, 60)
    expect(closedQuota(used, SIXTY, NOW)).toEqual({ quota: 'requests_per_minute', until: at(1_000) })
    expect(closedQuota(used, SIXTY, at(999))).toEqual({ quota: 'requests_per_minute', until: at(1_000) })
    expect(closedQuota(used, SIXTY, at(1_000))).toBeNull()
    expect(remainingQuota(used, SIXTY, at(30_500))).toEqual({ requests: 30, tokens: null })
    expect(remainingQuota(used, SIXTY, at(10 * MINUTE_MS))).toEqual({ requests: 60, tokens: null })
  })

  it('open at the first whole millisecond of an odd rate', () => {
    const seven = quotas({ requestsPerMinute: 7 })
    const used = begun(seven, 7)
    const until = closedQuota(used, seven, NOW)?.until ?? NOW
    // 60,000 / 7 is 8,571.43.
    expect(until).toBe(at(8_572))
    expect(closedQuota(used, seven, later(until, -1))).not.toBeNull()
    expect(closedQuota(chargeAttempt(used, seven, { now: until, tokens: 0 }), seven, until)?.until).toBe(at(17_143))
  })

  it('are never more than a minute of them and what came back, in any stretch of time', () => {
    const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 70_000 })), { maxLength: 40 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), gaps, (perMinute, steps) => {
        const of = quotas({ requestsPerMinute: perMinute })
        let state = createQuotaState(of, NOW)
        let now = NOW
        const starts: number[] = []
        for (const gap of steps) {
          now = later(now, gap)
          for (let tries = 0; tries < 20 && closedQuota(state, of, now) === null; tries += 1) {
            state = chargeAttempt(state, of, { now, tokens: 0 })
            starts.push(now)
          }
        }
        const excess = starts.flatMap((first, from) =>
          starts.slice(from).filter((last, index) => index + 1 > perMinute + (perMinute * (last - first)) / MINUTE_MS),
        )
        expect(excess).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('are all used by whoever comes at the moment that is named, however it is cut up', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 300 }), (perMinute, count) => {
        const of = quotas({ requestsPerMinute: perMinute })
        let [state, now] = [createQuotaState(of, NOW), NOW]
        for (let made = 0; made < perMinute + count; made += 1) {
          now = closedQuota(state, of, now)?.until ?? now
          state = chargeAttempt(state, of, { now, tokens: 0 })
        }
        // Nothing is lost by rounding: the last one goes at the first millisecond that is late enough.
        expect(now - NOW).toBe(Math.ceil((count * MINUTE_MS) / perMinute))
      }),
      { numRuns: 60 },
    )
  })
})

describe('tokens a minute', () => {
  const SIX = quotas({ tokensPerMinute: 6_000 })

  it('let work start while any are left, and are owed beyond that', () => {
    const state = begun(SIX, 1, { tokens: 9_000 })
    expect(remainingQuota(state, SIX, NOW)).toEqual({ requests: null, tokens: -3_000 })
    // At 100 a second 3,000 take 30 s, and there must be more than nothing.
    expect(closedQuota(state, SIX, NOW)).toEqual({ quota: 'tokens_per_minute', until: at(30_001) })
    expect(closedQuota(state, SIX, at(30_000))).not.toBeNull()
    expect(closedQuota(state, SIX, at(30_001))).toBeNull()
  })

  it('that were set aside and not used come back, and those used beyond are owed', () => {
    const state = begun(SIX, 1, { tokens: 4_000 })
    const settled = chargeTokens(chargeTokens(state, SIX, { now: NOW, tokens: -4_000 }), SIX, { now: NOW, tokens: 500 })
    expect(remainingQuota(settled, SIX, NOW).tokens).toBe(5_500)
    expect(remainingQuota(chargeTokens(settled, SIX, { now: NOW, tokens: 7_500 }), SIX, NOW).tokens).toBe(-2_000)
  })

  it('never hold more than a minute of them, and never owe more than a day', () => {
    const state = createQuotaState(SIX, NOW)
    expect(remainingQuota(chargeTokens(state, SIX, { now: NOW, tokens: -9_000 }), SIX, NOW).tokens).toBe(6_000)
    const owed = chargeTokens(state, SIX, { now: NOW, tokens: 1e12 })
    expect(remainingQuota(owed, SIX, NOW).tokens).toBe(-6_000 * 1_440)
    expect(Number.isSafeInteger(owed.tokens)).toBe(true)
  })
})

describe('several quotas', () => {
  it('hold for as long as the longest does', () => {
    const both = quotas({ requestsPerMinute: 60, tokensPerMinute: 60 })
    const state = begun(both, 60, { tokens: 2 })
    expect(closedQuota(state, both, NOW)).toEqual({ quota: 'tokens_per_minute', until: at(60_001) })
    expect(closedQuota(applyRefusal(state, { now: NOW, startedAt: NOW, retryAfterMs: 90_000 }), both, NOW)).toEqual({
      ...{ quota: 'retry_after', until: at(90_000) },
    })
    expect(closedQuota(begun(quotas(), 1_000), quotas(), NOW)).toBeNull()
  })

  it('that change keep what was used, and are there at once where they are new or more', () => {
    const used = begun(SIXTY, 60)
    const more = quotas({ requestsPerMinute: 120, tokensPerMinute: 10 })
    const changed = changeQuotas(used, { before: SIXTY, after: more, now: at(1_000) })
    expect(remainingQuota(changed, more, at(1_000))).toEqual({ requests: 61, tokens: 10 })
    expect(remainingQuota(changed, more, at(2_000)).requests).toBe(63)
    const less = quotas({ requestsPerMinute: 5 })
    expect(
      remainingQuota(changeQuotas(createQuotaState(SIXTY, NOW), { before: SIXTY, after: less, now: NOW }), less, NOW)
        .requests,
    ).toBe(5)
    expect(remainingQuota(changeQuotas(used, { before: SIXTY, after: quotas(), now: NOW }), quotas(), NOW)).toEqual({
      requests: null,
      tokens: null,
    })
  })
})

describe('a provider that refuses', () => {
  const fresh = createQuotaState(SIXTY, NOW)
  const refused = (state: QuotaState, now: Instant, retryAfterMs: number | null = null, startedAt = now): QuotaState =>
    applyRefusal(state, { now, startedAt, retryAfterMs })

  it('is left alone for as long as it says, the longer of two waits', () => {
    const first = refused(fresh, NOW, 5_000)
    expect(first.blockedUntil).toBe(at(5_000))
    expect(refused(first, at(1_000), 2_000, NOW).blockedUntil).toBe(at(5_000))
    expect(refused(first, at(1_000), 9_000, NOW).blockedUntil).toBe(at(10_000))
    expect(refused(fresh, NOW, 1e12).blockedUntil).toBe(at(86_400_000))
    expect(closedQuota(first, SIXTY, at(4_999))?.quota).toBe('retry_after')
    expect(closedQuota(first, SIXTY, at(5_000))).toBeNull()
  })

  it('is left alone longer each time when it does not say, up to a minute', () => {
    expect([1, 2, 3, 6, 7, 100].map(backOffMs)).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000])
    const once = refused(fresh, NOW)
    const twice = refused(once, at(1_000))
    expect([once.blockedUntil, twice.blockedUntil]).toEqual([at(1_000), at(3_000)])
    expect(closedQuota(twice, SIXTY, at(1_500))?.quota).toBe('back_off')
  })

  it('counts a crowd that is refused together once', () => {
    let state = fresh
    for (let count = 0; count < 50; count += 1) state = refused(state, at(count), null, NOW)
    expect([state.refusals, state.blockedUntil]).toEqual([1, at(1_000)])
  })

  it('is tried again at once when somebody sets its quotas, be it to what they are', () => {
    const blocked = refused(refused(fresh, NOW), at(1_000), 86_400_000)
    const set = changeQuotas(blocked, { before: SIXTY, after: SIXTY, now: at(2_000) })
    expect([closedQuota(set, SIXTY, at(2_000)), set.refusals]).toEqual([null, 0])
  })

  it('is trusted again with the first success that began after the wait', () => {
    const state = refused(refused(fresh, NOW), at(1_000))
    expect(applySuccess(state, NOW)).toBe(state)
    const trusted = applySuccess(state, at(3_000))
    expect([trusted.refusals, trusted.blockedUntil]).toEqual([0, null])
    expect(refused(trusted, at(4_000)).blockedUntil).toBe(at(5_000))
  })
})

describe('what a provider reports as left', () => {
  const both = quotas({ requestsPerMinute: 60, tokensPerMinute: 1_000 })
  const reported = { requests: null, tokens: null, availableInMs: null }

  it('lowers what is left here, because others use the same key', () => {
    const state = applyReported(begun(both, 1), both, { now: NOW, reported: { ...reported, requests: 5, tokens: 10 } })
    expect(remainingQuota(state, both, NOW)).toEqual({ requests: 5, tokens: 10 })
    expect(closedQuota(state, both, NOW)).toBeNull()
  })

  it('never raises it, and changes nothing where there is no quota', () => {
    const state = begun(both, 60)
    expect(applyReported(state, both, { now: NOW, reported: { ...reported, requests: 900, tokens: 9_000 } })).toBe(
      state,
    )
    const none = begun(quotas(), 1)
    expect(applyReported(none, quotas(), { now: NOW, reported: { ...reported, requests: 5, tokens: 10 } })).toBe(none)
  })

  it('closes the provider until there is room again, also without quotas of its own', () => {
    const state = applyReported(begun(quotas(), 1), quotas(), {
      now: NOW,
      reported: { ...reported, requests: 0, availableInMs: 1_500 },
    })
    expect(closedQuota(state, quotas(), NOW)).toEqual({ quota: 'retry_after', until: at(1_500) })
    expect(closedQuota(state, quotas(), at(1_500))).toBeNull()
    const longer = applyRefusal(state, { now: NOW, startedAt: NOW, retryAfterMs: 5_000 })
    const kept = applyReported(longer, quotas(), {
      now: NOW,
      reported: { ...reported, requests: 0, availableInMs: 10 },
    })
    expect(kept.blockedUntil).toBe(at(5_000))
  })
})
