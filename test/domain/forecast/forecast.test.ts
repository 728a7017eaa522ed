import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  daysBetween,
  expectedUsage,
  estimateUsage,
  heartbeatRuns,
  observedRuns,
  scheduledRuns,
  splitDaysBetween,
} from '../../../src/domain/forecast/runs-per-day.ts'
import { DAY_MS, HOUR_MS, instant, later } from '../../../src/domain/instant.ts'
import { occurrencesBetween } from '../../../src/domain/time/timing.ts'
import { parseZone, UTC, type Zone } from '../../../src/domain/time/zone.ts'
import { NOW } from '../../support/builders.ts'
import { timingOf } from '../../support/schedules.ts'

function zone(name: string): Zone {
  const read = parseZone('timezone', name)
  if (!read.ok) throw new Error(`${name} is unknown`)
  return read.value
}

const week = { from: NOW, to: later(NOW, 7 * DAY_MS) }
const total = (runs: readonly number[]): number => runs.reduce((sum, one) => sum + one, 0)

describe('the days of a forecast', () => {
  it('are those of the calendar, the first and the last in part', () => {
    const days = daysBetween(UTC, { from: NOW, to: later(NOW, 2 * DAY_MS) })
    expect(days.map(({ date }) => date)).toEqual(['2026-01-15', '2026-01-16', '2026-01-17'])
    expect(days.map(({ from, to }) => (to - from) / HOUR_MS)).toEqual([12, 24, 12])
  })

  it('are as long as the clock makes them', () => {
    const from = instant(Date.parse('2026-03-28T00:00:00Z'))
    const days = daysBetween(zone('Europe/Berlin'), { from, to: later(from, 3 * DAY_MS) })
    expect(days.map(({ date, from: a, to: b }) => [date, (b - a) / HOUR_MS])).toEqual([
      ['2026-03-28', 23],
      ['2026-03-29', 23],
      ['2026-03-30', 24],
      ['2026-03-31', 2],
    ])
  })
})

describe('the stretches of a forecast', () => {
  it('are the days, cut where a day of another zone begins', () => {
    const window = { from: NOW, to: later(NOW, DAY_MS) }
    const cut = splitDaysBetween(UTC, [zone('Asia/Tokyo'), UTC], window)
    expect(cut.map(({ date, from, to }) => [date, (to - from) / HOUR_MS])).toEqual([
      ['2026-01-15', 3],
      ['2026-01-15', 9],
      ['2026-01-16', 12],
    ])
    expect(splitDaysBetween(UTC, [UTC], window)).toEqual(daysBetween(UTC, window))
  })
})

describe('the runs of a schedule', () => {
  const plan = (cron: string, over: Partial<Parameters<typeof scheduledRuns>[0]> = {}) => ({
    ...{ timing: timingOf({ cron, timezone: 'Europe/Berlin' }), maxFires: null, fires: 0, watermark: NOW },
    ...over,
  })

  it('are its occurrences, neither more nor less, however the window is cut into days', () => {
    const crons = fc.constantFrom('0 * * * *', '*/7 3-5 * * MON', '30 2 * * *', '*/5 * * * * *', '0 0 1 * *')
    fc.assert(
      fc.property(crons, fc.nat(400 * 24), fc.integer({ min: 1, max: 40 }), (cron, hours, days) => {
        const from = later(NOW, hours * HOUR_MS)
        const window = { from, to: later(from, days * DAY_MS) }
        const { timing, ...rest } = plan(cron, { watermark: from })
        const counted = total(scheduledRuns({ timing, ...rest }, daysBetween(zone('Asia/Tokyo'), window)))
        const walked = occurrencesBetween(timing, {
          ...{ after: instant(from - 1), upTo: instant(window.to - 1), limit: 1_000_000 },
        })
        expect(counted).toBe(walked.length)
      }),
      { numRuns: 40, seed: 9 },
    )
  })

  it('end with what it may still make, and begin after what is decided', () => {
    const days = daysBetween(UTC, week)
    expect(scheduledRuns(plan('0 * * * *', { maxFires: 30, fires: 10 }), days)).toEqual([12, 8, 0, 0, 0, 0, 0, 0])
    const later2 = plan('0 * * * *', { watermark: later(NOW, 36 * HOUR_MS) })
    expect(scheduledRuns(later2, days).slice(0, 3)).toEqual([0, 0, 24])
  })

  it('every second are counted, not walked through', () => {
    expect(
      total(scheduledRuns(plan('* * * * * *'), daysBetween(UTC, { from: NOW, to: later(NOW, 92 * DAY_MS) }))),
    ).toBe(92 * 86_400)
  })
})

describe('what comes without a schedule', () => {
  const days = daysBetween(UTC, week)

  it('is a heartbeat at its pace, inside its hours', () => {
    const always = { intervalSeconds: 1_800, adaptive: null, activeHours: null }
    expect(heartbeatRuns(always, 0, days).slice(0, 2)).toEqual([24, 48])
    const office = { ...always, activeHours: { start: 9 * 3_600, end: 17 * 3_600, timezone: UTC } }
    expect(heartbeatRuns(office, 0, days).slice(0, 2)).toEqual([10, 16])
    const calm = { ...always, adaptive: { okStep: 1, maxIntervalSeconds: 7_200 } }
    expect(heartbeatRuns(calm, 9, days)[1]).toBe(12)
  })

  it('goes on at the pace it had', () => {
    expect(observedRuns(10, days).slice(0, 2)).toEqual([5, 10])
  })
})

describe('what a run is expected to use', () => {
  it('is the mean of the last ones, and at most their p95', () => {
    expect(expectedUsage([])).toBeNull()
    expect(expectedUsage([10, 20, 30])).toEqual({ expected: 20, high: 30 })
    expect(expectedUsage(Array.from({ length: 20 }, (_, n) => n))).toEqual({ expected: 9.5, high: 18 })
  })

  it('comes from the best source there is', () => {
    const none = { ofSchedule: [], ofAgent: [], stated: null, defaultReserve: null }
    expect(estimateUsage({ ...none, ofSchedule: [1], ofAgent: [2] }).source).toBe('schedule')
    expect(estimateUsage({ ...none, ofAgent: [2], stated: 3 })).toEqual({
      use: { expected: 2, high: 2 },
      source: 'agent',
    })
    expect(estimateUsage({ ...none, stated: 3, defaultReserve: 4 }).source).toBe('stated')
    expect(estimateUsage({ ...none, defaultReserve: 4 }).source).toBe('default_reserve')
    expect(estimateUsage({ ...none, defaultReserve: 0 })).toEqual({ use: null, source: 'unknown' })
  })
})
