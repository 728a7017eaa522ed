import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { later } from '../../../src/domain/instant.ts'
import { parseTiming } from '../../../src/domain/time/parse-timing.ts'
import { sentenceFor } from '../../../src/domain/time/sentence.ts'
import { occurrencesBetween } from '../../../src/domain/time/timing.ts'
import { understandWords } from '../../../src/domain/words/understand.ts'
import { at, right, zone } from '../time/world.ts'

const CONTEXT = { now: at('2026-11-16T10:00:00Z'), zone: zone('UTC') }
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Sydney']

const some = (min: number, max: number, most: number): fc.Arbitrary<string> =>
  fc
    .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: most })
    .map((values) => [...values].sort((a, b) => a - b).join(','))

/** Days as simple schedules have them: weekdays, days of the month, places in the month, months. */
const days = fc.oneof(
  fc.constant('* * *'),
  some(0, 6, 4).map((weekdays) => `* * ${weekdays}`),
  fc.constant('* * 1-5'),
  some(1, 31, 3).map((dates) => `${dates} * *`),
  fc.constant('L * *'),
  fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 1, max: 4 })).map(([day, place]) => `* * ${day}#${place}`),
  fc.tuple(some(1, 12, 3), some(1, 28, 2)).map(([months, dates]) => `${dates} ${months} *`),
)

/** Times: some of them, or an interval that goes round the clock, or one between two hours. */
const times = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 59 }), some(0, 23, 3)).map(([minute, hours]) => `${minute} ${hours}`),
  fc.constantFrom('*/5 *', '*/15 *', '0 */2', '0 */6', '30 *', '0 *'),
  fc
    .tuple(fc.constantFrom('*/10', '*/30', '0'), fc.integer({ min: 0, max: 10 }))
    .map(([minutes, hour]) => `${minutes} ${hour}-${hour + 8}`),
)

describe('the sentence of a simple schedule', () => {
  it('means the same occurrences when it is read again', () => {
    fc.assert(
      fc.property(times, days, fc.constantFrom(...ZONES), (clock, calendar, timezone) => {
        const given = right(
          parseTiming({ cron: `${clock} ${calendar}`, timezone }, { now: CONTEXT.now, defaultZone: CONTEXT.zone }),
        )
        const sentence = sentenceFor(given)
        const understood = understandWords('text', sentence, CONTEXT)
        if (!understood.ok) throw new Error(`${sentence}: ${JSON.stringify(understood.flaws)}`)
        const again = right(parseTiming(understood.value.fields, { now: CONTEXT.now, defaultZone: CONTEXT.zone }))
        const window = { after: CONTEXT.now, upTo: later(CONTEXT.now, 4 * 366 * 86_400_000), limit: 60 }
        expect(occurrencesBetween(again, window), sentence).toEqual(occurrencesBetween(given, window))
      }),
      // Hours in a row, and at even distances, are times and no interval: they differ while clocks go back.
      {
        numRuns: 150,
        examples: [
          ['0 0,1,2', '2 * *', 'Australia/Sydney'],
          ['30 0,8,16', '* * *', 'Europe/Berlin'],
        ],
      },
    )
  })

  it('never throws and never hangs, whatever is written', () => {
    const words = fc.constantFrom(
      ...[
        'every',
        'other',
        'day',
        'at',
        '9',
        '9:30',
        'am',
        'between',
        'and',
        'the',
        '2nd',
        'of',
        'month',
        'in',
        'Berlin',
      ],
      ...[
        'except',
        'until',
        'Monday',
        '每',
        '周',
        '一',
        '点',
        '到',
        '除了',
        '月',
        '2026-02-30',
        ':',
        ',',
        '(',
        '٣',
        '\u0000',
      ],
    )
    fc.assert(
      fc.property(fc.array(words, { maxLength: 20 }), fc.constantFrom('', ' '), (some, between) => {
        const answer = understandWords('text', some.join(between), CONTEXT)
        if (!answer.ok) for (const { position = 0 } of answer.flaws) expect(position).toBeLessThanOrEqual(500)
      }),
      { numRuns: 200 },
    )
  })
})
