import { describe, expect, it } from 'vitest'
import { describeFlaw } from '../../../../src/domain/input.ts'
import { instant } from '../../../../src/domain/instant.ts'
import { decideNews } from '../../../../src/domain/schedule/pace/pace.ts'
import { findProposal, withoutProposal } from '../../../../src/domain/schedule/pace/proposal.ts'
import { sentenceFor } from '../../../../src/domain/time/sentence.ts'
import { shortestInterval } from '../../../../src/domain/time/shortest-interval.ts'
import { restoreTiming, storeTiming } from '../../../../src/domain/time/parse-timing.ts'
import { UTC } from '../../../../src/domain/time/zone.ts'
import { readTiming } from '../../time/world.ts'

const NOW = instant(Date.parse('2026-11-16T12:00:00Z'))
const read = (input: Readonly<Record<string, unknown>>) => readTiming(input, { now: NOW, defaultZone: UTC })
const flawsOf = (input: Readonly<Record<string, unknown>>): readonly string[] => {
  const parsed = read(input)
  return parsed.ok ? [] : parsed.flaws.map(describeFlaw)
}

const CADENCE = { min_seconds: 300, max_seconds: 21_600 }

describe('a cadence', () => {
  it('is filled in, stored and read again as the same', () => {
    const timing = read({ every_seconds: 1_200, cadence: CADENCE })
    if (!timing.ok) throw new Error(timing.flaws.map(describeFlaw).join())
    expect(timing.value).toMatchObject({
      cadence: { minSeconds: 300, maxSeconds: 21_600, stretch: 2, quietAfter: 1 },
    })
    expect(storeTiming(timing.value)).toMatchObject({
      cadence: { min_seconds: 300, max_seconds: 21_600, stretch: 2, quiet_after: 1 },
    })
    expect(restoreTiming(storeTiming(timing.value))).toEqual(timing.value)
    expect(sentenceFor(timing.value)).toBe('Every 20 minutes, between 5 minutes and 6 hours depending on its results')
    expect(shortestInterval(timing.value)).toBe(300_000)
  })

  it('is no part of a timing without one', () => {
    const timing = read({ every_seconds: 1_200 })
    expect(timing.ok && 'cadence' in timing.value).toBe(false)
    expect(timing.ok && storeTiming(timing.value)).not.toHaveProperty('cadence')
  })

  it.each([
    [{ cron: '0 * * * *', cadence: CADENCE }, /^cadence .*applies only to every_seconds/],
    [{ rrule: 'FREQ=DAILY', cadence: CADENCE }, /^cadence .*applies only to every_seconds/],
    [{ at: '2026-11-17T12:00:00Z', cadence: CADENCE }, /^cadence .*applies only to every_seconds/],
    [
      { every_seconds: 60, cadence: CADENCE },
      /^cadence\.min_seconds 300: must not be above every_seconds, which is 60/,
    ],
    [{ every_seconds: 30_000, cadence: CADENCE }, /^cadence\.max_seconds 21600: must not be below every_seconds/],
    [
      { every_seconds: 60, cadence: { min_seconds: 60, max_seconds: 30 } },
      /^cadence\.max_seconds 30: must not be below/,
    ],
    [{ every_seconds: 60, cadence: { min_seconds: 60 } }, /^cadence\.max_seconds: is missing/],
    [{ every_seconds: 60, cadence: { max_seconds: 60 } }, /^cadence\.min_seconds: is missing/],
    [{ every_seconds: 600, cadence: { ...CADENCE, stretch: 0.5 } }, /^cadence\.stretch 0.5: is out of range/],
    [{ every_seconds: 600, cadence: { ...CADENCE, stretch: '2' } }, /^cadence\.stretch "2": must be a number/],
    [{ every_seconds: 600, cadence: { ...CADENCE, quiet_after: 0 } }, /^cadence\.quiet_after 0: is out of range/],
    [{ every_seconds: 600, cadence: { ...CADENCE, factor: 3 } }, /^cadence\.factor 3: is not a known field/],
    [{ every_seconds: 600, cadence: '5m..6h' }, /^cadence "5m..6h": must be an object/],
  ])('is refused with a precise word: %j', (input, said) => {
    expect(flawsOf(input)).toEqual([expect.stringMatching(said)])
  })
})

describe('what a run found', () => {
  const judge = (output: unknown, before: string | null = null, summary: string | null = null) =>
    decideNews({ reason: 'completed', output, summary }, before)

  it.each([
    [null, 'empty'],
    ['', 'empty'],
    [' \n ', 'empty'],
    ['NO_REPLY', 'no_reply'],
    [' NO_REPLY\n', 'no_reply'],
    ['HEARTBEAT_OK', 'acknowledged'],
    ['**HEARTBEAT_OK**. All quiet.', 'acknowledged'],
    ['next_check: 2h', 'empty'],
    [{ next_check: 60 }, 'empty'],
    ['NO_REPLY\nnext_check: 2h', 'no_reply'],
  ])('is nothing: %j', (output, found) => {
    expect(judge(output)).toMatchObject({ isQuiet: true, found })
  })

  it.each(['3 new issues', 'It said HEARTBEAT_OK to me', { issues: 3 }, [1], 0, false])(
    'is something: %j',
    (output) => {
      expect(judge(output)).toMatchObject({ isQuiet: false, found: 'new' })
    },
  )

  it('is nothing new when it is what the last one said, whatever it asks for beside it', () => {
    const { digest } = judge('3 open issues')
    expect(judge('3 open issues ', digest)).toMatchObject({ isQuiet: true, found: 'same', digest })
    expect(judge('3 open issues\nnext_check: 45m', digest)).toMatchObject({ isQuiet: true, found: 'same' })
    expect(judge('4 open issues', digest)).toMatchObject({ isQuiet: false, found: 'new' })
    expect(judge('', digest)).toMatchObject({ isQuiet: true, digest })
    const json = judge({ issues: 3 }).digest
    expect(judge({ issues: 3, next_check: 60 }, json)).toMatchObject({ found: 'same' })
  })

  it('is the summary when there is no output, and nothing when a probe saw nothing to do', () => {
    expect(judge(null, null, 'A summary')).toMatchObject({ found: 'new' })
    expect(decideNews({ reason: 'probe_no', output: null, summary: null }, 'before')).toEqual({
      ...{ isQuiet: true, found: 'probe_no', digest: 'before' },
    })
  })
})

describe('what an agent proposes', () => {
  const proposed = (output: unknown, nextCheck?: unknown) => findProposal({ output, nextCheck }, NOW)

  it.each([
    [3_600, 3_600_000],
    [0, 0],
    [-5, -5_000],
    ['2026-11-16T13:00:00Z', 3_600_000],
    ['45m', 2_700_000],
    ['1.5h', 5_400_000],
    ['90', 90_000],
    ['soon', null],
    [true, null],
    [{}, null],
  ])('is read: %j', (value, inMs) => {
    expect(proposed('whatever', value)).toMatchObject({ inMs })
  })

  it('is found beside the output first, then in it', () => {
    expect(proposed('text\nnext_check: 2h', 60)?.inMs).toBe(60_000)
    expect(proposed('text\nnext_check: 2h')?.inMs).toBe(7_200_000)
    expect(proposed('text\n**next_check:** 30m\n')?.inMs).toBe(1_800_000)
    expect(proposed({ next_check: 90 })?.inMs).toBe(90_000)
    expect(proposed('I set next_check: 2h in the file, and went on.')).toBeNull()
    expect(proposed('nothing of the kind')).toBeNull()
    expect(proposed(null)).toBeNull()
  })

  it('is no part of what was found, and a large answer is not read through for it', () => {
    expect(withoutProposal('text\nnext_check: 2h')).toBe('text')
    const long = `${'*'.repeat(100_000)}\nnext_check: 2h`
    expect(withoutProposal(long)).toBe('*'.repeat(100_000))
    expect(proposed(`x ${'next_check'.repeat(50_000)}`)).toBeNull()
  })
})
