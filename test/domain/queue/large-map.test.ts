import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { partOfKey, LargeMap } from '../../../src/domain/queue/large-map.ts'

const idOf = (n: number): string => `run_01m7pvkkas${n.toString(32).padStart(8, '0')}`

describe('a map of many entries', () => {
  it('knows what a map knows, before and after it is divided and when it is empty again', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.boolean()), { maxLength: 60 })
    fc.assert(
      fc.property(fc.constantFrom(0, 8_185, 20_000), steps, (filled, changes) => {
        const [wide, plain] = [new LargeMap<string, number>(), new Map<string, number>()]
        for (const map of [wide, plain]) for (let n = 0; n < filled; n += 1) map.set(`before ${n}`, n)
        for (const [n, isSet] of changes) {
          if (isSet) for (const map of [wide, plain]) map.set(idOf(n), plain.size)
          else expect(wide.delete(idOf(n))).toBe(plain.delete(idOf(n)))
          expect([wide.size, wide.get(idOf(n)), wide.has(idOf(n))]).toEqual([
            ...[plain.size, plain.get(idOf(n)), plain.has(idOf(n))],
          ])
        }
        expect(new Map(wide)).toEqual(plain)
        expect([...wide.values()].sort()).toEqual([...plain.values()].sort())
        for (const key of plain.keys()) wide.delete(key)
        expect([wide.size, [...wide]]).toEqual([0, []])
      }),
      { numRuns: 30 },
    )
  })

  it('takes keys of any length', () => {
    const wide = new LargeMap<string, number>()
    for (let n = 0; n < 9_000; n += 1) wide.set(idOf(n), n)
    for (const key of ['', 'a', 'ab', '😀']) wide.set(key, key.length)
    expect(['', 'a', 'ab', '😀'].map((key) => wide.get(key))).toEqual([0, 1, 2, 2])
  })

  it('grows part by part: of ids that follow each other, a thousand make few parts cross a power of two', () => {
    const sizes = new Map<number, number>()
    let [most, crossed] = [0, 0]
    for (let n = 0; n < 600_000; n += 1) {
      if (n % 1_000 === 0) crossed = 0
      const part = partOfKey(idOf(n))
      const size = (sizes.get(part) ?? 0) + 1
      sizes.set(part, size)
      if (size >= 128 && Number.isInteger(Math.log2(size))) crossed += 1
      if (n > 50_000) most = Math.max(most, crossed)
    }
    expect(Math.max(...sizes.values()) / 600_000).toBeLessThan(0.03)
    expect(most).toBeLessThan(10)
  })
})
