import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { laneName, orgId, type OrgId } from '../../src/core/ids.ts'
import { createNodeLanes, type NodeLanes } from '../../src/service/node-lanes.ts'

const MAIN = laneName('main')
const [A, B] = [orgId('a'), orgId('b')]

const offer = (lanes: NodeLanes, id: OrgId, isReady = true): { readonly size: number; held: number } =>
  lanes.offer({ orgId: id, nodeId: 'n', isReady: () => isReady, catchupLimit: 10 }).lanes.get(MAIN) ?? {
    size: 0,
    held: 0,
  }

/** A turn that takes as many slots as it can, up to a number. */
function take(lanes: NodeLanes, id: OrgId, wanted: number): number {
  let left = wanted
  const given = lanes.offer({ orgId: id, nodeId: 'n', isReady: () => left > 0, catchupLimit: 10 }).lanes.get(MAIN)
  const taken = Math.min(wanted, given?.size ?? 0)
  left -= taken
  if (given !== undefined) given.held = taken
  lanes.decided(id)
  for (let n = 0; n < taken; n += 1) lanes.hold({ orgId: id, lane: MAIN, catchup: false })
  lanes.withdraw(id)
  return taken
}

describe('a turn that has nothing ready', () => {
  it('reserves nothing', () => {
    const lanes = createNodeLanes(new Map([[MAIN, 4]]))
    expect(offer(lanes, A, false).size).toBe(0)
    expect(offer(lanes, B).size).toBe(4)
  })
})

describe('a turn that has decided', () => {
  it('keeps only what it has claimed, and tells who waits', () => {
    let told = 0
    const lanes = createNodeLanes(new Map([[MAIN, 4]]), () => (told += 1))
    const first = offer(lanes, A)
    expect(take(lanes, B, 1)).toBe(0)
    first.held = 1
    lanes.decided(A)
    expect(told).toBe(1)
    expect([...lanes.waiting()]).toEqual([B])
    expect(take(lanes, B, 9)).toBe(3)
    expect([...lanes.waiting()]).toEqual([])
  })
})

describe('free slots that several orgs wait for', () => {
  it('fall to each as if they were dealt one by one', () => {
    const seat = fc.record({ held: fc.nat(6), waits: fc.boolean() })
    fc.assert(
      fc.property(fc.array(seat, { minLength: 1, maxLength: 8 }), fc.nat(20), (seats, free) => {
        const held = seats.reduce((sum, one) => sum + one.held, 0)
        const lanes = createNodeLanes(new Map([[MAIN, held]]))
        const servedAt = new Map<number, number>()
        let served = 0
        seats.forEach((one, index) => {
          for (let n = 0; n < one.held; n += 1) {
            lanes.hold({ orgId: orgId(`o${index}`), lane: MAIN, catchup: false })
            servedAt.set(index, (served += 1))
          }
        })
        // The lane is full: whoever asks waits.
        seats.forEach((one, index) => {
          if (one.waits) take(lanes, orgId(`o${index}`), 1)
        })
        lanes.resize(new Map([[MAIN, held + free]]))
        const dealing = seats
          .map((one, index) => ({ index, count: one.held, at: servedAt.get(index) ?? 0, in: one.waits || index === 0 }))
          .filter((one) => one.in)
        let share = 0
        for (let n = 0; n < free; n += 1) {
          dealing.sort((a, b) => a.count - b.count || a.at - b.at || a.index - b.index)
          const [next] = dealing
          if (next === undefined) break
          next.count += 1
          next.at = 1_000 + n
          if (next.index === 0) share += 1
        }
        expect(offer(lanes, orgId('o0')).size).toBe(share)
      }),
    )
  })
})
