import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reservedSlots, maxOrgSlots, NO_ORG_SHARE, orgRoom, type OrgInLane } from '../../../src/domain/queue/lanes.ts'

describe('the part of a lane that one org may hold', () => {
  it.each([
    [1, 0.8, 1, 0],
    [2, 0.8, 1, 1],
    [3, 0.8, 2, 1],
    [10, 0.8, 8, 1],
    [20, 0.8, 16, 2],
    [30, 0.8, 24, 3],
    [100, 0.8, 80, 10],
    // In floating point 100 × 0.57 is below 57.
    [100, 0.57, 57, 10],
    [30, 0, 1, 3],
    [30, 1, 30, 0],
    [2, 1, 2, 0],
  ])(
    'is, of %i slots at a share of %d, at most %i, and %i free ones are kept for others',
    (size, share, most, kept) => {
      expect([maxOrgSlots(size, share), reservedSlots(size, share)]).toEqual([most, kept])
    },
  )
})

const lanes: fc.Arbitrary<OrgInLane> = fc
  .record({ size: fc.integer({ min: 1, max: 200 }), a: fc.double({ min: 0, max: 1, noNaN: true }), b: fc.nat(200) })
  .map(({ size, a, b }) => ({ size, free: Math.round(size * a), held: Math.min(b, size - Math.round(size * a)) }))
const shares = fc.double({ min: 0, max: 1, noNaN: true })

/** Starts one run after the other for as long as the rules, as they are written down, let one start. */
function startOneByOne({ size, free, held }: OrgInLane, share: number): number {
  let started = 0
  const limited = share < 1
  while (free - started > 0) {
    const [holds, left] = [held + started, free - started]
    if (limited && holds >= Math.max(1, Math.floor(size * share + 1e-9))) break
    if (limited && size >= 2 && left <= Math.max(1, Math.floor(size / 10)) && holds > 0) break
    started += 1
  }
  return started
}

describe('the runs that an org may start', () => {
  it('are as many as start one after the other', () => {
    fc.assert(
      fc.property(lanes, shares, (lane, share) => {
        expect(orgRoom(lane, share)).toBe(startOneByOne(lane, share))
      }),
    )
  })

  it('fill every free slot while there is one org', () => {
    fc.assert(fc.property(lanes, (lane) => orgRoom(lane, NO_ORG_SHARE) === lane.free))
  })

  it('leave a slot to an org that holds none, whatever one other org has started', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 500 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (size, share) => {
        const taken = orgRoom({ size, free: size, held: 0 }, share)
        expect(orgRoom({ size, free: size - taken, held: 0 }, share)).toBeGreaterThan(0)
      }),
    )
  })
})
