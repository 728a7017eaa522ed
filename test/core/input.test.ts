import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeFlaw, parseInteger, parseWord } from '../../src/core/input.ts'
import { formatInstant, instant, parseInstant } from '../../src/core/instant.ts'
import { because, explainWhy, REASONS } from '../../src/core/reasons.ts'

describe('a time', () => {
  it.each([
    ['2026-01-15T09:00:00Z', '2026-01-15T09:00:00.000Z'],
    ['2026-01-15t09:00:00.5z', '2026-01-15T09:00:00.500Z'],
    ['2026-01-15T09:00:00.123456Z', '2026-01-15T09:00:00.123Z'],
    ['2026-01-15T09:00:00+05:30', '2026-01-15T03:30:00.000Z'],
    ['2026-01-15 09:00:00-08:00', '2026-01-15T17:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('%s is read', (text, iso) => {
    const read = parseInstant('run_at', text)
    expect(read.ok && formatInstant(read.value)).toBe(iso)
  })

  it.each([
    '2026-01-15T09:00:00',
    '2026-01-15',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-15T24:00:00Z',
    '2026-01-15T09:60:00Z',
    '2026-01-15T09:00:00+24:00',
    'tomorrow',
    '',
    1768467600,
    null,
  ])('%j is refused with an example of what is allowed', (value) => {
    const read = parseInstant('run_at', value)
    expect(!read.ok && read.flaws[0]).toMatchObject({
      field: 'run_at',
      value,
      allowed: expect.stringContaining('RFC 3339') as string,
    })
  })

  it('survives being printed and read again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 7_258_118_400_000 }), (ms) => {
        expect(parseInstant('t', formatInstant(instant(ms)))).toEqual({ ok: true, value: ms })
      }),
      { seed: 4, numRuns: 500 },
    )
  })
})

describe('a flaw', () => {
  it('names field, value, place and what is allowed', () => {
    expect(
      describeFlaw({ field: 'cron', value: '61 * * * *', message: 'minute is above 59', position: 0, allowed: '0-59' }),
    ).toBe('cron "61 * * * *": minute is above 59 at position 1 (allowed: 0-59)')
  })

  it.each([0, 11, 1.5, Number.NaN, '5', null])('is found in the number %j', (value) => {
    expect(parseInteger('cap', value, { min: 1, max: 10 }).ok).toBe(false)
  })

  it('is not found in words of any case', () => {
    expect(parseWord('dst', 'Vixie', ['vixie', 'skip'])).toEqual({ ok: true, value: 'vixie' })
    expect(parseWord('dst', 'vixi', ['vixie', 'skip']).ok).toBe(false)
  })
})

describe('a reason', () => {
  it('becomes a sentence with its evidence filled in', () => {
    const why = because('overlap', 'overlap_action=SKIP', { previous_run: 'run_8f', previous_state: 'running' })
    expect(explainWhy(why)).toBe('The previous run run_8f was still running.')
  })

  it('always is a sentence', () => {
    for (const sentence of Object.values(REASONS)) expect(sentence).toMatch(/^[A-Z{].*\.$/)
  })
})
