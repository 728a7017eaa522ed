import { describe, expect, it } from 'vitest'
import { formatInstant, instant } from '../../../src/core/instant.ts'
import { parseQuietHours, quietUntil } from '../../../src/core/delivery/quiet-hours.ts'

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
