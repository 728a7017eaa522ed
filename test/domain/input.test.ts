import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeFlaw, integerField, parseFields, parseInteger, parseWord } from '../../src/domain/input.ts'
import { formatInstant, instant, parseInstant } from '../../src/domain/instant.ts'
import { because, explainWhy, REASONS } from '../../src/domain/reasons.ts'

describe('a time', () => {
  it.each([
    ['2026-01-15T09:00:00Z', '2026-01-15T09:00:00.000Z'],
    ['2026-01-15t09:00:00.5z', '2026-01-15T09:00:00.500Z'],
    ['2026-01-15T09:00:00.123456Z', '2026-01-15T09:00:00.123Z'],
    ['2026-01-15T09:00:00+05:30', '2026-01-15T03:30:00.000Z'],
    ['2026-01-15 09:00:00-08:00', '2026-01-15T17:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2026-01-15T23:59:59+23:59', '2026-01-15T00:00:59.000Z'],
    ['0100-01-01T00:00:00Z', '0100-01-01T00:00:00.000Z'],
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
    '0026-01-15T09:00:00Z',
    '0000-01-01T00:00:00Z',
    '0100-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
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

  it('of the whole has no name to begin with', () => {
    expect(describeFlaw({ field: '', value: undefined, message: 'a body is missing' })).toBe('a body is missing')
    expect(describeFlaw({ field: '', value: 5, message: 'must be an object' })).toBe('5: must be an object')
  })

  it.each([
    [Number.NaN, 'NaN'],
    [-Infinity, '-Infinity'],
    [7n, '7'],
    [() => 1, 'a function'],
    [Symbol('x'), 'a symbol'],
    [['a', 1], '["a",1]'],
    ['\ud800', '"\\ud800"'],
  ])('shows what no JSON can hold as well: %s', (value, shown) => {
    expect(describeFlaw({ field: 'cap', value, message: 'is wrong' })).toBe(`cap ${shown}: is wrong`)
  })

  it('writes no more of a long value than it shows', () => {
    const value = '\ud800'.repeat(3_000_000)
    const times = Array.from({ length: 5 }, () => {
      const began = performance.now()
      expect(describeFlaw({ field: 'cap', value, message: 'is wrong' })).toHaveLength('cap : is wrong'.length + 201)
      return performance.now() - began
    })
    // Escaping all of it takes ten times as long, on any machine.
    expect(Math.min(...times)).toBeLessThan(20)
  })

  it('is described even if its value contains itself', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    expect(describeFlaw({ field: 'payload', value: circle, message: 'is wrong' })).toBe('payload an object: is wrong')
  })

  it('is not made of a zero with a sign: it is read as 0', () => {
    const read = parseInteger('cap', -0, { min: 0 })
    expect(read.ok && Object.is(read.value, 0)).toBe(true)
  })

  it('is found only outside the bounds', () => {
    expect([1, 10].map((value) => parseInteger('cap', value, { min: 1, max: 10 }).ok)).toEqual([true, true])
  })

  it.each([null, [], 'text', 5])('is found in %j where an object is wanted', (value) => {
    const read = parseFields('rules', value, { cap: integerField({ min: 1 }) })
    expect(!read.ok && read.flaws).toMatchObject([{ field: 'rules', value, allowed: 'an object with cap' }])
  })

  it('says how far a number may go', () => {
    const allowed = (bounds: { min: number; max?: number }): unknown => {
      const read = parseInteger('cap', 'x', bounds)
      return !read.ok && read.flaws[0]?.allowed
    }
    expect([allowed({ min: 1 }), allowed({ min: 1, max: 5 })]).toEqual([
      'a whole number from 1 on',
      'a whole number from 1 to 5',
    ])
  })

  it.each(['__proto__', 'constructor', 'toString'])('is found in a field named %s', (name) => {
    const given: unknown = JSON.parse(`{"cap": 1, "${name}": {"cap": 5}}`)
    const read = parseFields('', given, { cap: integerField({ min: 1 }) })
    expect(!read.ok && read.flaws.map((flaw) => flaw.field)).toEqual([name])
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

  it('is used somewhere in the code', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`src/${file}`, 'utf8'))
      .join('\n')
    expect(Object.keys(REASONS).filter((reason) => !sources.includes(`'${reason}'`))).toEqual([])
  })

  it('always is a sentence', () => {
    for (const sentence of Object.values(REASONS)) expect(sentence).toMatch(/^[A-Z{].*\.$/)
  })
})
