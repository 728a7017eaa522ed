import { describe, expect, it } from 'vitest'
import { parseTiming } from '../../../src/domain/time/parse-timing.ts'
import { parseJitter } from '../../../src/domain/time/jitter.ts'
import { shortestInterval } from '../../../src/domain/time/shortest-interval.ts'
import { at, flawsOf, NOW, timing, zone } from './world.ts'

describe('the fields of a schedule', () => {
  it.each([
    [{ at: '2026-02-01T09:00:00Z' }, { kind: 'at', at: at('2026-02-01T09:00:00Z') }],
    [{ run_at: '2026-02-01T10:00:00+01:00' }, { kind: 'at', at: at('2026-02-01T09:00:00Z') }],
    [{ atMs: at('2026-02-01T09:00:00Z') }, { kind: 'at', at: at('2026-02-01T09:00:00Z') }],
    [{ kind: 'once', at: '2026-02-01T09:00:00Z' }, { kind: 'at' }],
    [{ every_seconds: 1800 }, { kind: 'every', intervalMs: 1_800_000, anchor: NOW }],
    [
      { interval_seconds: 5, anchor: '2020-01-01T00:00:00Z' },
      { kind: 'every', anchor: at('2020-01-01T00:00:00Z') },
    ],
    [{ everyMs: 1500 }, { kind: 'every', intervalMs: 1500 }],
    [
      { schedule_type: 'INTERVAL', interval_seconds: 5, cron_expr: null },
      { kind: 'every', intervalMs: 5000 },
    ],
    [{ cron: '0 9 * * *' }, { kind: 'cron', dst: 'vixie', dayMatch: 'or', zone: zone('UTC') }],
    [{ cron_expr: '*/5 * * * * *' }, { kind: 'cron' }],
    [
      { kind: 'cron', expr: '0 9 * * *', tz: 'asia/tokyo' },
      { kind: 'cron', zone: zone('Asia/Tokyo') },
    ],
    [
      { cron: '0 9 * * *', dst: 'SHIFT', day_match: 'and' },
      { kind: 'cron', dst: 'shift', dayMatch: 'and' },
    ],
    [
      { rrule: 'FREQ=DAILY', timezone: 'Europe/Berlin' },
      { kind: 'rrule', zone: zone('Europe/Berlin') },
    ],
    [
      { rrule: 'DTSTART;TZID=Europe/Berlin:20260301T090000\nRRULE:FREQ=DAILY' },
      { kind: 'rrule', zone: zone('Europe/Berlin') },
    ],
  ])('%j are understood', (input, wanted) => {
    expect(timing(input)).toMatchObject(wanted)
  })

  it('start a rule at its anchor, else at starts_at, else now', () => {
    const start = (more: object): unknown => timing({ rrule: 'FREQ=DAILY', ...more })
    expect(start({ anchor: '2020-01-01T00:00:00Z', starts_at: '2027-01-01T00:00:00Z' })).toMatchObject({
      rule: { start: at('2020-01-01T00:00:00Z') },
    })
    expect(start({ starts_at: '2027-01-01T00:00:00Z' })).toMatchObject({ rule: { start: at('2027-01-01T00:00:00Z') } })
    expect(start({})).toMatchObject({ rule: { start: NOW } })
  })

  it('take the zone of the org where they name none', () => {
    const answer = parseTiming({ cron: '0 9 * * *' }, { now: NOW, defaultZone: zone('Asia/Tokyo') })
    expect(answer).toMatchObject({ ok: true, value: { zone: { name: 'Asia/Tokyo' } } })
  })
})

describe('fields that are refused', () => {
  it.each<readonly [Readonly<Record<string, unknown>>, readonly string[]]>([
    [{ cron: '61 * * * *' }, ['cron: minute 61 is above 59']],
    [{ cron_expr: '* * * *' }, ['cron_expr: has 4 fields']],
    [{ cron: '0 9 * * *', timezone: 'Mars/Base' }, ['timezone: is not a known time zone']],
    [{ cron: '0 9 * * *', tz: 'Mars/Base' }, ['tz: is not a known time zone']],
    [{ cron: '0 9 * * *', tz: 'berlin' }, ['tz: is not a known time zone; did you mean Europe/Berlin?']],
    [{ cron: '0 9 * * *', tz: 'Europe/Berln' }, ['tz: is not a known time zone; did you mean Europe/Berlin?']],
    [{ cron: '0 9 * * *', tz: 'New York' }, ['tz: is not a known time zone; did you mean America/New_York?']],
    [{ every_seconds: 0 }, ['every_seconds: is out of range']],
    [{ interval_seconds: -5 }, ['interval_seconds: is out of range']],
    [{ every_seconds: 1.5 }, ['every_seconds: must be a whole number']],
    [{ everyMs: 999 }, ['everyMs: is out of range']],
    [{ every_seconds: '60' }, ['every_seconds: must be a whole number']],
    [{ at: '2026-01-14T00:00:00Z' }, ['at: is in the past']],
    [{ run_at: '2026-01-15T00:00:00Z' }, ['run_at: is in the past']],
    [{ atMs: 1000 }, ['atMs: is in the past']],
    [{ at: '2026-02-01T09:00:00' }, ['at: is not an RFC 3339 time']],
    [
      { at: '2026-02-01T09:00:00Z', ends_at: '2026-02-01T08:59:59Z' },
      ['at: never occurs: starts_at, ends_at or exclude rules it out'],
    ],
    [
      { run_at: '2026-02-01T09:00:00Z', exclude: ['2026-02-01'] },
      ['run_at: never occurs: starts_at, ends_at or exclude rules it out'],
    ],
    [{ rrule: 'FREQ=FOO' }, ['rrule: FREQ=FOO is not valid']],
    [{}, ['cron: is missing']],
    [{ kind: 'interval' }, ['every_seconds: is missing']],
    [{ kind: 'sometimes', cron: '* * * * *' }, ['kind: is not a known value']],
    [{ kind: 'sometimes' }, ['kind: is not a known value']],
    [{ kind: 'interval', cron: '* * * * *' }, ['kind: contradicts cron']],
    [{ schedule_type: 'once', expr: '* * * * *' }, ['schedule_type: contradicts expr']],
    [{ kind: 'cron', schedule_type: 'cron', cron: '* * * * *' }, ['schedule_type: cannot be combined with kind']],
    [{ cron: '* * * * *', expr: '* * * * *' }, ['expr: cannot be combined with cron']],
    [{ every_seconds: 5, everyMs: 5000 }, ['everyMs: cannot be combined with every_seconds']],
    [{ at: '2026-02-01T09:00:00Z', atMs: 1 }, ['atMs: cannot be combined with at']],
    [{ cron: '* * * * *', timezone: 'UTC', tz: 'UTC' }, ['tz: cannot be combined with timezone']],
    [{ cron: '* * * * *', every_seconds: 5 }, ['cron: cannot be combined with every_seconds']],
    [{ cron: '* * * * *', anchor: '2026-01-01T00:00:00Z' }, ['anchor: applies only to every_seconds and rrule']],
    [{ every_seconds: 5, anchor: 'noon' }, ['anchor: is not an RFC 3339 time']],
    [{ cron: '* * * * *', dst: 'never' }, ['dst: is not a known value']],
    [{ cron: '* * * * *', day_match: 'xor' }, ['day_match: is not a known value']],
    [
      { cron: '* * * * *', starts_at: '2026-02-01T00:00:00Z', ends_at: '2026-02-01T00:00:00Z' },
      ['ends_at: must be after starts_at'],
    ],
    [{ cron: '* * * * *', exclude: [null] }, ['exclude.0: must be a date or a window']],
    [
      { cron: '* * * * *', exclude: [{ from: '2026-01-02T00:00:00Z', to: '2026-01-02T00:00:00Z' }] },
      ['exclude.0.to: must be after from'],
    ],
    [{ cron: '* * * * *', exclude: '2026-01-01' }, ['exclude: must be a list of dates and windows']],
    [
      { cron: '* * * * *', exclude: ['2026-02-30', 5, { from: 'x', to: '2026-01-01T00:00:00Z' }] },
      ['exclude.0: is not a date', 'exclude.1: must be a date or a window', 'exclude.2.from: is not an RFC 3339 time'],
    ],
    [
      { cron: '* * * * *', exclude: [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }] },
      ['exclude.0.to: must be after from'],
    ],
    [
      { cron: '* 25 * * *', tz: 'Mars/Base', dst: 'x', starts_at: 'soon' },
      [
        'tz: is not a known time zone',
        'dst: is not a known value',
        'starts_at: is not an RFC 3339 time',
        'cron: hour 25 is above 23',
      ],
    ],
  ])('%j', (input, flaws) => {
    expect(flawsOf(input).toSorted()).toEqual(flaws.toSorted())
  })
})

describe('the shortest interval', () => {
  it.each([
    [{ at: '2026-02-01T09:00:00Z' }, null],
    [{ every_seconds: 90 }, 90_000],
    [{ cron: '* * * * * *', tz: 'Europe/Berlin' }, 1000],
    [{ cron: '*/5 * * * *' }, 300_000],
    [{ cron: '*/7 * * * *' }, 240_000],
    [{ cron: '0 0 * * *' }, 86_400_000],
    [{ cron: '0 0 * * MON,TUE' }, 86_400_000],
    [{ cron: '0 0 1 * *' }, 28 * 86_400_000],
    [{ cron: '0 0 29 2 *' }, 1461 * 86_400_000],
    [{ cron: '0 0 30 2 *' }, null],
    [{ cron: '0 0 0 1 1 * 2030' }, null],
    [{ cron: '59 23,0 * * *' }, 3_600_000],
    [{ cron: '30 2 * * *', tz: 'Europe/Berlin' }, 23.5 * 3_600_000],
    [{ cron: '30 2 * * *', tz: 'Europe/Berlin', dst: 'skip' }, 86_400_000],
    [{ cron: '0 12 * * *', tz: 'Europe/Berlin' }, 23 * 3_600_000],
    [{ cron: '5 2,3 * * *', tz: 'Europe/Berlin' }, 300_000],
    [{ cron: '0,50 1 * * *', tz: 'America/New_York', dst: 'both' }, 600_000],
    [{ rrule: 'FREQ=MINUTELY;INTERVAL=5' }, 300_000],
    [{ rrule: 'FREQ=DAILY;COUNT=1' }, null],
  ])('of %j is %s ms', (input, wanted) => {
    expect(shortestInterval(timing(input))).toBe(wanted)
  })

  it('is what jitter must stay below', () => {
    const fiveMinutes = timing({ cron: '*/5 * * * *' })
    expect(parseJitter('jitter_ms', 0, fiveMinutes)).toEqual({ ok: true, value: 0 })
    expect(parseJitter('jitter_ms', 299_999, fiveMinutes)).toEqual({ ok: true, value: 299_999 })
    expect(parseJitter('jitter_ms', 300_000, fiveMinutes)).toMatchObject({
      ok: false,
      flaws: [{ field: 'jitter_ms', allowed: '0 to 299999' }],
    })
    expect(parseJitter('jitter_ms', -1, fiveMinutes).ok).toBe(false)
    expect(parseJitter('jitter_ms', 0.5, fiveMinutes).ok).toBe(false)
    expect(parseJitter('jitter_ms', 60_000, timing({ at: '2026-02-01T09:00:00Z' })).ok).toBe(true)
    expect(parseJitter('jitter_ms', 1e15, timing({ at: '2026-02-01T09:00:00Z' })).ok).toBe(false)
  })
})
