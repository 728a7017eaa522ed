import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatInstant, instant } from '../../../src/domain/instant.ts'
import { parseQuietHours, quietUntil, storedQuietUntil } from '../../../src/domain/delivery/quiet-hours.ts'

const at = (text: string) => instant(Date.parse(text))

describe('quiet hours', () => {
  const night = parseQuietHours('quiet_hours', { start: '22:00', end: '07:00', timezone: 'Europe/Berlin' })
  if (!night.ok) throw new Error('the window is valid')

  it('last until their end on the wall clock', () => {
    const until = quietUntil(night.value, at('2026-01-15T22:30:00Z'))
    expect(until === null ? '' : formatInstant(until)).toBe('2026-01-16T06:00:00.000Z')
  })

  it('are over at their end', () => {
    expect(quietUntil(night.value, at('2026-01-16T06:00:00Z'))).toBeNull()
  })

  it('of the whole day give one digest at midnight', () => {
    const always = parseQuietHours('quiet_hours', { start: '00:00', end: '24:00', timezone: 'UTC' })
    const until = always.ok ? quietUntil(always.value, at('2026-01-15T12:00:00Z')) : null
    expect(until === null ? '' : formatInstant(until)).toBe('2026-01-16T00:00:00.000Z')
  })

  it('that are not set never hold anything back', () => {
    expect(quietUntil(null, at('2026-01-15T23:00:00Z'))).toBeNull()
  })
})

const two = (number: number): string => String(number).padStart(2, '0')
const clock = (minute: number): string => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`

describe('quiet hours of every kind', () => {
  const window = fc
    .record({
      start: fc.integer({ min: 0, max: 1439 }),
      end: fc.integer({ min: 0, max: 1440 }),
      timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'),
    })
    .filter(({ start, end }) => start !== end)
  const moment = fc.integer({ min: Date.parse('2026-01-01T00:00:00Z'), max: Date.parse('2027-01-01T00:00:00Z') })

  it('are quiet up to their end and not at it, whichever way they are kept', () => {
    fc.assert(
      fc.property(window, moment, ({ start, end, timezone }, ms) => {
        const given = { start: clock(start), end: clock(end), timezone }
        const read = parseQuietHours('quiet_hours', given)
        if (!read.ok) throw new Error(JSON.stringify(read.flaws))
        const until = quietUntil(read.value, instant(ms))
        expect(storedQuietUntil(given, instant(ms))).toBe(until)
        if (until === null) return
        expect(until).toBeGreaterThan(ms)
        // A day, and an hour for a clock that is put back meanwhile.
        expect(until - ms).toBeLessThanOrEqual(25 * 3_600_000)
        expect(quietUntil(read.value, instant(until - 1))).not.toBeNull()
        const isWholeDay = start === 0 && end === 1440
        expect(quietUntil(read.value, until) === null).toBe(!isWholeDay)
      }),
    )
  })

  it.each([
    [{ start: '22:00', end: '22:00', timezone: 'UTC' }, 'quiet_hours'],
    [{ start: '24:00', end: '06:00', timezone: 'UTC' }, 'quiet_hours.start'],
    [{ start: '22:00', end: '06:00' }, 'quiet_hours.timezone'],
    [{ start: '22:00', end: '06:00', timezone: 'Mars/Base' }, 'quiet_hours.timezone'],
  ])('%j are refused at %s', (given, field) => {
    const read = parseQuietHours('quiet_hours', given)
    expect(read.ok ? null : read.flaws[0]?.field).toBe(field)
  })
})
