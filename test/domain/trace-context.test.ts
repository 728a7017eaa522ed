import { describe, expect, it } from 'vitest'
import { isSampled, readTraceparent, spanIdOf, traceIdOf } from '../../src/domain/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const good = `00-${TRACE}-${SPAN}-01`

describe('traceparent', () => {
  it.each([
    [good, good],
    [` ${good} `, good],
    [`00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
    // A version to come may say more; what is known of it is kept.
    [`cc-${TRACE}-${SPAN}-01-what-the-future-brings`, good],
    [`cc-${TRACE}-${SPAN}-01`, good],
  ])('%j is read as %s', (given, read) => {
    expect(readTraceparent(given)).toBe(read)
  })

  it.each([
    undefined,
    null,
    3,
    ['a', 'b'],
    '',
    'nonsense',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}0-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\r\nx-evil: 1`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`,
  ])('%j is none', (given) => {
    expect(readTraceparent(given)).toBeNull()
  })

  it('names its trace, its span, and whether it is recorded', () => {
    expect([traceIdOf(good), spanIdOf(good), isSampled(good)]).toEqual([TRACE, SPAN, true])
    expect(isSampled(`00-${TRACE}-${SPAN}-02`)).toBe(false)
  })
})
