import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import { restoreTiming, storeTiming } from '../../../src/domain/time/parse-timing.ts'
import { occurrencesBetween, type Timing } from '../../../src/domain/time/timing.ts'
import { timingOf } from '../../support/schedules.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

const inputs: readonly Record<string, unknown>[] = [
  { at: '2026-03-29T00:30:00Z' },
  { at: '2026-03-29T00:30:00Z', timezone: 'Asia/Kolkata', starts_at: '2026-01-02T00:00:00Z' },
  { every_seconds: 7 },
  { everyMs: 1500, anchor: '2025-12-31T23:59:59.250Z' },
  { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
  { cron: '15 0 13 * +FRI', timezone: 'America/New_York', dst: 'shift' },
  { cron: '*/20 * * * * *', day_match: 'and', dst: 'both', ends_at: '2026-02-01T00:00:00Z' },
  { cron: '@hourly', exclude: ['2026-01-06', { from: '2026-01-08T00:00:00Z', to: '2026-01-09T12:00:00Z' }] },
  { rrule: 'FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=0;BYSECOND=0', timezone: 'Europe/Paris' },
  { rrule: 'DTSTART;TZID=America/Chicago:20260102T090000\nRRULE:FREQ=DAILY;COUNT=20' },
]

const occurrences = (timing: Timing): readonly number[] =>
  occurrencesBetween(timing, { after: instant(now), upTo: instant(now + 120 * 86_400_000), limit: 50 })

describe('a stored timing', () => {
  it.each(inputs.map((input) => [JSON.stringify(input), input] as const))('%s comes back as it was', (_, input) => {
    const timing = timingOf(input)
    const stored: unknown = JSON.parse(JSON.stringify(storeTiming(timing)))
    const restored = restoreTiming(stored as Record<string, unknown>)
    expect(storeTiming(restored)).toEqual(storeTiming(timing))
    expect(occurrences(restored)).toEqual(occurrences(timing))
    expect(restored.zone.name).toBe(timing.zone.name)
  })

  it('comes back whatever the interval and the anchor', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 1e10 }), fc.integer({ min: 0, max: 4e12 }), (everyMs, anchor) => {
        const timing = timingOf({ everyMs, anchor: new Date(anchor).toISOString() })
        expect(restoreTiming(storeTiming(timing))).toEqual(timing)
      }),
      { seed: 8, numRuns: 200 },
    )
  })

  it('that was damaged is refused loudly', () => {
    expect(() => restoreTiming({ cron: '61 * * * *', timezone: 'UTC' })).toThrow('Cannot parse a stored timing')
    expect(() => restoreTiming({})).toThrow('Cannot parse a stored timing')
  })
})
