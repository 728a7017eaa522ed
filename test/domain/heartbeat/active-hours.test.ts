import { describe, expect, it } from 'vitest'
import { outsideActiveHours, parseActiveHours } from '../../../src/domain/heartbeat/heartbeat-config.ts'
import { instant } from '../../../src/domain/instant.ts'
import { explainWhy } from '../../../src/domain/reasons.ts'
import { UTC } from '../../../src/domain/time/zone.ts'
import { expectExplained } from '../../support/why.ts'

const at = (time: string) => instant(Date.parse(`2026-01-15T${time}Z`))

describe('active hours of 22:00-06:00', () => {
  const hours = parseActiveHours('active_hours', { start: '22:00', end: '06:00', timezone: 'UTC' })
  if (!hours.ok) throw new Error('the window is valid')

  it.each(['23:30:00', '05:59:00', '22:00:00'])('let an agent be woken at %s', (time) => {
    expect(outsideActiveHours(hours.value, at(time))).toBeNull()
  })

  it.each(['06:00:00', '21:59:00'])('leave it alone at %s and say why', (time) => {
    const why = outsideActiveHours(hours.value, at(time))
    expect(why).toMatchObject({ reason: 'outside_active_hours' })
    if (why !== null) expectExplained(why)
  })

  it('show the time that the clock on the wall shows', () => {
    const why = outsideActiveHours(hours.value, at('21:59:58'))
    expect(why === null ? '' : explainWhy(why)).toBe('It is 21:59 in UTC, outside the active hours 22:00-06:00.')
  })
})

describe('active hours without a zone', () => {
  it('take the one of the org', () => {
    expect(parseActiveHours('active_hours', { start: '09:00', end: '17:00' }, UTC)).toMatchObject({
      ok: true,
      value: { timezone: { name: 'UTC' } },
    })
  })
})

describe('no active hours', () => {
  it('mean always', () => {
    expect(outsideActiveHours(null, at('03:00:00'))).toBeNull()
  })
})
