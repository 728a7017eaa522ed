import { afterEach, describe, expect, it } from 'vitest'
import { installWallClock, setWallClock, trueNow } from './wall-clock.ts'

const MINUTE_MS = 60_000
const scope = { Date }
installWallClock(scope)
afterEach(() => setWallClock(0))

describe('a wall clock that is set wrong', () => {
  it('is wrong for everybody who asks for the present, and right again when it is set back', () => {
    for (const off of [5 * MINUTE_MS, -20 * MINUTE_MS, 0]) {
      setWallClock(off)
      const before = trueNow() + off
      for (const now of [scope.Date.now(), new scope.Date().getTime(), Date.parse(scope.Date())]) {
        // As a text it has no milliseconds.
        expect(now).toBeGreaterThan(before - 1_001)
        expect(now).toBeLessThan(before + MINUTE_MS)
      }
    }
  })

  it('leaves every other time alone', () => {
    setWallClock(MINUTE_MS)
    const moment = new scope.Date('2026-03-29T01:30:00Z')
    expect(moment.toISOString()).toBe('2026-03-29T01:30:00.000Z')
    expect(new scope.Date(2026, 0, 1).getTime()).toBe(new Date(2026, 0, 1).getTime())
    expect(scope.Date.UTC(2026, 0, 1)).toBe(Date.UTC(2026, 0, 1))
    expect(moment).toBeInstanceOf(Date)
    expect(new Date(0)).toBeInstanceOf(scope.Date)
    expect(Date.now()).toBeLessThanOrEqual(trueNow())
  })
})
