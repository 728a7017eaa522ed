import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addRanked, rankedList, rankOf, removeRanked } from '../../../src/domain/queue/heap.ts'

const isBefore = (a: number, b: number): boolean => a < b

/** Numbers that enter and leave; most come in order and leave from the front, as queued runs do. */
const happening = fc.oneof(
  { weight: 5, arbitrary: fc.constant('enters last' as const) },
  { weight: 4, arbitrary: fc.constant('first leaves' as const) },
  { weight: 3, arbitrary: fc.record({ enters: fc.integer({ min: 0, max: 1_000_000 }) }) },
  { weight: 3, arbitrary: fc.record({ leaves: fc.nat() }) },
)

describe('a ranked list', () => {
  it('gives every item the rank it has in a sorted array, whatever has entered and left', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.array(happening, { maxLength: 300, size: 'max' }), (first, happenings) => {
        const list = rankedList(isBefore)
        const all = new Set<number>()
        const enter = (item: number): void => {
          if (all.has(item)) return
          all.add(item)
          addRanked(list, item)
        }
        const leave = (item: number | undefined): void => {
          if (item !== undefined && all.delete(item)) removeRanked(list, item)
        }
        for (let item = 0; item < first; item += 1) enter((item * 7_919) % 1_000_003)
        for (const what of happenings) {
          if (what === 'enters last') enter(Math.max(0, ...all) + 1)
          else if (what === 'first leaves') leave(Math.min(...all))
          else if ('enters' in what) enter(what.enters)
          else leave([...all][what.leaves % Math.max(1, all.size)])
        }
        const sorted = [...all].sort((a, b) => a - b)
        expect(list.chunks.flat()).toEqual(sorted)
        expect(list.size).toBe(sorted.length)
        for (const [rank, item] of sorted.entries())
          if (rankOf(list, item) !== rank) expect(rankOf(list, item)).toBe(rank)
        expect(list.chunks.every((chunk) => chunk.length > 0 && chunk.length <= 512)).toBe(true)
      }),
      { seed: 20260115, numRuns: 30 },
    )
  })

  it('ranks an item that is not in it where it would enter', () => {
    const list = rankedList(isBefore)
    for (const item of [10, 20, 30]) addRanked(list, item)
    expect([5, 15, 30, 35].map((item) => rankOf(list, item))).toEqual([0, 1, 2, 3])
  })

  it('does not lose count over an item that is not in it', () => {
    const list = rankedList(isBefore)
    addRanked(list, 1)
    expect(() => removeRanked(list, 2)).toThrow('not in the ranked list')
    expect(list.size).toBe(1)
  })
})
