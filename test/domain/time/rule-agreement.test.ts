import fc from 'fast-check'
import { RRuleTemporal } from 'rrule-temporal'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it } from 'vitest'
import { instant, type Instant } from '../../../src/domain/instant.ts'
import { countByRule, nextByRule, parseRule, previousByRule } from '../../../src/domain/time/rrule.ts'
import { instantOfLocal, localTimeAt } from '../../../src/domain/time/wall-clock.ts'
import { at, show, zone } from './world.ts'

/** The library as it comes, asked one question after the other. Undefined: it has given up, and does not know. */
interface Plain {
  readonly next: (after: Instant) => Instant | null | undefined
  readonly previous: (before: Instant) => Instant | null | undefined
}

function plainly(text: string, zoneName: string, start: Instant): Plain {
  const zoned = (moment: number) => Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(zoneName)
  const until = text.includes('COUNT') ? {} : { until: zoned(Date.UTC(2200, 0, 1) - 1) }
  const engine = new RRuleTemporal({ rruleString: text, dtstart: zoned(start), maxIterations: 10_000, ...until })
  const ask = (question: () => { readonly epochMilliseconds: number } | null): Instant | null | undefined => {
    try {
      const found = question()
      return found === null ? null : instant(found.epochMilliseconds)
    } catch {
      return undefined
    }
  }
  return {
    next: (after) => ask(() => engine.next(new Date(after), false)),
    previous: (before) => (before <= start ? null : ask(() => engine.previous(new Date(before), false))),
  }
}

const list = (min: number, max: number): fc.Arbitrary<string> =>
  fc
    .oneof(
      fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }),
      fc.constant(Array.from({ length: max - min + 1 }, (_, index) => min + index)),
      fc.constant(Array.from({ length: Math.ceil((max - min + 1) / 5) }, (_, index) => min + index * 5)),
    )
    .map((items) => items.join(','))

const weekdays = fc
  .uniqueArray(fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'), { minLength: 1, maxLength: 5 })
  .map((days) => days.join(','))

const part = (name: string, values: fc.Arbitrary<string>, freq: number): fc.Arbitrary<string> =>
  fc.option(values, { freq, nil: '' }).map((value) => (value === '' ? '' : `;${name}=${value}`))

const rules = fc
  .tuple(
    fc.constantFrom('YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'MINUTELY', 'SECONDLY'),
    part('INTERVAL', fc.integer({ min: 1, max: 4 }).map(String), 1),
    part('COUNT', fc.integer({ min: 1, max: 60 }).map(String), 1),
    part('BYMONTH', list(1, 12), 1),
    part('BYMONTHDAY', fc.oneof(list(1, 31), fc.constant('-1'), fc.constant('29,-2')), 1),
    part('BYDAY', weekdays, 1),
    part('BYHOUR', list(0, 23), 3),
    part('BYMINUTE', list(0, 59), 3),
    part('BYSECOND', list(0, 59), 1),
    part('BYSETPOS', fc.constantFrom('1', '-1', '2,-2'), 1),
  )
  .map(([frequency, ...parts]) => `FREQ=${frequency}${parts.join('')}`)

const places = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata')
/** Not the second pass of an hour that is shown twice: there the library takes a start for an occurrence of its own. */
const starts = fc
  .integer({ min: Date.UTC(2025, 0, 1) / 1000, max: Date.UTC(2026, 9, 1) / 1000 })
  .map((second) => instant(second * 1000))
/** Near changes of the clock, and anywhere. */
const moments = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z', '2026-11-01T06:00:00Z', '2026-10-03T15:30:00Z'),
      fc.integer({ min: -7_200, max: 7_200 }),
    )
    .map(([change, off]) => instant(at(change) + off * 1000)),
  fc
    .integer({ min: Date.UTC(2026, 0, 1) / 1000, max: Date.UTC(2027, 5, 1) / 1000 })
    .map((second) => instant(second * 1000)),
)

const STEPS = 8

describe('a rule that is accepted', () => {
  it('has the occurrences that the library has when it is asked plainly', () => {
    const property = fc.property(rules, places, starts, moments, (text, place, start, from) => {
      const read = parseRule('rrule', text, { zone: zone(place), defaultZone: zone('UTC'), start })
      // Where clocks change by half an hour the library moves the minute of an hourly rule.
      fc.pre(!(text.startsWith('FREQ=HOURLY') && place === 'Australia/Lord_Howe'))
      fc.pre(read.ok && instantOfLocal(zone(place), localTimeAt(zone(place), start)) === start)
      const plain = plainly(text, place, start)
      const [wanted, got]: [string[], string[]] = [[], []]
      let [expected, found]: [Instant | null | undefined, Instant | null] = [from, from]
      for (let step = 0; step < STEPS && found !== null; step += 1) {
        expected = plain.next(found)
        if (expected === undefined) break
        found = nextByRule(read.value, found)
        wanted.push(show(expected))
        got.push(show(found))
      }
      expect(got).toEqual(wanted)
      const before = plain.previous(from)
      if (before !== undefined) expect(show(previousByRule(read.value, from))).toEqual(show(before))
      if (wanted.length === STEPS && found !== null) expect(countByRule(read.value, from, found)).toBe(STEPS - 1)
    })
    fc.assert(property, { numRuns: 300, seed: 22 })
  })
})
