import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readNextCheck } from '../../../src/domain/heartbeat/next-check.ts'
import { formatInstant, instant } from '../../../src/domain/instant.ts'

const NOON = instant(Date.parse('2026-01-15T12:00:00Z'))

it.each([
  [300, '2026-01-15T12:05:00.000Z'],
  [1, '2026-01-15T12:00:01.000Z'],
  [1.5, '2026-01-15T12:00:01.500Z'],
  ['2026-01-15T14:00:00+01:00', '2026-01-15T13:00:00.000Z'],
  [366 * 86_400, '2027-01-16T12:00:00.000Z'],
])('an agent that says %j is asked again at %s', (value, expected) => {
  const at = readNextCheck(value, NOON)
  expect(at === null ? null : formatInstant(at)).toBe(expected)
})

it.each([
  0,
  -5,
  366 * 86_400 + 1,
  NaN,
  Infinity,
  '2026-01-15T11:59:59Z',
  'tomorrow',
  '300',
  null,
  undefined,
  {},
  [300],
])('an agent that says %j is asked when the plan says', (value) => {
  expect(readNextCheck(value, NOON)).toBeNull()
})

it('is always ahead, and a moment', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const at = readNextCheck(value, NOON)
      if (at !== null) expect(at).toBeGreaterThan(NOON)
    }),
    { seed: 23 },
  )
})
