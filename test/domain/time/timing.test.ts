import { describe, expect, it } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import {
  countOccurrences,
  nextOccurrence,
  occurrencesBetween,
  previousOccurrence,
  type Timing,
} from '../../../src/domain/time/timing.ts'
import { at, NOW, show, timing } from './world.ts'
import { cpuMs } from '../../support/cpu-time.ts'

const after = (plan: Timing, from: string): string => show(nextOccurrence(plan, at(from)))
const before = (plan: Timing, until: string): string => show(previousOccurrence(plan, at(until)))

describe('a moment', () => {
  const once = timing({ at: '2026-02-01T09:00:00Z' })

  it('occurs once', () => {
    expect(after(once, '2026-01-15T00:00:00Z')).toBe('2026-02-01T09:00:00.000Z')
    expect(after(once, '2026-02-01T09:00:00Z')).toBe('none')
    expect(before(once, '2026-02-01T09:00:00Z')).toBe('none')
    expect(before(once, '2026-03-01T00:00:00Z')).toBe('2026-02-01T09:00:00.000Z')
    expect(countOccurrences(once, { after: NOW, upTo: at('2026-02-01T08:59:59.999Z') })).toBe(0)
  })

  it('does not occur if it is excluded', () => {
    const { exclude } = timing({ cron: '* * * * *', exclude: ['2026-02-01'] })
    expect(after({ ...once, exclude }, '2026-01-15T00:00:00Z')).toBe('none')
  })
})

describe('a moment between its limits', () => {
  const edge = timing({
    at: '2026-02-01T09:00:00Z',
    starts_at: '2026-02-01T09:00:00Z',
    ends_at: '2026-02-01T09:00:01Z',
  })

  it('is found from both sides and counted, also at the very edge', () => {
    expect(after(edge, '2026-01-15T00:00:00Z')).toBe('2026-02-01T09:00:00.000Z')
    expect(before(edge, '2026-03-01T00:00:00Z')).toBe('2026-02-01T09:00:00.000Z')
    const upTo = at('2026-02-01T09:00:00Z')
    expect(countOccurrences(edge, { after: NOW, upTo })).toBe(1)
    expect(countOccurrences(edge, { after: upTo, upTo: at('2026-03-01T00:00:00Z') })).toBe(0)
    expect(countOccurrences(edge, { after: NOW, upTo: instant(upTo - 1) })).toBe(0)
  })
})

describe('the limits of a schedule', () => {
  const limited = timing({ cron: '0 9 * * *', starts_at: '2026-02-01T09:00:00Z', ends_at: '2026-02-03T09:00:00Z' })

  it('are both inside', () => {
    const found = occurrencesBetween(limited, { after: NOW, upTo: at('2027-01-01T00:00:00Z'), limit: 10 })
    expect(found.map(show)).toEqual([
      '2026-02-01T09:00:00.000Z',
      '2026-02-02T09:00:00.000Z',
      '2026-02-03T09:00:00.000Z',
    ])
    expect(countOccurrences(limited, { after: NOW, upTo: at('2027-01-01T00:00:00Z') })).toBe(3)
  })

  it('hold backwards too', () => {
    expect(before(limited, '2027-01-01T00:00:00Z')).toBe('2026-02-03T09:00:00.000Z')
    expect(before(limited, '2026-02-01T09:00:00Z')).toBe('none')
  })

  it('let nothing through where there is nothing between them', () => {
    expect(after(timing({ cron: '0 9 1 1 *', ends_at: '2026-06-01T00:00:00Z' }), '2026-01-15T00:00:00Z')).toBe('none')
  })
})

describe('excluded dates', () => {
  it('are dates on the wall of the schedule', () => {
    const plan = timing({ cron: '0 7 * * *', timezone: 'Asia/Shanghai', exclude: ['2026-01-16', '2026-01-17'] })
    expect(after(plan, '2026-01-15T00:00:00Z')).toBe('2026-01-17T23:00:00.000Z')
    expect(before(plan, '2026-01-17T23:00:00Z')).toBe('2026-01-14T23:00:00.000Z')
  })

  it('leave out both parts of a date that is cut in two', () => {
    const plan = timing({
      cron: '*/30 * * * *',
      timezone: 'America/St_Johns',
      dst: 'both',
      exclude: ['2006-10-29'],
    })
    const window = { after: at('2006-10-29T01:59:00Z'), upTo: at('2006-10-30T04:00:00Z') }
    const found = occurrencesBetween(plan, { ...window, limit: 99 })
    expect(found.map(show)).toEqual([
      '2006-10-29T02:00:00.000Z',
      '2006-10-29T03:00:00.000Z',
      '2006-10-30T03:30:00.000Z',
      '2006-10-30T04:00:00.000Z',
    ])
    expect(countOccurrences(plan, window)).toBe(4)
  })

  it('judge a fire after a gap by the day on which it really is', () => {
    const plan = timing({ cron: '30 2 * * *', timezone: 'Europe/Berlin', exclude: ['2026-03-29'] })
    expect(after(plan, '2026-03-28T12:00:00Z')).toBe('2026-03-30T00:30:00.000Z')
  })
})

describe('excluded windows', () => {
  const maintenance = { from: '2026-02-01T00:00:00Z', to: '2026-02-02T00:00:00Z' }
  const plan = timing({ cron: '* * * * * *', exclude: [maintenance] })

  it('begin with their first moment and end before their last', () => {
    expect(after(plan, '2026-01-31T23:59:59Z')).toBe('2026-02-02T00:00:00.000Z')
    expect(before(plan, '2026-02-02T00:00:00Z')).toBe('2026-01-31T23:59:59.000Z')
  })

  it('are subtracted when occurrences are counted', () => {
    const window = { after: at('2026-01-31T00:00:00Z'), upTo: at('2026-02-03T00:00:00Z') }
    expect(countOccurrences(plan, window)).toBe(2 * 86_400)
  })

  it('and dates that overlap are subtracted once', () => {
    const both = timing({ every_seconds: 60, anchor: '2026-01-31T00:00:00Z', exclude: [maintenance, '2026-02-01'] })
    const window = { after: at('2026-01-31T00:00:00Z'), upTo: at('2026-02-03T00:00:00Z') }
    expect(countOccurrences(both, window)).toBe(2 * 1440)
  })

  it('of centuries are jumped over', () => {
    const long = { from: '1970-01-01T00:00:00Z', to: '2150-01-01T00:00:00Z' }
    for (const kind of [{ cron: '* * * * * *' }, { every_seconds: 1 }, { rrule: 'FREQ=SECONDLY' }]) {
      const begin = cpuMs()
      expect(after(timing({ ...kind, exclude: [long] }), '2026-01-15T00:00:00Z')).toBe('2150-01-01T00:00:00.000Z')
      expect(cpuMs() - begin).toBeLessThan(500)
    }
  })

  it('that swallow everything end with nothing', () => {
    const all = { from: '1970-01-01T00:00:00Z', to: '9999-12-31T23:59:59Z' }
    const eachDay = Array.from({ length: 1000 }, (_, day) =>
      new Date(NOW + day * 86_400_000).toISOString().slice(0, 10),
    )
    expect(after(timing({ cron: '* * * * * *', exclude: [all] }), '2026-01-15T00:00:00Z')).toBe('none')
    expect(after(timing({ cron: '* * * * * *', exclude: eachDay }), '2026-01-15T00:00:00Z')).toBe(
      '2028-10-11T00:00:00.000Z',
    )
    const swallowed = timing({ cron: '0 9 * * *', exclude: eachDay, ends_at: '2028-10-01T00:00:00Z' })
    expect(after(swallowed, '2026-01-15T00:00:00Z')).toBe('none')
    expect(before(swallowed, '2026-01-15T00:00:00Z')).toBe('2026-01-14T09:00:00.000Z')
    expect(countOccurrences(swallowed, { after: NOW, upTo: at('2028-10-01T00:00:00Z') })).toBe(0)
  })
})

describe('occurrences in a window', () => {
  const plan = timing({ cron: '0 * * * *' })

  it('come after its beginning and up to its end', () => {
    const window = { after: at('2026-01-15T01:00:00Z'), upTo: at('2026-01-15T03:00:00Z') }
    expect(occurrencesBetween(plan, { ...window, limit: 9 }).map(show)).toEqual([
      '2026-01-15T02:00:00.000Z',
      '2026-01-15T03:00:00.000Z',
    ])
    expect(countOccurrences(plan, window)).toBe(2)
  })

  it('stop at the limit', () => {
    expect(occurrencesBetween(plan, { after: NOW, upTo: instant(8.64e15), limit: 3 })).toHaveLength(3)
    expect(occurrencesBetween(plan, { after: NOW, upTo: instant(8.64e15), limit: 0 })).toEqual([])
  })

  it('are counted without walking: three years of seconds', () => {
    const seconds = timing({ cron: '* * * * * *', timezone: 'Europe/Berlin', exclude: ['2024-02-29'] })
    const window = { after: at('2023-01-01T00:00:00Z'), upTo: at('2026-01-01T00:00:00Z') }
    expect(countOccurrences(seconds, window)).toBe((365 + 366 + 365 - 1) * 86_400)
  })

  it('end where no year has four digits', () => {
    expect(after(timing({ every_seconds: 86_400 * 365 * 100 }), '9999-01-01T00:00:00Z')).toBe('none')
  })
})

describe('a change of the zone', () => {
  it('moves the next occurrence at once', () => {
    expect(after(timing({ cron: '0 7 * * *', timezone: 'Asia/Shanghai' }), '2026-01-15T00:00:00Z')).toBe(
      '2026-01-15T23:00:00.000Z',
    )
    expect(after(timing({ cron: '0 7 * * *', timezone: 'UTC' }), '2026-01-15T00:00:00Z')).toBe(
      '2026-01-15T07:00:00.000Z',
    )
  })
})

describe('every 5000 ms anchored at 1000', () => {
  const plan = timing({ everyMs: 5000, anchor: '1970-01-01T00:00:01Z' })

  it.each([
    [6500, 11_000],
    [6000, 11_000],
    [22_000, 26_000],
  ])('now %i: next %i', (now, next) => {
    expect(nextOccurrence(plan, instant(now))).toBe(next)
  })
})
