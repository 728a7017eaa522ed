import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import {
  countEndedRuns,
  stepDuration,
  percentile,
  durationStep,
  type CountedRun,
} from '../../../src/domain/run/ended-counts.ts'

const aRun = (change: Partial<CountedRun> = {}): CountedRun => ({
  ...{ state: 'success', startedAt: instant(1_000), finishedAt: instant(1_100), nominal: null, trigger: 'schedule' },
  ...{ firstStartedAt: null, attempt: 1, firstAttempt: 1, usage: null, ...change },
})

describe('a run that was tried again', () => {
  it('took as long as all of its attempts and the waits between them', () => {
    const retried = aRun({ firstStartedAt: instant(100), attempt: 3 })
    expect(countEndedRuns([retried])?.duration).toEqual({ [durationStep(1_000)]: 1 })
    expect(countEndedRuns([aRun()])?.duration).toEqual({ [durationStep(100)]: 1 })
  })
})

describe('a step of the scale of lengths of time', () => {
  it('stands for every length that falls on it to 5 %, or a millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000_000 }), (ms) => {
        expect(Math.abs(stepDuration(durationStep(ms)) - ms)).toBeLessThanOrEqual(Math.max(0.05 * ms, 1))
      }),
    )
  })

  it('is higher for what is longer, and exact for what is short', () => {
    for (const ms of [0, 1, 2, 4, 8, 1_024]) expect(stepDuration(durationStep(ms))).toBe(ms)
    expect(durationStep(-5)).toBe(durationStep(0))
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (a, b) => {
        expect(a <= b ? durationStep(a) <= durationStep(b) : durationStep(a) >= durationStep(b)).toBe(true)
      }),
    )
  })
})

describe('counting', () => {
  it('counts nothing while nothing has ended', () => {
    expect(countEndedRuns([])).toBeNull()
    expect(countEndedRuns([aRun({ state: 'running', finishedAt: null }), aRun({ state: 'waiting' })])).toBeNull()
  })

  it('counts each ending, the length of what was executed, and the lateness of what was planned', () => {
    const counted = countEndedRuns([
      aRun(),
      aRun({ nominal: instant(999) }),
      aRun({ state: 'failed', nominal: instant(0), attempt: 3 }),
      aRun({ state: 'skipped', startedAt: null, nominal: instant(0) }),
      aRun({ state: 'queued' }),
    ])
    expect(counted).toEqual({
      ...{ status: { success: 2, failed: 1, skipped: 1 }, duration: { [durationStep(100)]: 3 } },
      lateness: { [durationStep(1)]: 1 },
    })
  })

  it('adds up what was used by what has ended, whoever reported it', () => {
    const counted = countEndedRuns([
      aRun({ usage: { inputTokens: 100, outputTokens: 20, costMicros: 1_500 } }),
      aRun({ state: 'failed', usage: { input_tokens: 5, cost: 0.25 } }),
      aRun({ usage: { input_tokens: 0, note: 'nothing' } }),
      aRun({ state: 'running', finishedAt: null, usage: { inputTokens: 1_000 } }),
    ])
    expect(counted?.usage).toEqual({ tokens: 125, money: 251_500 })
  })
})

describe('a percentile', () => {
  it('is what that share stays within, and nothing of nothing', () => {
    expect(percentile({}, 0.95)).toBeNull()
    const steps = { [durationStep(10)]: 94, [durationStep(100)]: 5, [durationStep(1_000)]: 1 }
    expect([0.5, 0.94, 0.95, 0.99, 1].map((share) => percentile(steps, share))).toEqual(
      [10, 10, 100, 100, 1_000].map((ms) => stepDuration(durationStep(ms))),
    )
  })
})
