import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideFailureAlert, decideLateAlert, decideMissedAlert, decideStall, isLate } from '../../src/domain/alerts.ts'
import { instant } from '../../src/domain/instant.ts'

const noon = instant(Date.parse('2026-01-15T12:00:00Z'))

describe('failures in a row', () => {
  /** One letter per run: `f` failed, `s` succeeded. Answers with what each made of the alert. */
  function play(runs: string, alertAfter = 3): readonly string[] {
    let streak = 0
    let raised = false
    return Array.from(runs, (run) => {
      const streakAfter = run === 'f' ? streak + 1 : 0
      const decision = decideFailureAlert({ streakBefore: streak, streakAfter, alertAfter, raised })
      streak = streakAfter
      if (decision.kind !== 'none') raised = decision.kind === 'raise'
      return decision.kind
    })
  }

  it('raise one alert per streak, cleared by a success; three more raise a second', () => {
    expect(play('ffffsfff')).toEqual(['none', 'none', 'raise', 'none', 'clear', 'none', 'none', 'raise'])
  })

  it('that do not reach the limit raise none', () => {
    expect(play('ffsffsff')).not.toContain('raise')
  })

  it('raise at the first when the limit is one', () => {
    expect(play('ffs', 1)).toEqual(['raise', 'none', 'clear'])
  })

  it('raise at the next failure when the limit was lowered meanwhile, and not by the edit itself', () => {
    const facts = { alertAfter: 3, raised: false }
    expect(decideFailureAlert({ ...facts, streakBefore: 5, streakAfter: 5 }).kind).toBe('none')
    expect(decideFailureAlert({ ...facts, streakBefore: 5, streakAfter: 6 }).kind).toBe('raise')
  })
})

describe('an engine that scans every second', () => {
  const stall = (agoMs: number, raised = false) =>
    decideStall({ lastScanAt: noon, now: instant(noon + agoMs), periodMs: 1000, stallPeriods: 3, raised }).kind

  it('is stalled after three periods without a scan, said once', () => {
    expect(stall(2999)).toBe('none')
    expect(stall(3000)).toBe('raise')
    expect(stall(60_000, true)).toBe('none')
  })

  it('is well again with the next scan', () => {
    expect(stall(10, true)).toBe('clear')
  })

  it('is not stalled when the clock of another node is behind', () => {
    expect(stall(-5000)).toBe('none')
  })
})

describe('a run that may be five seconds late', () => {
  it.each([
    [5000, false],
    [5001, true],
    [-100, false],
  ])('and starts %i ms after its moment: late is %s', (ms, expected) => {
    expect(isLate(noon, instant(noon + ms), 5)).toBe(expected)
  })

  it('is never late when there is no limit', () => {
    expect(isLate(noon, instant(noon + 10 ** 9), null)).toBe(false)
    expect(isLate(noon, instant(noon + 1), 0)).toBe(true)
  })
})

describe('a schedule whose runs may be a minute late', () => {
  const decide = (lateMs: number, more: { readonly hasStarted?: boolean; readonly raised?: boolean } = {}) =>
    decideLateAlert({
      ...{
        nominal: noon,
        at: instant(noon + lateMs),
        hasStarted: true,
        raised: false,
        maxLatenessSeconds: 60,
        ...more,
      },
    }).kind

  it.each([
    [60_000, {}, 'none'],
    [60_001, {}, 'raise'],
    [60_001, { hasStarted: false }, 'raise'],
    [60_001, { raised: true }, 'none'],
    [10, { raised: true }, 'clear'],
    [10, { raised: true, hasStarted: false }, 'none'],
  ] as const)('%i ms late, %j: %s', (ms, more, expected) => {
    expect(decide(ms, more)).toBe(expected)
  })

  it('is let go when nothing is late any more by its rules', () => {
    const facts = { nominal: noon, at: instant(noon + 10 ** 9), hasStarted: true, maxLatenessSeconds: null }
    expect(decideLateAlert({ ...facts, raised: true }).kind).toBe('clear')
    expect(decideLateAlert({ ...facts, raised: false }).kind).toBe('none')
  })
})

describe('a schedule that misses occurrences', () => {
  it.each([
    [{ missed: 2, inTime: true, raised: false }, 'raise'],
    [{ missed: 2, inTime: true, raised: true }, 'none'],
    [{ missed: 0, inTime: true, raised: true }, 'clear'],
    [{ missed: 0, inTime: false, raised: true }, 'none'],
    [{ missed: 0, inTime: true, raised: false }, 'none'],
  ] as const)('%j: %s', (facts, expected) => {
    expect(decideMissedAlert({ ...facts, first: noon }).kind).toBe(expected)
  })
})

describe('every alert', () => {
  it('of failures is raised at most once in a streak, and is open only while there is one', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean()), fc.integer({ min: 1, max: 5 }), (runs, alertAfter) => {
        let streak = 0
        let raised = false
        let raisedInStreak = 0
        for (const fails of runs) {
          const streakAfter = fails ? streak + 1 : 0
          const { kind } = decideFailureAlert({ streakBefore: streak, streakAfter, alertAfter, raised })
          streak = streakAfter
          if (kind === 'raise') raisedInStreak += 1
          if (kind !== 'none') raised = kind === 'raise'
          expect(raised).toBe(streak >= alertAfter)
          expect(raisedInStreak).toBeLessThanOrEqual(1)
          if (!fails) raisedInStreak = 0
        }
      }),
    )
  })

  it('of lateness follows the newest start', () => {
    const limit = 30
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 60 })), (delays) => {
        let raised = false
        for (const seconds of delays) {
          const at = instant(noon + seconds * 1_000)
          const facts = { nominal: noon, at, hasStarted: true, maxLatenessSeconds: limit, raised }
          const { kind } = decideLateAlert(facts)
          if (kind !== 'none') raised = kind === 'raise'
          expect(raised).toBe(seconds > limit)
        }
      }),
    )
  })
})
