import { describe, expect, it } from 'vitest'
import { flawed, type Flaw } from '../../src/domain/input.ts'
import { addAll, largest, smallest } from '../../src/domain/long-lists.ts'

const MILLION = Array.from({ length: 1_000_000 }, (_, index) => index)

describe('a list of a million', () => {
  it('is added to another without running out of stack', () => {
    const list = [-1]
    addAll(list, MILLION)
    expect(list).toHaveLength(1_000_001)
    expect(list.at(-1)).toBe(999_999)
  })

  it('has a largest and a smallest', () => {
    expect([largest(MILLION), smallest(MILLION)]).toEqual([999_999, 0])
    expect([largest([]), smallest([])]).toEqual([Math.max(), Math.min()])
  })

  it('can be a list of flaws', () => {
    const flaw: Flaw = { field: 'a', value: 1, message: 'is wrong' }
    expect(flawed(MILLION.map(() => flaw))).toMatchObject({ ok: false, flaws: { length: 1_000_000 } })
    expect(flawed(flaw)).toEqual({ ok: false, flaws: [flaw] })
  })
})
