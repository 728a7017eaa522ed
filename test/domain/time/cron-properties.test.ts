import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instant, type Instant } from '../../../src/domain/instant.ts'
import { countFires, nextFire, previousFire, type CronPlan } from '../../../src/domain/time/cron.ts'
import { DST_POLICIES } from '../../../src/domain/time/dst-policy.ts'
import { cron, show } from './world.ts'
import { cpuMs } from '../../support/cpu-time.ts'

const ZONES = Intl.supportedValuesOf('timeZone')

const EXPRESSIONS = [
  '* * * * *',
  '*/7 * * * *',
  '30 2 * * *',
  '0,30 1-3 * * *',
  '15 0 * * *',
  '59 23 * * 6,0',
  '0 0 1 * *',
  '0 12 L * *',
  '30 2 LW * *',
  '30 2 15W * *',
  '0 3 * * 5L',
  '0 3 * * MON#2',
  '0 0 13 * 5',
  '0 0 13 * +5',
  '30 1 29 2 *',
  '15 30 2 * * *',
  '*/20 * * * * *',
  '0 0 0 1 1 * 2025-2030',
  '0 0 30 2 *',
]

const starts = fc.integer({ min: Date.UTC(1970, 0, 3), max: Date.UTC(2198, 0, 1) }).map((ms) => instant(ms))

const plans = fc
  .record({
    text: fc.constantFrom(...EXPRESSIONS),
    zone: fc.constantFrom(...ZONES),
    dst: fc.constantFrom(...DST_POLICIES),
    dayMatch: fc.constantFrom('or' as const, 'and' as const),
  })
  .map(({ text, zone, dst, dayMatch }) => cron(text, zone, { dst, dayMatch }))

/** Which promise is broken for a plan at a moment; null if none is. */
function brokenPromise(plan: CronPlan, from: Instant): string | null {
  const next = nextFire(plan, from)
  const say = (text: string): string => `${text}: ${plan.expression.text} ${plan.zone.name} ${plan.dst} ${show(from)}`
  if (next === null) return null
  if (next <= from) return say('next is not later')
  if (next % 1000 !== 0) return say('next is not a whole second')
  for (const part of [0.001, 0.5, 0.999]) {
    const between = instant(Math.floor(from + (next - from) * part))
    if (between < next && nextFire(plan, between) !== next) return say('next depends on the start')
  }
  if (nextFire(plan, instant(next - 1)) !== next) return say('next depends on the start')
  const after = nextFire(plan, next)
  if (after !== null && after <= next) return say('fires do not increase')
  const before = previousFire(plan, next)
  if (before !== null && before > from) return say('previous finds what next does not')
  if (before !== null && nextFire(plan, before) !== next) return say('next does not undo previous')
  if (after !== null && previousFire(plan, after) !== next) return say('previous does not undo next')
  if (countFires(plan, from, next) !== 0 || countFires(plan, from, instant(next + 1)) !== 1) return say('miscounts')
  return null
}

describe('whatever the zone, the policy and the start', () => {
  it('every zone there is keeps the promises', () => {
    const broken: string[] = []
    ZONES.forEach((zone, index) => {
      const [year, month] = [1972 + ((index * 53) % 220), index % 12]
      DST_POLICIES.forEach((dst, turn) => {
        for (let step = 0; step < 4; step += 1) {
          const text = EXPRESSIONS[(index * 5 + turn * 7 + step) % 14] ?? ''
          const from = instant(Date.UTC(year, month, 1 + step * 40, step * 5, 17, 31, 250))
          const found = brokenPromise(cron(text, zone, { dst }), from)
          if (found !== null) broken.push(found)
        }
      })
    })
    expect(broken).toEqual([])
  })

  it('so do plans and starts picked at random', () => {
    fc.assert(
      fc.property(plans, starts, (plan, from) => {
        expect(brokenPromise(plan, from)).toBeNull()
      }),
      { numRuns: 600, seed: 15 },
    )
  })
})

describe('counting', () => {
  const spans = fc.record({
    from: starts,
    hours: fc.integer({ min: 1, max: 900 }),
    rest: fc.integer({ max: 3_599_999 }),
  })

  it('agrees with going through the fires', () => {
    fc.assert(
      fc.property(plans, spans, (plan, { from, hours, rest }) => {
        const [after, before] = [from, instant(from + hours * 3_600_000 + Math.abs(rest % 3_600_000))]
        let fires = 0
        for (let at = nextFire(plan, after); at !== null && at < before; at = nextFire(plan, at)) fires += 1
        expect(countFires(plan, after, before)).toBe(fires)
      }),
      { numRuns: 250, seed: 16 },
    )
  })

  it('is exact for years of an every-second schedule, and quick about it', () => {
    const plan = cron('* * * * * *', 'Europe/Berlin')
    const [after, before] = [instant(Date.UTC(2023, 0, 1)), instant(Date.UTC(2026, 0, 1))]
    countFires(plan, after, before)
    const begin = cpuMs()
    expect(countFires(plan, after, before)).toBe((before - after) / 1000 - 1)
    expect(cpuMs() - begin).toBeLessThan(250)
  })

  it('leaves out the second pass where the policy does', () => {
    const day = [instant(Date.UTC(2026, 9, 24, 22) - 1), instant(Date.UTC(2026, 9, 25, 23))] as const
    expect(countFires(cron('* * * * *', 'Europe/Berlin', { dst: 'both' }), ...day)).toBe(25 * 60)
    expect(countFires(cron('* * * * *', 'Europe/Berlin', { dst: 'skip' }), ...day)).toBe(24 * 60)
  })

  it('finds nothing in an empty or turned-around span', () => {
    const plan = cron('* * * * *')
    expect(countFires(plan, instant(60_000), instant(60_000))).toBe(0)
    expect(countFires(plan, instant(120_000), instant(60_000))).toBe(0)
    expect(countFires(plan, instant(60_000), instant(120_000))).toBe(0)
    expect(countFires(plan, instant(59_999), instant(120_001))).toBe(2)
  })
})

describe('the ends of time', () => {
  it('has no fire for a date that cannot exist', () => {
    expect(nextFire(cron('0 0 30 2 *', 'Europe/Berlin'), instant(0))).toBeNull()
    expect(previousFire(cron('0 0 30 2 *', 'Europe/Berlin'), instant(Date.UTC(2100, 0, 1)))).toBeNull()
  })

  it('waits forty years for a 29 February on a given weekday', () => {
    const plan = cron('0 0 29 2 +1', 'Asia/Tokyo')
    expect(show(nextFire(plan, instant(Date.UTC(2072, 2, 1))))).toBe('2112-02-28T15:00:00.000Z')
    expect(show(previousFire(plan, instant(Date.UTC(2112, 0, 1))))).toBe('2072-02-28T15:00:00.000Z')
  })

  it('begins with 1970 and ends with 2199 in the zone', () => {
    const plan = cron('0 0 * * *', 'Pacific/Auckland')
    expect(show(nextFire(plan, instant(-1e15)))).toBe('1969-12-31T12:00:00.000Z')
    expect(previousFire(plan, instant(Date.UTC(1969, 11, 31, 12)))).toBeNull()
    expect(show(previousFire(plan, instant(8e15)))).toBe('2199-12-30T11:00:00.000Z')
    expect(nextFire(plan, instant(Date.UTC(2199, 11, 30, 11)))).toBeNull()
    expect(nextFire(plan, instant(8e15))).toBeNull()
  })
})
