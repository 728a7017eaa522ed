import { afterEach, describe, expect, it, vi } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import { parseZone, segmentAt, UTC } from '../../../src/domain/time/zone.ts'
import {
  endOfLocalDay,
  formatInZone,
  formatOffset,
  offsetAt,
  spansOfLocalDay,
  startOfLocalDay,
  transitionsBetween,
} from '../../../src/domain/time/wall-clock.ts'
import { dayFromText } from '../../../src/domain/time/calendar.ts'
import { cpuMs } from '../../support/cpu-time.ts'
import { at, show, zone } from './world.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const changes = (name: string, after: string, upTo: string): readonly string[] =>
  transitionsBetween(zone(name), { after: at(after), upTo: at(upTo) }).map(
    (segment) => `${show(segment.start * 1000)} ${formatOffset(segment.offsetBefore)} ${formatOffset(segment.offset)}`,
  )

describe('the name of a zone', () => {
  it.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['ASIA/KOLKATA', 'Asia/Kolkata'],
    ['asia/calcutta', 'Asia/Calcutta'],
    ['europe/kyiv', 'Europe/Kyiv'],
    ['us/pacific', 'US/Pacific'],
    ['america/port-au-prince', 'America/Port-au-Prince'],
    ['europe/isle_of_man', 'Europe/Isle_of_Man'],
    ['africa/dar_es_salaam', 'Africa/Dar_es_Salaam'],
    ['antarctica/dumontdurville', 'Antarctica/DumontDUrville'],
    ['australia/nsw', 'Australia/NSW'],
    ['etc/gmt+5', 'Etc/GMT+5'],
    ['etc/utc', 'Etc/UTC'],
    ['utc', 'UTC'],
    ['est5edt', 'EST5EDT'],
    ['nz-chat', 'NZ-CHAT'],
    ['w-su', 'W-SU'],
  ])('%s is kept as %s', (given, kept) => {
    expect(zone(given).name).toBe(kept)
  })

  it.each([
    'Mars/Base',
    'Mars/Olympus',
    '',
    ' ',
    '+05:30',
    'GMT+5',
    'UTC+1',
    'BST',
    'PST',
    'SystemV/PST8',
    'Europe/',
    5,
  ])('%s is refused, with an example of what is allowed', (given) => {
    const answer = parseZone('tz', given)
    expect(answer).toMatchObject({
      ok: false,
      flaws: [
        { field: 'tz', value: given, allowed: 'an IANA time zone such as Europe/Berlin, America/New_York or UTC' },
      ],
    })
  })

  it('is refused in no time when it is longer than any name', () => {
    const given = '\ud800'.repeat(1_000_000)
    const before = cpuMs()
    expect(parseZone('tz', given)).toMatchObject({ ok: false })
    expect(cpuMs() - before).toBeLessThan(50)
  })

  it('means one and the same zone each time', () => {
    expect(zone('europe/berlin')).toBe(zone('Europe/Berlin'))
  })
})

describe('the changes of the clock', () => {
  it.each([
    ['Europe/Berlin', '2026', ['2026-03-29T01:00:00.000Z +01:00 +02:00', '2026-10-25T01:00:00.000Z +02:00 +01:00']],
    ['Pacific/Apia', '2011-12', ['2011-12-30T10:00:00.000Z -10:00 +14:00']],
    ['America/Caracas', '2016', ['2016-05-01T07:00:00.000Z -04:30 -04:00']],
    [
      'Australia/Lord_Howe',
      '2025',
      ['2025-04-05T15:00:00.000Z +11:00 +10:30', '2025-10-04T15:30:00.000Z +10:30 +11:00'],
    ],
    ['Africa/Monrovia', '1972', ['1972-01-07T00:44:30.000Z -00:44:30 +00:00']],
    ['Asia/Kolkata', '2026', []],
    ['UTC', '2026', []],
  ])('%s in %s', (name, year, wanted) => {
    const from = year.length === 4 ? `${year}-01-01T00:00:00Z` : `${year}-01T00:00:00Z`
    expect(changes(name, from, `${year.slice(0, 4)}-12-31T23:00:00Z`)).toEqual(wanted)
  })

  it('sees a stretch of seven days', () => {
    expect(changes('America/Recife', '2000-10-01T00:00:00Z', '2001-01-01T00:00:00Z')).toHaveLength(2)
  })

  it('belongs to the stretch that begins with it, also at New Year in UTC', () => {
    expect(changes('Africa/Juba', '2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z')).toEqual([
      '2021-01-31T21:00:00.000Z +03:00 +02:00',
    ])
    const gap = segmentAt(zone('Pacific/Kiritimati'), Date.parse('1995-01-01T00:00:00Z') / 1000)
    expect(gap.offset).toBe(14 * 3600)
  })

  it('remembers what was shown, even if the year has ended since', () => {
    const berlin = segmentAt(zone('Europe/Berlin'), at('2026-11-01T00:00:00Z') / 1000)
    const shown = [Date.UTC(2026, 9, 25, 2), Date.UTC(2026, 9, 25, 3)].map((wall) => wall / 1000)
    expect(berlin.repeated).toEqual(shown)
    expect(segmentAt(zone('Europe/Berlin'), at('2027-01-01T00:00:00Z') / 1000).repeated).toEqual([])
  })

  it('is looked up once a year and zone, and never for UTC', () => {
    // A zone that no other test has asked about: what was looked up is remembered by the whole process.
    const asia = zone('Asia/Pyongyang')
    offsetAt(asia, at('2026-05-01T00:00:00Z'))
    const asked = vi.spyOn(Intl.DateTimeFormat.prototype as { readonly format: unknown }, 'format', 'get')
    for (let day = 1; day < 300; day += 1) offsetAt(asia, instant(Date.UTC(2026, 0, day)))
    for (let year = 1970; year < 2200; year += 1) offsetAt(UTC, instant(Date.UTC(year, 5, 1)))
    expect(asked).not.toHaveBeenCalled()
    offsetAt(asia, at('2027-05-01T00:00:00Z'))
    expect(asked).toHaveBeenCalled()
  })

  it('takes a bounded number of questions for all years there are: from 2090 on years are like others', () => {
    const fresh = zone('America/Asuncion')
    const asked = vi.spyOn(Intl.DateTimeFormat.prototype as { readonly format: unknown }, 'format', 'get')
    for (let year = 2026; year < 2200; year += 1) offsetAt(fresh, instant(Date.UTC(year, 5, 1)))
    expect(asked.mock.calls.length).toBeLessThan(8_000)
  })

  it('has an answer for every instant there is', () => {
    const berlin = zone('Europe/Berlin')
    expect(offsetAt(berlin, instant(-8.64e15))).toBe(offsetAt(berlin, at('1900-01-01T00:00:00Z')))
    expect(offsetAt(berlin, instant(8.64e15))).toBe(3600)
    expect(offsetAt(berlin, at('2026-07-01T00:00:00Z'))).toBe(7200)
  })

  it('agrees with Intl in every zone', () => {
    const wrong: string[] = []
    Intl.supportedValuesOf('timeZone').forEach((name, index) => {
      const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short', timeStyle: 'medium' })
      const year = 1970 + ((index * 37) % 180)
      for (let step = 0; step < 60; step += 1) {
        const moment = instant(Date.UTC(year, 0, 1) + step * 525_949_000)
        const wanted = clock.format(moment).replace(/:00$/, '')
        if (formatInZone(zone(name), moment) !== wanted) wrong.push(`${name} ${show(moment)} ${wanted}`)
      }
    })
    expect(wrong).toEqual([])
  })
})

describe('a date on the wall', () => {
  const spans = (name: string, date: string): readonly string[] =>
    spansOfLocalDay(zone(name), dayFromText(date) ?? 0).map(({ from, to }) => `${show(from)} ${show(to)}`)

  it('is one stretch of 24 hours on most days', () => {
    expect(spans('Europe/Berlin', '2026-06-01')).toEqual(['2026-05-31T22:00:00.000Z 2026-06-01T22:00:00.000Z'])
  })

  it('comes in two parts where the clock goes back over midnight', () => {
    expect(spans('America/St_Johns', '2006-10-29')).toEqual([
      '2006-10-29T02:30:00.000Z 2006-10-29T02:31:00.000Z',
      '2006-10-29T03:30:00.000Z 2006-10-30T03:30:00.000Z',
    ])
  })

  it('may not exist', () => {
    expect(spans('Pacific/Apia', '2011-12-30')).toEqual([])
  })

  it('has a beginning and an end around an instant', () => {
    const noon = at('2026-03-29T10:00:00Z')
    expect(show(startOfLocalDay(zone('Europe/Berlin'), noon))).toBe('2026-03-29T01:00:00.000Z')
    expect(show(endOfLocalDay(zone('Europe/Berlin'), noon))).toBe('2026-03-29T22:00:00.000Z')
  })
})
