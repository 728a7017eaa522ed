import { describe, expect, it } from 'vitest'
import { decideFailureAlert, decideStall, isLate } from '../../src/core/alerts.ts'
import { instant } from '../../src/core/instant.ts'

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
