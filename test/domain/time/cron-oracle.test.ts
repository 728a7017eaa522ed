import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import { countFires, nextFire, previousFire } from '../../../src/domain/time/cron.ts'
import { DST_POLICIES } from '../../../src/domain/time/dst-policy.ts'
import { firesOf, walkAround, type CronCase, type Walk } from './cron-oracle.ts'
import { cron, show } from './world.ts'

const list = (values: readonly number[]): string => values.join(',')

const some = (max: number): fc.Arbitrary<readonly number[]> =>
  fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 5 })

const cases: fc.Arbitrary<CronCase> = fc
  .record({
    minutes: some(59),
    minuteStep: fc.constantFrom(0, 0, 7, 15, 30),
    hours: fc.oneof(some(23), fc.constantFrom<readonly number[]>([0], [1], [2], [0, 1, 2, 3], [23, 0])),
    everyHour: fc.boolean(),
    weekdays: fc.oneof(some(6), fc.constant<readonly number[]>([0, 1, 2, 3, 4, 5, 6])),
  })
  .map(({ minutes, minuteStep, hours, everyHour, weekdays }) => ({
    text: [
      minuteStep === 0 ? list(minutes) : `*/${minuteStep}`,
      everyHour ? '*' : list(hours),
      '*',
      '*',
      weekdays.length === 7 ? '*' : list(weekdays),
    ].join(' '),
    interval: minuteStep > 0 || everyHour,
    matches: (wall) => {
      const date = new Date(wall * 1000)
      const minute = date.getUTCMinutes()
      return (
        date.getUTCSeconds() === 0 &&
        (minuteStep === 0 ? minutes.includes(minute) : minute % minuteStep === 0) &&
        (everyHour || hours.includes(date.getUTCHours())) &&
        weekdays.includes(date.getUTCDay())
      )
    },
  }))

function disagreement(walk: Walk, zoneName: string, wanted: CronCase): string | null {
  // What was shown before the walk began is unknown to it; the short walks begin on a quiet stretch anyway.
  const margin = walk.step === 1 ? 0 : 27 * 3600
  const [from, to] = [(walk.seconds[0] ?? 0) + margin, (walk.seconds.at(-1) ?? 0) - margin]
  for (const dst of DST_POLICIES) {
    const plan = cron(wanted.text, zoneName, { dst })
    const fires = firesOf(walk, wanted, dst).filter((second) => second > from && second < to)
    const found: number[] = []
    for (let at = nextFire(plan, instant(from * 1000)); at !== null && at < to * 1000; at = nextFire(plan, at))
      found.push(at / 1000)
    const back: number[] = []
    for (let at = previousFire(plan, instant(to * 1000)); at !== null && at > from * 1000; at = previousFire(plan, at))
      back.unshift(at / 1000)
    const count = countFires(plan, instant(from * 1000), instant(to * 1000))
    const say = (text: string): string => `${wanted.text} ${zoneName} ${dst}: ${text}`
    const odd = [...fires.filter((fire) => !found.includes(fire)), ...found.filter((fire) => !fires.includes(fire))]
    if (odd.length > 0) return say(`next differs at ${show((odd[0] ?? 0) * 1000)}`)
    if (back.join() !== fires.join()) return say(`previous finds ${back.length} of ${fires.length}`)
    if (count !== fires.length) return say(`counts ${count} of ${fires.length}`)
  }
  return null
}

describe('around a change of the clock', () => {
  it.each([
    ['Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['Europe/Berlin', '2026-10-25T01:00:00Z'],
    ['America/New_York', '2025-03-09T07:00:00Z'],
    ['America/New_York', '2025-11-02T06:00:00Z'],
    ['Australia/Lord_Howe', '2025-04-05T15:00:00Z'],
    ['Australia/Lord_Howe', '2025-10-04T15:30:00Z'],
    ['Antarctica/Troll', '2026-03-29T01:00:00Z'],
    ['Antarctica/Troll', '2026-10-25T01:00:00Z'],
    ['Antarctica/Casey', '2023-03-08T16:00:00Z'],
    ['Antarctica/Vostok', '1994-01-31T17:00:00Z'],
    ['Antarctica/Vostok', '1994-11-01T00:00:00Z'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z'],
    ['Pacific/Kiritimati', '1994-12-31T10:00:00Z'],
    ['Pacific/Enderbury', '1994-12-31T11:00:00Z'],
    ['Pacific/Kwajalein', '1993-08-21T12:00:00Z'],
    ['America/Caracas', '2016-05-01T07:00:00Z'],
    ['America/Caracas', '2007-12-09T07:00:00Z'],
    ['Africa/Cairo', '2024-04-25T22:00:00Z'],
    ['Africa/Cairo', '2024-10-31T21:00:00Z'],
    ['Africa/Casablanca', '2025-02-23T02:00:00Z'],
    ['Africa/Casablanca', '2025-04-06T02:00:00Z'],
    ['America/Cambridge_Bay', '2000-11-05T05:00:00Z'],
    ['America/Recife', '2000-10-15T02:00:00Z'],
    ['America/St_Johns', '2006-04-02T03:31:00Z'],
    ['America/St_Johns', '2006-10-29T02:31:00Z'],
    ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
    ['Asia/Kolkata', '2026-06-01T00:00:00Z'],
    ['UTC', '2026-01-01T00:00:00Z'],
  ])('%s %s: next, previous and count agree with the definition', (zoneName, change) => {
    const walk = walkAround(zoneName, change, { hours: 60, step: 60 })
    fc.assert(
      fc.property(cases, (wanted) => {
        expect(disagreement(walk, zoneName, wanted)).toBeNull()
      }),
      { numRuns: 12, seed: 20260115 },
    )
  })

  it.each([
    ['Africa/Monrovia', '1972-01-07T00:44:30Z'],
    ['Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['America/St_Johns', '2006-10-29T02:31:00Z'],
  ])('%s %s: so do expressions with seconds', (zoneName, change) => {
    const walk = walkAround(zoneName, change, { hours: 2, step: 1 })
    const wanted = [
      { text: '*/7 * * * * *', interval: true, matches: (wall: number) => (wall % 60) % 7 === 0 },
      { text: '15 30 2 * * *', interval: false, matches: (wall: number) => wall % 86_400 === 9015 },
      { text: '20,50 15 0 * * *', interval: false, matches: (wall: number) => [920, 950].includes(wall % 86_400) },
      { text: '0 30 * * * *', interval: true, matches: (wall: number) => wall % 3600 === 1800 },
    ]
    expect(wanted.map((one) => disagreement(walk, zoneName, one)).filter((text) => text !== null)).toEqual([])
  })
})
