import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { periodBounds, type BudgetPeriod } from '../../../src/domain/budget/budget-period.ts'
import { DAY_MS, formatInstant, HOUR_MS, instant } from '../../../src/domain/instant.ts'
import { parseZone, type Zone } from '../../../src/domain/time/zone.ts'

function zone(name: string): Zone {
  const result = parseZone('timezone', name)
  if (!result.ok) throw new Error(name)
  return result.value
}

const at = (text: string) => instant(Date.parse(text))

function bounds(period: BudgetPeriod, name: string, text: string): readonly [string, string] {
  const { start, end } = periodBounds(period, zone(name), at(text))
  return [formatInstant(start).slice(0, 16), formatInstant(end).slice(0, 16)]
}

describe('a budget period', () => {
  it.each([
    ['day', 'UTC', '2026-01-15T00:00:00Z', '2026-01-15T00:00', '2026-01-16T00:00'],
    ['day', 'UTC', '2026-01-15T23:59:59.999Z', '2026-01-15T00:00', '2026-01-16T00:00'],
    ['day', 'Asia/Shanghai', '2026-01-15T20:00:00Z', '2026-01-15T16:00', '2026-01-16T16:00'],
    ['day', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00', '2026-03-29T22:00'],
    ['day', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00', '2026-10-25T23:00'],
    // Midnight does not exist: the day begins at one.
    ['day', 'America/Sao_Paulo', '2018-11-04T12:00:00Z', '2018-11-04T03:00', '2018-11-05T02:00'],
    // Midnight comes twice: the day begins with the first.
    ['day', 'America/Havana', '2026-11-01T04:30:00Z', '2026-11-01T04:00', '2026-11-02T05:00'],
    ['day', 'America/Havana', '2026-11-01T05:30:00Z', '2026-11-01T04:00', '2026-11-02T05:00'],
    // A day that was never shown takes no time.
    ['day', 'Pacific/Apia', '2011-12-30T05:00:00Z', '2011-12-29T10:00', '2011-12-30T10:00'],
    ['month', 'UTC', '2026-02-28T23:59:00Z', '2026-02-01T00:00', '2026-03-01T00:00'],
    ['month', 'UTC', '2028-02-29T12:00:00Z', '2028-02-01T00:00', '2028-03-01T00:00'],
    ['month', 'UTC', '2026-12-31T12:00:00Z', '2026-12-01T00:00', '2027-01-01T00:00'],
    ['month', 'Europe/Berlin', '2026-03-31T21:59:00Z', '2026-02-28T23:00', '2026-03-31T22:00'],
    ['month', 'America/New_York', '2026-04-01T03:59:00Z', '2026-03-01T05:00', '2026-04-01T04:00'],
  ] as const)('of a %s in %s around %s is %s to %s', (...[period, name, text, ...expected]) => {
    expect(bounds(period, name, text)).toEqual(expected)
  })

  it('follows the one before without gap or overlap, in any zone', () => {
    const names = ['Europe/Berlin', 'America/Havana', 'America/Sao_Paulo', 'Pacific/Apia', 'Africa/Casablanca']
    const periods: readonly BudgetPeriod[] = ['day', 'month']
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.constantFrom(...periods),
        fc.nat(20 * 365 * 24),
        (name, period, hours) => {
          const now = instant(at('2010-01-01T00:00:00Z') + hours * HOUR_MS)
          const found = periodBounds(period, zone(name), now)
          expect(found.start).toBeLessThanOrEqual(now)
          expect(found.end).toBeGreaterThan(now)
          expect(found.end - found.start).toBeLessThanOrEqual(period === 'day' ? 25 * HOUR_MS : 31 * DAY_MS + HOUR_MS)
          expect(periodBounds(period, zone(name), found.end).start).toBe(found.end)
          expect(periodBounds(period, zone(name), instant(found.start - 1)).end).toBe(found.start)
        },
      ),
      { seed: 51, numRuns: 600 },
    )
  })
})
