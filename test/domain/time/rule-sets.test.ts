import { describe, expect, it } from 'vitest'
import { instant, type Instant } from '../../../src/domain/instant.ts'
import { parseRule, type RecurrenceRule } from '../../../src/domain/time/rrule.ts'
import { parseTiming } from '../../../src/domain/time/parse-timing.ts'
import { countOccurrences, nextOccurrence, previousOccurrence } from '../../../src/domain/time/timing.ts'
import { drawRule } from '../../fuzz/parsers/rule-grammar.ts'
import { createRandom, type Random } from '../../simulation/random.ts'
import { at, right, show, zone } from './world.ts'
import { namedDays } from './rule-oracle.ts'

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Pacific/Apia']
const START = at('2026-01-15T01:30:00Z')
const WALKED = 12

/** As many rules as asked for that are accepted, each with a zone. */
function* acceptedRules(seed: number, count: number): Generator<{ rule: RecurrenceRule; random: Random }> {
  for (let [found, round] = [0, 0]; found < count; round += 1) {
    const random = createRandom(seed * 100_000 + round)
    const read = parseRule('rrule', drawRule(random).replace(/^DTSTART.*\n/, ''), {
      zone: zone(random.one(ZONES)),
      defaultZone: zone('UTC'),
      start: START,
    })
    if (!read.ok) continue
    found += 1
    yield { rule: read.value, random }
  }
}

function walk({ set }: RecurrenceRule, from: Instant, count: number): readonly Instant[] {
  const found: Instant[] = []
  for (let next = set.next(from); next !== null && found.length < count; next = set.next(next)) found.push(next)
  return found
}

describe('the occurrences of any rule', () => {
  it('are the same set from whatever instant they are asked for', () => {
    for (const { rule, random } of acceptedRules(1, 250)) {
      const from = random.chance(0.5) ? instant(START - 1) : instant(START + random.int(0, 3e8) * 1000)
      const walked = walk(rule, from, WALKED)
      const last = walked.at(-1)
      if (last === undefined) continue
      const told = { rule: rule.text, zone: rule.zone.name }
      for (let round = 0; round < 5; round += 1) {
        const asked = instant(from + Math.floor(random.next() * (last - from)))
        const wanted = { next: walked.find((one) => one > asked), previous: walked.findLast((one) => one < asked) }
        const before = rule.set.previous(asked)
        expect({ ...told, next: rule.set.next(asked) }).toEqual({ ...told, next: wanted.next })
        if (wanted.previous !== undefined) expect({ ...told, before }).toEqual({ ...told, before: wanted.previous })
        const later = walked.filter((one) => one > asked).length
        expect({ ...told, later: rule.set.count(asked, instant(last + 1)) }).toEqual({ ...told, later })
      }
      // A second reading of the same rule has no memory of these questions.
      const fresh = right(parseRule('rrule', rule.text, { zone: rule.zone, defaultZone: rule.zone, start: rule.start }))
      expect({ ...told, next: fresh.set.next(instant(last - 1)) }).toEqual({ ...told, next: last })
    }
  })

  it('are on the days that RFC 5545 names, read day by day', () => {
    for (const { rule } of acceptedRules(2, 200)) {
      const { other, count } = rule.parts
      if (other.has('BYSETPOS') || other.has('UNTIL') || count !== null) continue
      if (['HOURLY', 'MINUTELY', 'SECONDLY'].includes(rule.parts.frequency)) continue
      const plain = right(
        parseRule('rrule', rule.text, { zone: zone('UTC'), defaultZone: zone('UTC'), start: rule.start }),
      )
      const end = Date.UTC(2029, 0, 1)
      const found = new Set<string>()
      for (let next = plain.set.next(instant(START - 1)); next !== null && next < end; next = plain.set.next(next))
        found.add(show(next).slice(0, 10))
      // The start is at half past one: on its day a list may name hours that are over.
      const today = show(START).slice(0, 10)
      const wanted = namedDays(plain.parts, START, end).filter((day) => day !== today)
      expect({ rule: rule.text, days: [...found].filter((day) => day !== today) }).toEqual({
        rule: rule.text,
        days: wanted,
      })
    }
  })

  it.each([
    [
      'FREQ=YEARLY;BYHOUR=5;BYMINUTE=0;BYSECOND=0;BYWEEKNO=1',
      ['2027-01-07T05:00', '2028-01-06T05:00', '2029-01-04T05:00'],
    ],
    [
      'FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO',
      ['2027-01-04T01:30', '2028-01-03T01:30', '2029-01-01T01:30', '2029-12-31T01:30'],
    ],
    ['FREQ=YEARLY;INTERVAL=2;BYWEEKNO=1;BYDAY=MO', ['2028-01-03T01:30', '2029-12-31T01:30', '2031-12-29T01:30']],
    ['FREQ=YEARLY;BYWEEKNO=-1;BYDAY=SU', ['2027-01-03T01:30', '2028-01-02T01:30', '2028-12-31T01:30']],
    ['FREQ=YEARLY;BYDAY=20MO', ['2026-05-18T01:30', '2027-05-17T01:30', '2028-05-15T01:30']],
    ['FREQ=YEARLY;BYDAY=20MO;BYMONTHDAY=18', ['2026-05-18T01:30', '2037-05-18T01:30']],
    ['FREQ=YEARLY;BYYEARDAY=100;BYDAY=FR', ['2026-04-10T01:30', '2032-04-09T01:30']],
    ['FREQ=HOURLY;BYYEARDAY=-1;BYHOUR=0', ['2026-12-31T00:30', '2027-12-31T00:30']],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU', ['2026-01-25T01:30', '2026-01-27T01:30', '2026-02-08T01:30']],
  ])('%s', (text, wanted) => {
    const rule = right(parseRule('rrule', text, { zone: zone('UTC'), defaultZone: zone('UTC'), start: START }))
    expect(walk(rule, START, wanted.length).map((one) => show(one).slice(0, 16))).toEqual(wanted)
    for (const one of walk(rule, START, wanted.length)) expect(rule.set.next(instant(one - 1))).toBe(one)
  })

  it('are counted as they come at the end of the calendar', () => {
    const excluded = [{ from: '1970-01-01T00:00:00Z', to: '2199-12-31T00:00:00Z' }]
    const fields = { rrule: 'FREQ=SECONDLY;BYSECOND=1;BYMONTHDAY=31;BYSETPOS=1', exclude: excluded }
    const timing = right(parseTiming(fields, { now: START, defaultZone: zone('UTC') }))
    const first = nextOccurrence(timing, START)
    expect(show(first)).toBe('2199-12-31T00:00:01.000Z')
    expect(countOccurrences(timing, { after: START, upTo: first ?? START })).toBe(1)
    expect(previousOccurrence(timing, instant((first ?? START) + 1))).toBe(first)
  })
})

describe('a rule with COUNT that names no start', () => {
  const NOW = instant(START + 500)
  const timing = (fields: Readonly<Record<string, unknown>>) =>
    right(parseTiming(fields, { now: NOW, defaultZone: zone('UTC') }))
  const occurrences = (fields: Readonly<Record<string, unknown>>): readonly string[] => {
    const found: string[] = []
    for (let next = nextOccurrence(timing(fields), NOW); next !== null; next = nextOccurrence(timing(fields), next))
      found.push(show(next).slice(0, 19))
    return found
  }

  it.each([
    ['FREQ=DAILY;COUNT=1', ['2026-01-16T01:30:00']],
    ['FREQ=DAILY;COUNT=3', ['2026-01-16T01:30:00', '2026-01-17T01:30:00', '2026-01-18T01:30:00']],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=WE;COUNT=2', ['2026-01-28T01:30:00', '2026-02-11T01:30:00']],
    [
      'FREQ=MONTHLY;BYMONTHDAY=15;BYHOUR=9;BYMINUTE=0;BYSECOND=0;COUNT=2',
      ['2026-01-15T09:00:00', '2026-02-15T09:00:00'],
    ],
    ['FREQ=SECONDLY;COUNT=2', ['2026-01-15T01:30:01', '2026-01-15T01:30:02']],
  ])('%s has all its occurrences after it was created', (rrule, wanted) => {
    expect(occurrences({ rrule })).toEqual(wanted)
  })

  it('counts from its start where it names one, also what is over', () => {
    expect(occurrences({ rrule: 'DTSTART:20260114T013000Z\nFREQ=DAILY;COUNT=3' })).toEqual(['2026-01-16T01:30:00'])
    expect(occurrences({ rrule: 'FREQ=DAILY;COUNT=1', starts_at: '2026-02-01T00:00:00Z' })).toEqual([
      '2026-02-01T00:00:00',
    ])
  })

  it('has for any rule as many occurrences as it counts, if there are so many', () => {
    for (const { rule } of acceptedRules(3, 200)) {
      const { count, other } = rule.parts
      if (count === null || count > 100 || other.has('BYMONTH') || other.has('BYSETPOS')) continue
      const fields = { rrule: rule.text, timezone: rule.zone.name }
      const endless = right(
        parseTiming({ ...fields, rrule: rule.text.replace(/;COUNT=\d+/, '') }, { now: NOW, defaultZone: rule.zone }),
      )
      const wanted: Instant[] = []
      for (
        let next = nextOccurrence(endless, NOW);
        next !== null && wanted.length < count;
        next = nextOccurrence(endless, next)
      )
        wanted.push(next)
      const counted = right(parseTiming(fields, { now: NOW, defaultZone: rule.zone }))
      const found = {
        rule: rule.text,
        last: previousOccurrence(counted, instant(7.2e12)),
        count: countOccurrences(counted, { after: NOW, upTo: instant(7.2e12) }),
      }
      expect(found).toEqual({ rule: rule.text, last: wanted.at(-1) ?? null, count: wanted.length })
    }
  })
})
