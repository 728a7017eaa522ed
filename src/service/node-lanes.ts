import type { LaneName, OrgId } from '../core/ids.ts'
import type { LaneSizes } from '../core/lanes.ts'
import type { Offer } from './turn/claim.ts'

/**
 * The lanes of this node: how many slots each has, who holds them, and what is on offer to a turn under way. What a turn
 * is offered is set aside for it until it is over, so turns of different orgs never start more than there is room for.
 */
export interface NodeLanes {
  readonly sizes: () => LaneSizes
  readonly resize: (sizes: LaneSizes) => void
  /** Sets aside what the org may take now. `rivals` are orgs that want the same lanes. */
  readonly offer: (asked: OfferRequest) => Offer
  /** The turn is over: what was set aside for it is free again. */
  readonly withdraw: (orgId: OrgId) => void
  /** The process works on an attempt of the org in this lane. Answers with how to give the slot back. */
  readonly hold: (held: Held) => () => void
  readonly heldIn: (lane: LaneName) => number
  /** Catch-up runs this node works on. */
  readonly catchups: () => number
  readonly hasRoom: (lane: LaneName) => boolean
}

export interface Held {
  readonly orgId: OrgId
  readonly lane: LaneName
  readonly catchup: boolean
}

export interface OfferRequest {
  readonly orgId: OrgId
  readonly nodeId: string
  readonly rivals: (lane: LaneName) => readonly OrgId[]
  readonly catchupLimit: number
}

interface Slots {
  size: number
  held: number
  readonly byOrg: Map<OrgId, number>
  readonly offered: Map<OrgId, number>
  /** Grows with every slot taken: who was served last in this lane. */
  readonly servedAt: Map<OrgId, number>
}

export function createNodeLanes(first: LaneSizes): NodeLanes {
  const lanes = new Map<LaneName, Slots>()
  let served = 0
  let catchups = 0
  const resize = (sizes: LaneSizes): void => {
    for (const [name, size] of sizes) {
      const known = lanes.get(name)
      if (known === undefined)
        lanes.set(name, { size, held: 0, byOrg: new Map(), offered: new Map(), servedAt: new Map() })
      else known.size = size
    }
  }
  resize(first)
  return {
    sizes: () => new Map([...lanes].map(([name, { size }]) => [name, size])),
    resize,
    offer: ({ orgId, nodeId, rivals, catchupLimit }) => {
      const offered = new Map<LaneName, { readonly size: number; held: number }>()
      for (const [name, slots] of lanes) {
        const share = shareOf(slots, orgId, rivals(name))
        if (share === 0) continue
        slots.offered.set(orgId, share)
        offered.set(name, { size: share, held: 0 })
      }
      return { nodeId, lanes: offered, catchup: { inFlight: catchups, limit: catchupLimit } }
    },
    withdraw: (orgId) => {
      for (const slots of lanes.values()) slots.offered.delete(orgId)
    },
    hold: ({ orgId, lane, catchup }) => {
      const slots = lanes.get(lane)
      if (slots === undefined) return () => undefined
      served += 1
      slots.held += 1
      slots.byOrg.set(orgId, (slots.byOrg.get(orgId) ?? 0) + 1)
      slots.servedAt.set(orgId, served)
      if (catchup) catchups += 1
      let given = false
      return () => {
        if (given) return
        given = true
        slots.held -= 1
        slots.byOrg.set(orgId, (slots.byOrg.get(orgId) ?? 1) - 1)
        if (catchup) catchups -= 1
      }
    },
    heldIn: (lane) => lanes.get(lane)?.held ?? 0,
    catchups: () => catchups,
    hasRoom: (lane) => {
      const slots = lanes.get(lane)
      return slots !== undefined && freeIn(slots) > 0
    },
  }
}

function freeIn(slots: Slots): number {
  let free = slots.size - slots.held
  for (const offered of slots.offered.values()) free -= offered
  return Math.max(0, free)
}

/**
 * Deals the free slots one by one to the org with the fewest in the lane, each tie to the one unserved longest, and
 * answers with what falls to this org. With no rivals it is all of them.
 */
function shareOf(slots: Slots, orgId: OrgId, rivals: readonly OrgId[]): number {
  const free = freeIn(slots)
  const others = rivals.filter((rival) => rival !== orgId && !slots.offered.has(rival))
  if (free === 0 || others.length === 0) return free
  const seats = [orgId, ...others].map((id) => ({
    id,
    count: slots.byOrg.get(id) ?? 0,
    servedAt: slots.servedAt.get(id) ?? 0,
  }))
  let share = 0
  for (let dealt = 0; dealt < free; dealt += 1) {
    const next = seats.reduce((best, seat) => (goesBefore(seat, best) ? seat : best))
    next.count += 1
    next.servedAt = Number.MAX_SAFE_INTEGER - free + dealt
    if (next.id === orgId) share += 1
  }
  return share
}

const goesBefore = (
  a: { readonly count: number; readonly servedAt: number; readonly id: string },
  b: { readonly count: number; readonly servedAt: number; readonly id: string },
): boolean =>
  a.count !== b.count ? a.count < b.count : a.servedAt !== b.servedAt ? a.servedAt < b.servedAt : a.id < b.id
