import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isInsideWindow, parseDailyWindow, windowEnd, type DailyWindow } from '../../../src/domain/time/daily-window.ts'
import { describeFlaw } from '../../../src/domain/input.ts'
import { HOUR_MS, formatInstant, instant, type Instant } from '../../../src/domain/instant.ts'

const utc = (text: string): Instant => instant(Date.parse(text))

function aWindow(start: string, end: string, timezone = 'UTC'): DailyWindow {
  const result = parseDailyWindow('hours', { start, end, timezone })
  if (!result.ok) throw new Error(result.flaws.map(describeFlaw).join('; '))
  return result.value
}

describe('a window of the day', () => {
  it.each([
    ['22:00', '06:00', '23:30', true],
    ['22:00', '06:00', '05:59', true],
    ['22:00', '06:00', '06:00', false],
    ['22:00', '06:00', '21:59', false],
    ['22:00', '06:00', '22:00', true],
    ['09:00', '17:00', '09:00', true],
    ['09:00', '17:00', '16:59', true],
    ['09:00', '17:00', '17:00', false],
    ['09:00', '17:00', '08:59', false],
    ['18:00', '24:00', '23:59', true],
    ['18:00', '24:00', '00:00', false],
    ['18:00', '00:00', '23:59', true],
    ['18:00', '00:00', '00:00', false],
    ['00:00', '24:00', '00:00', true],
    ['00:00', '24:00', '23:59', true],
  ])('%s-%s at %s: inside is %s', (...[start, end, time, expected]) => {
    expect(isInsideWindow(aWindow(start, end), utc(`2026-01-15T${time}:00Z`))).toBe(expected)
  })

  it('counts the last millisecond before its end as inside', () => {
    expect(isInsideWindow(aWindow('22:00', '06:00'), utc('2026-01-15T05:59:59.999Z'))).toBe(true)
  })

  it('goes by the wall clock of its zone, in summer and in winter', () => {
    const office = aWindow('09:00', '17:00', 'Europe/Berlin')
    expect(isInsideWindow(office, utc('2026-01-15T08:00:00Z'))).toBe(true)
    expect(isInsideWindow(office, utc('2026-01-15T07:59:00Z'))).toBe(false)
    expect(isInsideWindow(office, utc('2026-07-15T07:00:00Z'))).toBe(true)
    expect(isInsideWindow(office, utc('2026-07-15T15:00:00Z'))).toBe(false)
  })
})

describe('the end of a window', () => {
  it.each([
    ['the same day', aWindow('09:00', '17:00'), '2026-01-15T09:00:00Z', '2026-01-15T17:00:00.000Z'],
    ['after midnight', aWindow('22:00', '06:00'), '2026-01-15T23:30:00Z', '2026-01-16T06:00:00.000Z'],
    ['the same morning', aWindow('22:00', '06:00'), '2026-01-16T05:59:59Z', '2026-01-16T06:00:00.000Z'],
    ['at midnight', aWindow('18:00', '24:00'), '2026-01-15T20:00:00Z', '2026-01-16T00:00:00.000Z'],
    ['next midnight for the whole day', aWindow('00:00', '24:00'), '2026-01-15T00:00:00Z', '2026-01-16T00:00:00.000Z'],
    ['now if it is not open', aWindow('09:00', '17:00'), '2026-01-15T18:00:00Z', '2026-01-15T18:00:00.000Z'],
    // The night of the spring change is an hour shorter, the night of the autumn change an hour longer.
    [
      'in a short night',
      aWindow('22:00', '06:00', 'Europe/Berlin'),
      '2026-03-28T22:00:00Z',
      '2026-03-29T04:00:00.000Z',
    ],
    ['in a long night', aWindow('22:00', '06:00', 'Europe/Berlin'), '2026-10-24T21:00:00Z', '2026-10-25T05:00:00.000Z'],
    // 02:30 is never shown: the clock jumps from 02:00 to 03:00 and out of the window.
    ['inside a gap', aWindow('22:00', '02:30', 'Europe/Berlin'), '2026-03-28T23:00:00Z', '2026-03-29T01:00:00.000Z'],
    [
      'the first of two',
      aWindow('22:00', '02:30', 'Europe/Berlin'),
      '2026-10-24T22:00:00Z',
      '2026-10-25T00:30:00.000Z',
    ],
    [
      'the second of two',
      aWindow('22:00', '02:30', 'Europe/Berlin'),
      '2026-10-25T01:10:00Z',
      '2026-10-25T01:30:00.000Z',
    ],
    [
      'over New Year',
      aWindow('22:00', '06:00', 'America/New_York'),
      '2027-01-01T03:30:00Z',
      '2027-01-01T11:00:00.000Z',
    ],
    [
      'a midnight that was jumped',
      aWindow('00:00', '24:00', 'America/Sao_Paulo'),
      '2018-11-03T12:00:00Z',
      '2018-11-04T03:00:00.000Z',
    ],
  ] as const)('is %s', (...[, window, at, expected]) => {
    expect(formatInstant(windowEnd(window, utc(at)))).toBe(expected)
  })

  it('is outside while everything up to it is inside, in any zone', () => {
    const time = fc.integer({ min: 0, max: 1439 }).map((m) => {
      return `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`
    })
    const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Kolkata']
    const around = fc.constantFrom('2026-03-29', '2026-10-25', '2026-03-08', '2026-11-01', '2018-11-04', '2018-02-18')
    fc.assert(
      fc.property(
        fc.record({ start: time, end: time, zone: fc.constantFrom(...zones) }),
        around,
        fc.integer({ min: -36, max: 36 }),
        ({ start, end: last, zone }, day, hours) => {
          fc.pre(start !== last)
          const window = aWindow(start, last, zone)
          const at = instant(utc(`${day}T00:00:00Z`) + hours * HOUR_MS)
          const end = windowEnd(window, at)
          expect(isInsideWindow(window, end)).toBe(false)
          expect(end - at).toBeLessThanOrEqual(26 * HOUR_MS)
          for (let t: number = at; t < end; t += 600_000) expect(isInsideWindow(window, instant(t))).toBe(true)
          if (end > at) expect(isInsideWindow(window, instant(end - 1))).toBe(true)
        },
      ),
      { seed: 7, numRuns: 400 },
    )
  })
})

describe('what is not a window of the day', () => {
  it.each([
    [{ start: '09:00', end: '09:00', timezone: 'UTC' }, 'hours', 'must start and end at different times'],
    [{ start: '24:00', end: '06:00', timezone: 'UTC' }, 'hours.start', 'is not a time of day'],
    [{ start: '09:00', end: '24:01', timezone: 'UTC' }, 'hours.end', 'is not a time of day'],
    [{ start: '9:00', end: '17:00', timezone: 'UTC' }, 'hours.start', 'must be a time of day'],
    [{ start: '09:60', end: '17:00', timezone: 'UTC' }, 'hours.start', 'is not a time of day'],
    [{ start: '09:00', end: 17, timezone: 'UTC' }, 'hours.end', 'must be a time of day'],
    [{ start: '09:00', timezone: 'UTC' }, 'hours.end', 'is missing'],
    [{ start: '09:00', end: '17:00' }, 'hours.timezone', 'is missing'],
    [{ start: '09:00', end: '17:00', timezone: 'Mars/Base' }, 'hours.timezone', 'is not a known time zone'],
    [{ start: '09:00', end: '17:00', timezone: 'UTC', days: 5 }, 'hours.days', 'is not a known field'],
    ['09:00-17:00', 'hours', 'must be an object'],
    [null, 'hours', 'must be an object'],
  ])('%j is refused', (value, field, message) => {
    expect(parseDailyWindow('hours', value)).toMatchObject({ ok: false, flaws: [{ field, message }] })
  })

  it('says everything that is wrong at once', () => {
    const result = parseDailyWindow('hours', { start: 'x', end: 'y', timezone: 'z' })
    expect(result).toMatchObject({ ok: false, flaws: { length: 3 } })
  })
})
