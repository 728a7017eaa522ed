import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { laneName, orgId, type OrgId } from '../../../src/domain/ids.ts'
import { createNodeLanes, type NodeLanes } from '../../../src/features/lanes/node-lanes.ts'

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
  lanes.settleOffer(id)
  for (let n = 0; n < taken; n += 1) lanes.hold({ orgId: id, lane: MAIN, catchup: false })
  lanes.withdrawOffer(id)
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
    lanes.settleOffer(A)
    expect(told).toBe(1)
    expect([...lanes.waiting()]).toEqual([B])
    expect(take(lanes, B, 9)).toBe(3)
    expect([...lanes.waiting()]).toEqual([])
  })
})

describe('an org that waited for a slot and has nothing ready any more', () => {
  it('leaves it to another one that waits, and that is told', () => {
    let told = 0
    const lanes = createNodeLanes(new Map([[MAIN, 2]]), () => (told += 1))
    const [first] = [A, A].map((id) => lanes.hold({ orgId: id, lane: MAIN, catchup: false }))
    for (const id of [A, B]) take(lanes, id, 1)
    first?.()
    // B has fewer, so the slot falls to B; but B has been served elsewhere meanwhile.
    expect(take(lanes, A, 1)).toBe(0)
    told = 0
    expect(take(lanes, B, 0)).toBe(0)
    expect(told).toBe(1)
    expect(take(lanes, A, 1)).toBe(1)
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

describe('a lane that orgs share', () => {
  const shared = (size: number, onFree?: () => void): NodeLanes => {
    const lanes = createNodeLanes(new Map([[MAIN, size]]), onFree)
    lanes.limitOrgs(0.8)
    return lanes
  }

  it('gives one org its part at most, even when no other org wants any', () => {
    const lanes = shared(30)
    expect([take(lanes, A, 100), take(lanes, A, 100)]).toEqual([24, 0])
    expect(take(lanes, B, 100)).toBe(3)
  })

  it('gives its last free slots one by one to orgs that hold none', () => {
    const lanes = shared(30)
    const orgs = ['c', 'd', 'e', 'f'].map(orgId)
    expect([take(lanes, A, 24), take(lanes, B, 100)]).toEqual([24, 3])
    expect(take(lanes, B, 100)).toBe(0)
    expect(orgs.map((id) => take(lanes, id, 100))).toEqual([1, 1, 1, 0])
  })

  it('is held as a whole by one org when it has one slot, and by halves when it has two', () => {
    expect(take(shared(1), A, 5)).toBe(1)
    const lanes = shared(2)
    expect([take(lanes, A, 5), take(lanes, B, 5)]).toEqual([1, 1])
  })

  it('wakes an org that waits for its part only when it may start something', () => {
    let told = 0
    const lanes = shared(10, () => (told += 1))
    const releases = Array.from({ length: 8 }, () => lanes.hold({ orgId: A, lane: MAIN, catchup: false }))
    expect(take(lanes, A, 1)).toBe(0)
    const other = lanes.hold({ orgId: B, lane: MAIN, catchup: false })
    other()
    expect([...lanes.waiting()]).toEqual([])
    expect(lanes.hasRoom(MAIN, A)).toBe(false)
    expect(lanes.hasRoom(MAIN, B)).toBe(true)
    releases[0]?.()
    expect([...lanes.waiting()]).toEqual([A])
    expect(told).toBeGreaterThan(0)
  })

  it('ends nothing when its part becomes smaller, and tells who waits when it becomes larger', () => {
    let told = 0
    const lanes = shared(10, () => (told += 1))
    expect(take(lanes, A, 100)).toBe(8)
    lanes.limitOrgs(0.5)
    expect([lanes.heldBy(A, MAIN), take(lanes, A, 1), told]).toEqual([8, 0, 0])
    lanes.limitOrgs(1)
    expect([told, take(lanes, A, 100)]).toEqual([1, 2])
  })

  it('never has an org beyond its part, nor keeps an org without a slot from the last ones', () => {
    const steps = fc.array(fc.record({ org: fc.nat(4), wanted: fc.nat(12), ends: fc.boolean() }), { maxLength: 60 })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        steps,
        (size, share, all) => {
          const lanes = createNodeLanes(new Map([[MAIN, size]]))
          lanes.limitOrgs(share)
          const held = new Map<number, (() => void)[]>()
          for (const { org, wanted, ends } of all) {
            const [id, own] = [orgId(`o${org}`), held.get(org) ?? []]
            held.set(org, own)
            if (ends) own.pop()?.()
            else {
              const free = size - lanes.heldIn(MAIN)
              const count = offer(lanes, id).size
              lanes.withdrawOffer(id)
              expect(own.length + count).toBeLessThanOrEqual(
                Math.max(own.length, Math.max(1, Math.floor(size * share + 1e-9))),
              )
              if (own.length === 0 && free > 0) expect(count).toBeGreaterThan(0)
              for (let n = 0; n < Math.min(count, wanted); n += 1)
                own.push(lanes.hold({ orgId: id, lane: MAIN, catchup: false }))
            }
            expect(lanes.largestOrgIn(MAIN)?.held ?? 0).toBe(
              Math.max(0, ...[...held.values()].map(({ length }) => length)),
            )
          }
        },
      ),
    )
  })
})

describe('an org that holds its share of a lane and waits for more', () => {
  const [SHARE, SIZE] = [0.5, 10]

  it('is no rival of others for what is free', () => {
    const lanes = createNodeLanes(new Map([[MAIN, SIZE]]))
    lanes.limitOrgs(SHARE)
    expect(take(lanes, A, 9)).toBe(5)
    expect(take(lanes, B, 2)).toBe(2)
    // A waits and has as much as it may; of three free slots one is kept for orgs that hold none.
    expect(offer(lanes, B).size).toBe(2)
  })

  it('is not woken by slots that it may not take', () => {
    let told = 0
    const lanes = createNodeLanes(new Map([[MAIN, SIZE]]), () => (told += 1))
    lanes.limitOrgs(SHARE)
    expect(take(lanes, A, 9)).toBe(5)
    // B is offered slots and takes none, again and again.
    for (let turn = 0; turn < 3; turn += 1) take(lanes, B, 0)
    offer(lanes, B)
    lanes.settleOffer(B)
    expect(told).toBe(0)
    expect([...lanes.waiting()]).toEqual([])
  })
})

describe('an org that is kept from catching up while another org catches up', () => {
  const blocked = (onFree: () => void): { readonly lanes: NodeLanes; readonly release: () => void } => {
    const lanes = createNodeLanes(new Map([[MAIN, 4]]), onFree)
    const release = lanes.hold({ orgId: B, lane: MAIN, catchup: true })
    lanes.offer({ orgId: A, nodeId: 'n', isReady: () => false, catchupLimit: 1, awaitsCatchup: () => true })
    return { lanes, release }
  }

  it('is woken when the catch-up run of the other org ends after it has decided', () => {
    let woken = 0
    const { lanes, release } = blocked(() => (woken += 1))
    lanes.settleOffer(A)
    expect(woken).toBe(0)
    release()
    expect(woken).toBe(1)
  })

  it('is woken when the catch-up run of the other org ends before it has decided', () => {
    let woken = 0
    const { lanes, release } = blocked(() => (woken += 1))
    release()
    expect(woken).toBe(0)
    lanes.settleOffer(A)
    expect(woken).toBe(1)
    expect([...lanes.waiting()]).toEqual([A])
  })

  it('is not woken when another catch-up run has taken the place', () => {
    let woken = 0
    const { lanes, release } = blocked(() => (woken += 1))
    release()
    lanes.hold({ orgId: B, lane: MAIN, catchup: true })
    lanes.settleOffer(A)
    expect(woken).toBe(0)
  })
})

describe('a catch-up run that a transaction has claimed and not started', () => {
  const claiming = (onFree: () => void): NodeLanes => {
    const lanes = createNodeLanes(new Map([[MAIN, 4]]), onFree)
    const offered = lanes.offer({ orgId: B, nodeId: 'n', isReady: () => true, catchupLimit: 1 })
    offered.catchup.inFlight += 1
    return lanes
  }
  const offerToOther = (lanes: NodeLanes): number =>
    lanes.offer({ orgId: A, nodeId: 'n', isReady: () => false, catchupLimit: 1, awaitsCatchup: () => true }).catchup
      .inFlight

  it.each([
    ['before', []],
    ['after', [B]],
  ])('takes its place from others %s the transaction is decided', (_, decided) => {
    const lanes = claiming(() => undefined)
    for (const id of decided) lanes.settleOffer(id)
    expect(lanes.catchups()).toBe(1)
    expect(offerToOther(lanes)).toBe(1)
  })

  it('counts once when it has started', () => {
    let woken = 0
    const lanes = claiming(() => (woken += 1))
    lanes.settleOffer(B)
    offerToOther(lanes)
    lanes.settleOffer(A)
    lanes.withdrawOffer(A)
    const release = lanes.hold({ orgId: B, lane: MAIN, catchup: true })
    lanes.withdrawOffer(B)
    expect(lanes.catchups()).toBe(1)
    expect(woken).toBe(0)
    release()
    expect(lanes.catchups()).toBe(0)
    expect(woken).toBe(1)
  })

  it('leaves its place, and whoever waits for one is woken, when the transaction fails', () => {
    let woken = 0
    const lanes = claiming(() => (woken += 1))
    lanes.settleOffer(B)
    offerToOther(lanes)
    lanes.settleOffer(A)
    lanes.withdrawOffer(A)
    expect(woken).toBe(0)
    lanes.withdrawOffer(B)
    expect(lanes.catchups()).toBe(0)
    expect(woken).toBe(1)
    expect([...lanes.waiting()]).toContain(A)
  })
})

describe('an org that has taken the last catch-up place itself', () => {
  it('is not woken before that run has ended', () => {
    let woken = 0
    const lanes = createNodeLanes(new Map([[MAIN, 4]]), () => (woken += 1))
    const offered = lanes.offer({ orgId: A, nodeId: 'n', isReady: () => true, catchupLimit: 1 })
    offered.catchup.inFlight += 1
    const lane = offered.lanes.get(MAIN)
    if (lane !== undefined) lane.held = 1
    lanes.settleOffer(A)
    expect(woken).toBe(0)
    lanes.hold({ orgId: A, lane: MAIN, catchup: true })()
    expect(woken).toBe(1)
  })
})
