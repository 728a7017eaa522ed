import { describe, expect, it } from 'vitest'
import { isOccurrence, whyNoOccurrence } from '../../../src/domain/explain/plan.ts'
import { formatInstant, instant, type Instant } from '../../../src/domain/instant.ts'
import { explainWhy } from '../../../src/domain/reasons.ts'
import { parseZone, UTC, type Zone } from '../../../src/domain/time/zone.ts'
import { formatInZone, instantOfLocal } from '../../../src/domain/time/wall-clock.ts'
import { parseQuestionTime, type TimeContext } from '../../../src/features/explain/surroundings.ts'
import { parseNewTiming } from '../../../src/features/schedules/input.ts'

const at = (text: string): Instant => instant(Date.parse(text))
const zone = (name: string): Zone => {
  const read = parseZone('zone', name)
  if (!read.ok) throw new Error(name)
  return read.value
}
const BERLIN = zone('Europe/Berlin')

function timing(given: Readonly<Record<string, unknown>>) {
  const read = parseNewTiming(given, { now: at('2026-01-01T00:00:00Z'), defaultZone: BERLIN })
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return read.value.timing
}

describe('why a plan has no such moment', () => {
  const daily = { cron: '0 9 * * *', timezone: 'Europe/Berlin' }

  it.each([
    ['it is excluded', { ...daily, exclude: ['2026-12-25'] }, '2026-12-25T08:00:00Z', 'excluded_date'],
    [
      'it is before its beginning',
      { ...daily, starts_at: '2026-12-01T00:00:00Z' },
      '2026-11-16T08:00:00Z',
      'before_start',
    ],
    ['it is behind its end', { ...daily, ends_at: '2026-11-01T00:00:00Z' }, '2026-11-16T08:00:00Z', 'after_end'],
    ['it is nine by another clock', daily, '2026-11-16T09:00:00Z', 'other_zone'],
    ['it is a time that the clock left out', { ...daily, cron: '30 2 * * *' }, '2026-03-29T01:30:00Z', 'clock_change'],
    ['it is the second pass of a time', { ...daily, cron: '30 2 * * *' }, '2026-10-25T01:30:00Z', 'clock_change'],
    ['it is none', daily, '2026-11-16T11:11:00Z', 'no_occurrence'],
  ])('%s', (_, given, moment, reason) => {
    const plan = timing(given)
    expect(isOccurrence(plan, at(moment))).toBe(false)
    const why = whyNoOccurrence(plan, at(moment), UTC)
    expect(why.reason).toBe(reason)
    expect(explainWhy(why)).not.toMatch(/not on record|undefined/)
  })

  it('names the moment that was meant', () => {
    const why = whyNoOccurrence(timing(daily), at('2026-11-16T09:00:00Z'), UTC)
    expect(explainWhy(why)).toBe(
      'It fires at 2026-11-16 09:00 in Europe/Berlin, which is 2026-11-16T08:00:00.000Z, ' +
        'not 2026-11-16T09:00:00.000Z.',
    )
  })
})

describe('a time on the wall', () => {
  it.each([
    ['2026-11-16 09:00', '2026-11-16T08:00:00.000Z'],
    ['2026-07-01 09:00', '2026-07-01T07:00:00.000Z'],
    // Shown twice: the first pass.
    ['2026-10-25 02:30', '2026-10-25T00:30:00.000Z'],
    // Never shown: as long behind the change as it is behind the gap.
    ['2026-03-29 02:30', '2026-03-29T01:30:00.000Z'],
  ])('%s in Berlin is %s', (local, moment) => {
    const found = instantOfLocal(BERLIN, Date.parse(`${local.replace(' ', 'T')}:00Z`) / 1_000)
    expect(formatInstant(found)).toBe(moment)
    if (!local.startsWith('2026-03-29')) expect(formatInZone(BERLIN, found)).toBe(local)
  })
})

describe('a moment as people ask for it', () => {
  const reader: TimeContext = { now: at('2026-11-16T12:00:00Z'), zone: BERLIN, zoneFrom: 'schedule' }
  const read = (text: string) => {
    const found = parseQuestionTime('at', text, reader)
    return found.ok
      ? [formatInstant(found.value.at), found.value.zoneFrom, found.value.isInGap]
      : found.flaws[0]?.message
  }

  it.each([
    ['2026-11-16T09:00:00Z', ['2026-11-16T09:00:00.000Z', 'given', false]],
    ['2026-11-16T09:00Z', ['2026-11-16T09:00:00.000Z', 'given', false]],
    ['2026-11-16T09:00+01:00', ['2026-11-16T08:00:00.000Z', 'given', false]],
    ['2026-11-16T09:00', ['2026-11-16T08:00:00.000Z', 'schedule', false]],
    ['2026-11-16 09:00:30', ['2026-11-16T08:00:30.000Z', 'schedule', false]],
    ['2026-11-16', ['2026-11-15T23:00:00.000Z', 'schedule', false]],
    ['09:00', ['2026-11-16T08:00:00.000Z', 'schedule', false]],
    ['9:00', ['2026-11-16T08:00:00.000Z', 'schedule', false]],
    // Still to come today, so yesterday is meant.
    ['23:30', ['2026-11-15T22:30:00.000Z', 'schedule', false]],
    ['2026-03-29T02:30', ['2026-03-29T01:30:00.000Z', 'schedule', true]],
    ['25:00', 'is a time that does not exist'],
    ['2026-02-30T09:00', 'is a time that does not exist'],
    ['nine', 'is not a time'],
    ['', 'is not a time'],
    ['2026-11-16T9', 'is not a time'],
  ])('%s', (text, wanted) => {
    expect(read(text)).toEqual(wanted)
  })
})
