import type { LaneName, OrgId } from '../domain/ids.ts'
import type { LaneSizes } from '../domain/queue/lanes.ts'
import { NO_ORG_SHARE, orgRoom } from '../core/org-share.ts'
import type { Offer } from './turn/claim.ts'

/**
 * The lanes of this node: how many slots each has, who holds them, and what is reserved for a turn under way. A turn
 * reserves slots while it decides and keeps those it has claimed until it is over, so turns of different orgs never start
 * more than there is room for.
 */
export interface NodeLanes {
  readonly sizes: () => LaneSizes
  readonly resize: (sizes: LaneSizes) => void
  /** Reserves what the org may take now, in the lanes in which it has ready work. */
  readonly offer: (asked: OfferRequest) => Offer
  /** The turn has decided: it keeps what it has claimed. An org that could have used more slots is remembered. */
  readonly decided: (orgId: OrgId) => void
  /** The turn is over: what was reserved for it is free again. */
  readonly withdraw: (orgId: OrgId) => void
  /** The process works on an attempt of the org in this lane. Answers with how to give the slot back. */
  readonly hold: (held: Held) => () => void
  readonly heldIn: (lane: LaneName) => number
  /** From now on an org may hold this part of each lane; 1 is no limit. What it holds beyond that is not ended. */
  readonly limitOrgs: (share: number) => void
  /** The part of a lane that one org may hold at the moment. */
  readonly orgShare: () => number
  readonly heldBy: (orgId: OrgId, lane: LaneName) => number
  /** The org with the most slots of the lane on this node; null when no slot is taken. */
  readonly largestOrgIn: (lane: LaneName) => { readonly orgId: OrgId; readonly held: number } | null
  /** Catch-up runs this node works on. */
  readonly catchups: () => number
  /** Whether another run of the org could start in the lane now. */
  readonly hasRoom: (lane: LaneName, orgId: OrgId) => boolean
  /** Orgs that could use a slot that is free now. */
  readonly waiting: () => ReadonlySet<OrgId>
  /** Nothing is remembered of the org any more. */
  readonly forget: (orgId: OrgId) => void
}

export interface Held {
  readonly orgId: OrgId
  readonly lane: LaneName
  readonly catchup: boolean
}

export interface OfferRequest {
  readonly orgId: OrgId
  readonly nodeId: string
  /** Whether the org has something ready in the lane, now or when it has decided. */
  readonly isReady: (lane: LaneName) => boolean
  readonly catchupLimit: number
  /** Whether the org holds occurrences that a free catch-up place would release. Left out: it does not. */
  readonly awaitsCatchup?: () => boolean
}

interface Slots {
  size: number
  held: number
  /** The sum of what is reserved. */
  reserved: number
  readonly byOrg: Map<OrgId, number>
  readonly reservations: Map<OrgId, number>
  /** Orgs that have taken all they were offered and have more ready work. */
  readonly waiting: Set<OrgId>
  /** Grows with every slot taken: who was served last in this lane. */
  readonly servedAt: Map<OrgId, number>
}

interface Deciding {
  readonly offer: Offer
  readonly isReady: (lane: LaneName) => boolean
  readonly awaitsCatchup: () => boolean
}

interface State {
  readonly lanes: Map<LaneName, Slots>
  readonly deciding: Map<OrgId, Deciding>
  /** Orgs that have catch-up runs beyond the node's limit. */
  readonly catchingUp: Set<OrgId>
  served: number
  catchups: number
  /** The part of a lane that one org may hold; 1 is no limit. */
  share: number
  readonly onFree: OnFree
}

/**
 * Called when slots come free that an org waits for, with the org that has left them, if it had the choice: it has just
 * looked at them, and nothing is gained by asking it again.
 */
export type OnFree = (leftBy: OrgId | null) => void

export function createNodeLanes(first: LaneSizes, onFree: OnFree = () => undefined): NodeLanes {
  const lanes = new Map<LaneName, Slots>()
  const state: State = {
    lanes,
    deciding: new Map(),
    catchingUp: new Set(),
    served: 0,
    catchups: 0,
    share: NO_ORG_SHARE,
    onFree,
  }
  const resize = (sizes: LaneSizes): void => {
    for (const [name, size] of sizes) {
      const known = lanes.get(name)
      if (known === undefined) lanes.set(name, emptySlots(size))
      else known.size = size
    }
  }
  resize(first)
  return {
    sizes: () => new Map([...lanes].map(([name, { size }]) => [name, size])),
    resize,
    offer: (asked) => offerTo(state, asked),
    decided: (orgId) => {
      decided(state, orgId)
    },
    withdraw: (orgId) => {
      withdraw(state, orgId)
    },
    hold: (held) => hold(state, held),
    heldIn: (lane) => lanes.get(lane)?.held ?? 0,
    limitOrgs: (share) => {
      const isMore = share > state.share
      state.share = share
      if (isMore && [...lanes.values()].some((slots) => isWanted(state, slots))) onFree(null)
    },
    orgShare: () => state.share,
    heldBy: (orgId, lane) => lanes.get(lane)?.byOrg.get(orgId) ?? 0,
    largestOrgIn: (lane) => largestOrg(lanes.get(lane)),
    catchups: () => state.catchups,
    hasRoom: (lane, orgId) => {
      const slots = lanes.get(lane)
      return slots !== undefined && roomFor(state, slots, orgId) > 0
    },
    waiting: () => {
      const found = new Set<OrgId>(state.catchingUp)
      for (const slots of lanes.values())
        if (freeIn(slots) > 0) for (const orgId of slots.waiting) if (roomFor(state, slots, orgId) > 0) found.add(orgId)
      return found
    },
    forget: (orgId) => {
      state.catchingUp.delete(orgId)
      for (const slots of lanes.values()) {
        slots.waiting.delete(orgId)
        slots.servedAt.delete(orgId)
      }
    },
  }
}

function offerTo(state: State, asked: OfferRequest): Offer {
  const { lanes, deciding, catchups } = state
  const { orgId, nodeId, isReady, catchupLimit, awaitsCatchup = () => false } = asked
  const offered = new Map<LaneName, { readonly size: number; held: number }>()
  for (const [name, slots] of lanes) {
    const share = isReady(name) ? Math.min(shareOf(state, slots, orgId), roomFor(state, slots, orgId)) : 0
    reserve(slots, orgId, share)
    if (share > 0) offered.set(name, { size: share, held: 0 })
  }
  const offer = { nodeId, lanes: offered, catchup: { inFlight: catchups, limit: catchupLimit } }
  deciding.set(orgId, { offer, isReady, awaitsCatchup })
  return offer
}

function decided(state: State, orgId: OrgId): void {
  const { lanes, deciding, catchingUp } = state
  const turn = deciding.get(orgId)
  if (turn === undefined) return
  deciding.delete(orgId)
  const { inFlight, limit } = turn.offer.catchup
  if (inFlight >= limit && (turn.awaitsCatchup() || [...lanes.keys()].some(turn.isReady))) catchingUp.add(orgId)
  else catchingUp.delete(orgId)
  for (const [name, slots] of lanes) {
    const { size, held } = turn.offer.lanes.get(name) ?? NOTHING_OFFERED
    reserve(slots, orgId, held)
    const waits = size === held && turn.isReady(name)
    // One that waits no longer may have been preferred to others without being offered anything.
    const leaves = size > held || (!waits && slots.waiting.has(orgId))
    if (waits) slots.waiting.add(orgId)
    else slots.waiting.delete(orgId)
    if (leaves && isWanted(state, slots)) state.onFree(orgId)
  }
}

function withdraw(state: State, orgId: OrgId): void {
  const isUndecided = state.deciding.delete(orgId)
  for (const slots of state.lanes.values()) {
    const before = slots.reserved
    reserve(slots, orgId, 0)
    // What a turn has claimed that was kept is held by now, so nothing has come free.
    if (!isUndecided) continue
    slots.waiting.delete(orgId)
    if (slots.reserved < before && isWanted(state, slots)) state.onFree(orgId)
  }
}

function hold(state: State, { orgId, lane, catchup }: Held): () => void {
  const slots = state.lanes.get(lane)
  if (slots === undefined) return () => undefined
  state.served += 1
  slots.held += 1
  slots.byOrg.set(orgId, (slots.byOrg.get(orgId) ?? 0) + 1)
  slots.servedAt.set(orgId, state.served)
  if (catchup) state.catchups += 1
  let given = false
  return () => {
    if (given) return
    given = true
    slots.held -= 1
    const left = (slots.byOrg.get(orgId) ?? 1) - 1
    if (left > 0) slots.byOrg.set(orgId, left)
    else slots.byOrg.delete(orgId)
    if (catchup) state.catchups -= 1
    if (isWanted(state, slots) || (catchup && state.catchingUp.size > 0)) state.onFree(null)
  }
}

const NOTHING_OFFERED = { size: 0, held: 0 }

const emptySlots = (size: number): Slots => ({
  ...{ size, held: 0, reserved: 0, waiting: new Set() },
  ...{ byOrg: new Map(), reservations: new Map(), servedAt: new Map() },
})

function reserve(slots: Slots, orgId: OrgId, count: number): void {
  slots.reserved += count - (slots.reservations.get(orgId) ?? 0)
  if (count > 0) slots.reservations.set(orgId, count)
  else slots.reservations.delete(orgId)
}

const freeIn = ({ size, held, reserved }: Slots): number => Math.max(0, size - held - reserved)

/** Whether an org waits for a slot of the lane that it may take. */
function isWanted(state: State, slots: Slots): boolean {
  for (const orgId of slots.waiting) if (roomFor(state, slots, orgId) > 0) return true
  return false
}

/** How many free slots the org may take before it holds its part of the lane. */
function roomFor({ share }: State, slots: Slots, orgId: OrgId): number {
  const free = freeIn(slots)
  if (share >= NO_ORG_SHARE) return free
  const held = (slots.byOrg.get(orgId) ?? 0) + (slots.reservations.get(orgId) ?? 0)
  return orgRoom({ size: slots.size, free, held }, share)
}

function largestOrg(slots: Slots | undefined): { readonly orgId: OrgId; readonly held: number } | null {
  let most: { readonly orgId: OrgId; readonly held: number } | null = null
  for (const [orgId, held] of slots?.byOrg ?? []) if (most === null || held > most.held) most = { orgId, held }
  return most
}

/**
 * The free slots are dealt one by one to the org with the fewest in the lane, each tie to the one that was served longest
 * ago; this is what falls to the org. Orgs at the same level are served in the order in which they reached it, so the
 * result follows from the level that all reach, without dealing. With no other org waiting it is all of them.
 */
function shareOf(state: State, slots: Slots, orgId: OrgId): number {
  const free = freeIn(slots)
  const seats: Seat[] = []
  for (const id of slots.waiting)
    if (id !== orgId && !slots.reservations.has(id) && roomFor(state, slots, id) > 0) seats.push(seatOf(slots, id))
  if (free === 0 || seats.length === 0) return free
  const mine = seatOf(slots, orgId)
  seats.push(mine)
  seats.sort((a, b) => a.count - b.count)
  let [level, left, reached] = [seats[0]?.count ?? 0, free, 0]
  for (; reached < seats.length; reached += 1) {
    const rise = ((seats[reached]?.count ?? 0) - level) * reached
    if (rise > left) break
    left -= rise
    level = seats[reached]?.count ?? level
  }
  const rounds = Math.floor(left / reached)
  level += rounds
  left -= rounds * reached
  if (mine.count > level) return 0
  const before = seats.slice(0, reached).filter((seat) => isServedBefore(seat, mine))
  return level - mine.count + (before.length < left ? 1 : 0)
}

interface Seat {
  readonly id: OrgId
  readonly count: number
  readonly servedAt: number
}

const seatOf = (slots: Slots, id: OrgId): Seat => ({
  id,
  count: slots.byOrg.get(id) ?? 0,
  servedAt: slots.servedAt.get(id) ?? 0,
})

/** Of two orgs at the same level, the one that had more before has reached it first. */
const isServedBefore = (a: Seat, b: Seat): boolean =>
  a.count !== b.count ? a.count > b.count : a.servedAt !== b.servedAt ? a.servedAt < b.servedAt : a.id < b.id
