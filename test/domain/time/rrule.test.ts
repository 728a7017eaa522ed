import { describe, expect, it } from 'vitest'
import { instant, type Instant } from '../../../src/domain/instant.ts'
import {
  countByRule,
  nextByRule,
  parseRule,
  previousByRule,
  type RecurrenceRule,
} from '../../../src/domain/time/rrule.ts'
import { at, right, show, zone } from './world.ts'

const START = at('2026-01-15T01:30:00Z')

const context = (zoneName: string | null = 'Europe/Berlin') => ({
  zone: zoneName === null ? null : zone(zoneName),
  defaultZone: zone('UTC'),
  start: START,
})

const rule = (text: string, zoneName?: string | null): RecurrenceRule =>
  right(parseRule('rrule', text, context(zoneName)))

function upcoming(plan: RecurrenceRule, from: string, count: number): readonly string[] {
  const found: string[] = []
  let moment: Instant | null = at(from)
  while (found.length < count) {
    moment = nextByRule(plan, moment)
    found.push(show(moment))
    if (moment === null) break
  }
  return found
}

describe('a recurrence rule', () => {
  it.each([
    ['FREQ=DAILY', ['2026-01-15T01:30:00.000Z', '2026-01-16T01:30:00.000Z']],
    ['RRULE:FREQ=DAILY;INTERVAL=2', ['2026-01-15T01:30:00.000Z', '2026-01-17T01:30:00.000Z']],
    ['freq=weekly;byday=mo,we;byhour=9;byminute=0', ['2026-01-19T08:00:00.000Z', '2026-01-21T08:00:00.000Z']],
    ['FREQ=MONTHLY;BYDAY=2TU;BYHOUR=9;BYMINUTE=0', ['2026-02-10T08:00:00.000Z', '2026-03-10T08:00:00.000Z']],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', ['2026-01-30T01:30:00.000Z', '2026-02-27T01:30:00.000Z']],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', ['2028-02-29T01:30:00.000Z', '2032-02-29T01:30:00.000Z']],
    ['FREQ=DAILY;COUNT=1', ['2026-01-15T01:30:00.000Z', 'none']],
    ['FREQ=DAILY;UNTIL=20260116T013000Z', ['2026-01-15T01:30:00.000Z', '2026-01-16T01:30:00.000Z', 'none']],
    ['FREQ=SECONDLY;INTERVAL=90', ['2026-01-15T01:30:00.000Z', '2026-01-15T01:31:30.000Z']],
  ])('%s', (text, wanted) => {
    expect(upcoming(rule(text), '2026-01-01T00:00:00Z', wanted.length)).toEqual(wanted)
  })

  it('takes DTSTART and its zone from the text', () => {
    const plan = rule('DTSTART;TZID=America/New_York:20260301T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO', null)
    expect(plan.zone.name).toBe('America/New_York')
    expect(upcoming(plan, '2026-03-01T00:00:00Z', 2)).toEqual(['2026-03-02T14:00:00.000Z', '2026-03-09T13:00:00.000Z'])
  })

  it('reads a DTSTART without a zone on the wall of the schedule, and one with Z as UTC', () => {
    expect(show(rule('DTSTART:20260301T090000\nFREQ=DAILY').start)).toBe('2026-03-01T08:00:00.000Z')
    expect(show(rule('DTSTART:20260301T090000Z\r\nRRULE:FREQ=DAILY').start)).toBe('2026-03-01T09:00:00.000Z')
    expect(show(rule('DTSTART;VALUE=DATE:20260301\nRRULE:FREQ=DAILY').start)).toBe('2026-02-28T23:00:00.000Z')
  })

  it('leaves out times in a gap and does not shift the ones behind it', () => {
    expect(upcoming(rule('FREQ=DAILY'), '2026-03-27T12:00:00Z', 2)).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
  })

  it('fires on the first pass of a repeat', () => {
    expect(upcoming(rule('FREQ=DAILY'), '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
  })

  it('counts elapsed minutes through both passes', () => {
    expect(upcoming(rule('FREQ=MINUTELY;INTERVAL=30'), '2026-10-25T00:00:00Z', 4)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ])
  })

  it('is undone by previous', () => {
    for (const text of ['FREQ=DAILY', 'FREQ=HOURLY', 'FREQ=MONTHLY;BYMONTHDAY=-1', 'FREQ=WEEKLY;BYDAY=MO;COUNT=20']) {
      const plan = rule(text)
      const [first = null, second = null] = [nextByRule(plan, at('2026-03-20T00:00:00Z'))].flatMap((found) =>
        found === null ? [] : [found, nextByRule(plan, found)],
      )
      expect([text, second === null ? null : previousByRule(plan, second)]).toEqual([text, first])
    }
    expect(previousByRule(rule('FREQ=DAILY'), START)).toBeNull()
  })

  it.each(['FREQ=DAILY', 'FREQ=MINUTELY;INTERVAL=7', 'FREQ=SECONDLY;INTERVAL=50', 'FREQ=HOURLY', 'FREQ=DAILY;COUNT=9'])(
    '%s is counted as it is walked, also over a change of the clock',
    (text) => {
      const plan = rule(text)
      const [after, before] = [at('2026-01-20T00:00:00Z'), at('2026-03-30T00:00:00Z')]
      let fires = 0
      for (let found = nextByRule(plan, after); found !== null && found < before; found = nextByRule(plan, found))
        fires += 1
      expect(countByRule(plan, after, before)).toBe(fires)
    },
  )

  it.each([
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=SECONDLY;INTERVAL=60;BYSECOND=30',
    'FREQ=HOURLY;BYHOUR=9;BYSETPOS=2',
    'FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30;COUNT=3',
  ])('%s never matches, and that is found out', (text) => {
    expect(nextByRule(rule(text), START)).toBeNull()
    expect(previousByRule(rule(text), at('2090-01-01T00:00:00Z'))).toBeNull()
  })

  it.each([
    'FREQ=DAILY;INTERVAL=7;BYHOUR=21,18,19,9,21,6,0,2,6,7,17,19;BYSETPOS=-271',
    'FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=8,-9',
    'FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=3',
    'FREQ=MINUTELY;BYSECOND=1,1;BYSETPOS=2;COUNT=5',
  ])('%s asks for more than a period can hold, which takes no search', (text) => {
    const begin = process.cpuUsage().user
    expect(nextByRule(rule(text), START)).toBeNull()
    expect(previousByRule(rule(text), at('2090-01-01T00:00:00Z'))).toBeNull()
    expect(process.cpuUsage().user - begin).toBeLessThan(500_000)
  })

  it.each([
    ['FREQ=DAILY;BYHOUR=6,9;BYMINUTE=0,30;BYSETPOS=4', '2026-01-01T09:30:00.000Z'],
    ['FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=-2,9', '2026-01-01T01:00:00.000Z'],
  ])('%s asks for what a period just holds', (text, first) => {
    const start = at('2026-01-01T00:30:00Z')
    const plan = right(parseRule('rrule', text, { zone: zone('UTC'), defaultZone: zone('UTC'), start }))
    expect(nextByRule(plan, start)).toBe(at(first))
  })

  it.each([
    'FREQ=SECONDLY;BYHOUR=3;COUNT=10000',
    'FREQ=YEARLY;COUNT=999;BYHOUR=15,12;BYDAY=53SU,53WE,-5TH;BYMONTHDAY=31;BYYEARDAY=-179,1,366,-99,188,179,46,-2,294',
  ])('%s is counted without asking for one after the other', (text) => {
    const begin = process.cpuUsage().user
    rule(text)
    expect(process.cpuUsage().user - begin).toBeLessThan(5_000_000)
  })

  it('ends with the year 2199', () => {
    expect(nextByRule(rule('FREQ=DAILY'), at('2200-01-01T00:00:00Z'))).toBeNull()
  })

  it('asked before it starts answers with its start', () => {
    expect(nextByRule(rule('FREQ=DAILY'), instant(0))).toBe(START)
  })
})

describe('a recurrence rule that is refused', () => {
  it.each([
    ['FREQ=FOO', 'FREQ=FOO is not valid', 0],
    ['FREQ=DAILY;FOO=1', 'FOO is not a known part', 11],
    ['FREQ=DAILY;INTERVAL=0', 'INTERVAL=0 is not valid', 11],
    ['FREQ=YEARLY;INTERVAL=231', 'has an INTERVAL longer than the supported range of years', 0],
    ['FREQ=MONTHLY;INTERVAL=100000', 'has an INTERVAL longer than the supported range of years', 0],
    ['DTSTART:22000101T000000Z\nFREQ=DAILY', 'starts after 2199', 0],
    ['DTSTART:00010101T000000Z\nFREQ=DAILY', 'starts before the year 100', 0],
    ['FREQ=DAILY;INTERVAL=1.5', 'INTERVAL=1.5 is not valid', 11],
    ['FREQ=DAILY;COUNT=0', 'COUNT=0 is not valid', 11],
    ['FREQ=DAILY;COUNT=1000000000', 'COUNT=1000000000 is not valid', 11],
    ['FREQ=DAILY;BYHOUR=25', 'BYHOUR=25 is not valid', 11],
    ['FREQ=DAILY;BYHOUR=9,x', 'BYHOUR=9,X is not valid', 11],
    ['RRULE:FREQ=DAILY;BYHOUR=25', 'BYHOUR=25 is not valid', 17],
    ['FREQ=DAILY;BYMINUTE=60', 'BYMINUTE=60 is not valid', 11],
    ['FREQ=DAILY;BYSECOND=60', 'BYSECOND=60 is not valid', 11],
    ['FREQ=MONTHLY;BYMONTHDAY=0', 'BYMONTHDAY=0 is not valid', 13],
    ['FREQ=MONTHLY;BYMONTHDAY=32', 'BYMONTHDAY=32 is not valid', 13],
    ['FREQ=YEARLY;BYMONTH=13', 'BYMONTH=13 is not valid', 12],
    ['FREQ=WEEKLY;BYDAY=XX', 'BYDAY=XX is not valid', 12],
    ['FREQ=DAILY;UNTIL=foo', 'UNTIL=FOO is not valid', 11],
    ['FREQ=DAILY;BYHOUR=9;BYHOUR=10', 'BYHOUR is given twice', 20],
    ['FREQ=DAILY;', 'has an empty part', 11],
    ['FREQ', 'FREQ is not a part of a rule', 0],
    ['BYDAY=MO', 'is missing FREQ', 0],
    ['', 'has no RRULE line', 0],
    ['FREQ=DAILY;COUNT=2;UNTIL=20260117', 'has both COUNT and UNTIL', 0],
    ['FREQ=WEEKLY;BYDAY=2MO', 'has a numbered BYDAY, which requires a monthly or yearly rule without BYWEEKNO', 0],
    ['FREQ=WEEKLY;BYMONTHDAY=1', 'has BYMONTHDAY in a weekly rule', 0],
    ['FREQ=DAILY;BYWEEKNO=2', 'has BYWEEKNO in a rule that is not yearly', 0],
    ['FREQ=DAILY;BYYEARDAY=2', 'has BYYEARDAY in a daily, weekly or monthly rule', 0],
    ['FREQ=DAILY;BYSETPOS=1', 'has BYSETPOS without another BY part', 0],
    ['RRULE:FREQ=DAILY\nEXDATE:20260116T013000Z', 'has more than one RRULE line', 17],
    ['DTSTART:20260230T090000Z\nRRULE:FREQ=DAILY', 'DTSTART:20260230T090000Z is a time that does not exist', 0],
    ['DTSTART:tomorrow\nRRULE:FREQ=DAILY', 'DTSTART:tomorrow is not understood', 0],
    ['DTSTART;TZID=Mars/Base:20260301T090000\nRRULE:FREQ=DAILY', 'TZID Mars/Base is not a known time zone', 0],
    [
      'DTSTART;TZID=Asia/Tokyo:20260301T090000\nRRULE:FREQ=DAILY',
      'has TZID Asia/Tokyo, but timezone is Europe/Berlin',
      0,
    ],
  ])('%j: %s', (text, message, position) => {
    const answer = parseRule('rrule', text, context())
    expect(answer).toMatchObject({ ok: false, flaws: [{ field: 'rrule', value: text, message, position }] })
  })

  it('is not a text', () => {
    expect(parseRule('rrule', 7, context()).ok).toBe(false)
  })

  it('has an UNTIL that does not exist', () => {
    expect(parseRule('rrule', 'FREQ=DAILY;UNTIL=20260230T000000Z', context()).ok).toBe(false)
  })
})
