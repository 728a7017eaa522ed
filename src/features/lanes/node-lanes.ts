import type { LaneName, OrgId } from '../../domain/ids.ts'
import { type LaneSizes, NO_ORG_SHARE, orgRoom } from '../../domain/queue/lanes.ts'
import type { SlotOffer } from '../../engine/transaction/claim.ts'

/**
 * The lanes of this node: the slots of each lane, the orgs that hold them, and the slots reserved for transactions in
 * progress. A transaction reserves slots while it decides and keeps the claimed ones until it ends, so that concurrent
 * transactions of different orgs never start more runs than there are slots.
 */
export interface NodeLanes {
  readonly sizes: () => LaneSizes
  readonly resize: (sizes: LaneSizes) => void
  /** Reserves the slots the org may use now, in the lanes in which it has ready runs. */
  readonly offer: (request: OfferRequest) => SlotOffer
  /** Reduces the reservation to the claimed slots after the decision, and notes an org that could have used more. */
  readonly settleOffer: (orgId: OrgId) => void
  /** Frees the reservation when the transaction has ended. */
  readonly withdrawOffer: (orgId: OrgId) => void
  /** Takes a slot for an attempt that this process executes. Returns the function that releases it. */
  readonly hold: (held: HeldSlot) => () => void
  readonly heldIn: (lane: LaneName) => number
  /** Sets the part of each lane that one org may hold; 1 is no limit. Slots already held beyond it are kept. */
  readonly limitOrgs: (share: number) => void
  /** The part of a lane that one org may currently hold. */
  readonly orgShare: () => number
  readonly heldBy: (orgId: OrgId, lane: LaneName) => number
  /** The org with the most slots of the lane on this node; null when no slot is taken. */
  readonly largestOrgIn: (lane: LaneName) => { readonly orgId: OrgId; readonly held: number } | null
  /** How many catch-up runs this node executes, including those claimed by transactions in progress. */
  readonly catchups: () => number
  /** Whether another run of the org could start in the lane now. */
  readonly hasRoom: (lane: LaneName, orgId: OrgId) => boolean
  /** The orgs that could use a slot that is free now. */
  readonly waiting: () => ReadonlySet<OrgId>
  /** Drops everything noted about the org. */
  readonly forget: (orgId: OrgId) => void
}

export interface HeldSlot {
  readonly orgId: OrgId
  readonly lane: LaneName
  readonly catchup: boolean
}

export interface OfferRequest {
  readonly orgId: OrgId
  readonly nodeId: string
  /** Whether the org has a ready run in the lane, at the offer and after the decision. */
  readonly isReady: (lane: LaneName) => boolean
  readonly catchupLimit: number
  /** Whether the org holds occurrences that a free catch-up slot would release. Default: no. */
  readonly awaitsCatchup?: () => boolean
}

interface LaneSlots {
  size: number
  held: number
  /** The sum of what is reserved. */
  reserved: number
  readonly byOrg: Map<OrgId, number>
  readonly reservations: Map<OrgId, number>
  /** Orgs that have claimed all offered slots and have more ready runs. */
  readonly waiting: Set<OrgId>
  /** The sequence number of the last slot each org was given, for the order of service. */
  readonly servedAt: Map<OrgId, number>
}

/** An offer to a transaction that has not ended. */
interface PendingOffer {
  readonly offer: SlotOffer
  /** Catch-up runs on this node at the offer; `offer.catchup.inFlight` grows while the transaction decides. */
  readonly catchups: number
  isDecided: boolean
  readonly isReady: (lane: LaneName) => boolean
  readonly awaitsCatchup: () => boolean
}

interface NodeLanesState {
  readonly lanes: Map<LaneName, LaneSlots>
  readonly pendingOffers: Map<OrgId, PendingOffer>
  /** Orgs with catch-up runs beyond the limit of the node. */
  readonly catchingUp: Set<OrgId>
  served: number
  catchups: number
  /** The part of a lane that one org may hold; 1 is no limit. */
  share: number
  readonly onFree: OnFree
}

/**
 * Called when a slot comes free that an org waits for. `leftBy` is the org that was offered the slot and did not use
 * it, so that it need not be offered the slot again.
 */
export type OnFree = (leftBy: OrgId | null) => void

export function createNodeLanes(initialSizes: LaneSizes, onFree: OnFree = () => undefined): NodeLanes {
  const lanes = new Map<LaneName, LaneSlots>()
  const state: NodeLanesState = {
    lanes,
    pendingOffers: new Map(),
    catchingUp: new Set(),
    served: 0,
    catchups: 0,
    share: NO_ORG_SHARE,
    onFree,
  }
  const resize = (sizes: LaneSizes): void => {
    for (const [name, size] of sizes) {
      const existing = lanes.get(name)
      if (existing === undefined) lanes.set(name, emptySlots(size))
      else existing.size = size
    }
  }
  resize(initialSizes)
  return {
    sizes: () => new Map([...lanes].map(([name, { size }]) => [name, size])),
    resize,
    offer: (request) => createOffer(state, request),
    settleOffer: (orgId) => {
      settleOffer(state, orgId)
    },
    withdrawOffer: (orgId) => {
      withdrawOffer(state, orgId)
    },
    hold: (held) => holdSlot(state, held),
    heldIn: (lane) => lanes.get(lane)?.held ?? 0,
    limitOrgs: (share) => {
      const isMore = share > state.share
      state.share = share
      if (isMore && [...lanes.values()].some((slots) => hasWaitingOrg(state, slots))) onFree(null)
    },
    orgShare: () => state.share,
    heldBy: (orgId, lane) => lanes.get(lane)?.byOrg.get(orgId) ?? 0,
    largestOrgIn: (lane) => largestOrg(lanes.get(lane)),
    catchups: () => catchupsOf(state),
    hasRoom: (lane, orgId) => {
      const slots = lanes.get(lane)
      return slots !== undefined && slotsLeftFor(state, slots, orgId) > 0
    },
    waiting: () => {
      const found = new Set<OrgId>(state.catchingUp)
      for (const slots of lanes.values())
        if (freeSlots(slots) > 0)
          for (const orgId of slots.waiting) if (slotsLeftFor(state, slots, orgId) > 0) found.add(orgId)
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

function createOffer(state: NodeLanesState, request: OfferRequest): SlotOffer {
  const { lanes, pendingOffers } = state
  const { orgId, nodeId, isReady, catchupLimit, awaitsCatchup = () => false } = request
  const offered = new Map<LaneName, { readonly size: number; held: number }>()
  for (const [name, slots] of lanes) {
    const share = isReady(name) ? Math.min(fairShare(state, slots, orgId), slotsLeftFor(state, slots, orgId)) : 0
    setReservation(slots, orgId, share)
    if (share > 0) offered.set(name, { size: share, held: 0 })
  }
  const catchups = catchupsOf(state)
  const offer = { nodeId, lanes: offered, catchup: { inFlight: catchups, limit: catchupLimit } }
  pendingOffers.set(orgId, { offer, catchups, isDecided: false, isReady, awaitsCatchup })
  return offer
}

function settleOffer(state: NodeLanesState, orgId: OrgId): void {
  const { lanes, pendingOffers, catchingUp } = state
  const pendingOffer = pendingOffers.get(orgId)
  if (pendingOffer === undefined || pendingOffer.isDecided) return
  pendingOffer.isDecided = true
  const { inFlight, limit } = pendingOffer.offer.catchup
  const isBlocked = inFlight >= limit && (pendingOffer.awaitsCatchup() || [...lanes.keys()].some(pendingOffer.isReady))
  if (isBlocked) catchingUp.add(orgId)
  else catchingUp.delete(orgId)
  // A catch-up run that ended since the offer found no waiting org, so its slot is announced here.
  const others = catchupsOf(state) - claimedCatchups(pendingOffer)
  if (isBlocked && others < Math.min(pendingOffer.catchups, limit)) state.onFree(null)
  for (const [name, slots] of lanes) {
    const { size, held } = pendingOffer.offer.lanes.get(name) ?? NOTHING_OFFERED
    setReservation(slots, orgId, held)
    const waits = size === held && pendingOffer.isReady(name)
    // An org that waits no longer may have been preferred to others without being offered a slot.
    const leaves = size > held || (!waits && slots.waiting.has(orgId))
    if (waits) slots.waiting.add(orgId)
    else slots.waiting.delete(orgId)
    if (leaves && hasWaitingOrg(state, slots)) state.onFree(orgId)
  }
}

function withdrawOffer(state: NodeLanesState, orgId: OrgId): void {
  const pendingOffer = state.pendingOffers.get(orgId)
  state.pendingOffers.delete(orgId)
  const isUndecided = pendingOffer?.isDecided === false
  // The catch-up runs claimed by a committed transaction are held by now; those of a failed one leave their places.
  if (pendingOffer !== undefined && claimedCatchups(pendingOffer) > 0 && state.catchingUp.size > 0)
    if (catchupsOf(state) < pendingOffer.offer.catchup.limit) state.onFree(orgId)
  for (const slots of state.lanes.values()) {
    const before = slots.reserved
    setReservation(slots, orgId, 0)
    // The slots claimed by a committed transaction are held by now, so none has come free.
    if (!isUndecided) continue
    slots.waiting.delete(orgId)
    if (slots.reserved < before && hasWaitingOrg(state, slots)) state.onFree(orgId)
  }
}

const claimedCatchups = ({ offer, catchups }: PendingOffer): number => offer.catchup.inFlight - catchups

function catchupsOf({ catchups, pendingOffers }: NodeLanesState): number {
  let claimed = 0
  for (const pendingOffer of pendingOffers.values()) claimed += claimedCatchups(pendingOffer)
  return catchups + claimed
}

function holdSlot(state: NodeLanesState, { orgId, lane, catchup }: HeldSlot): () => void {
  const slots = state.lanes.get(lane)
  if (slots === undefined) return () => undefined
  state.served += 1
  slots.held += 1
  slots.byOrg.set(orgId, (slots.byOrg.get(orgId) ?? 0) + 1)
  slots.servedAt.set(orgId, state.served)
  if (catchup) state.catchups += 1
  let isReleased = false
  return () => {
    if (isReleased) return
    isReleased = true
    slots.held -= 1
    const left = (slots.byOrg.get(orgId) ?? 1) - 1
    if (left > 0) slots.byOrg.set(orgId, left)
    else slots.byOrg.delete(orgId)
    if (catchup) state.catchups -= 1
    if (hasWaitingOrg(state, slots) || (catchup && state.catchingUp.size > 0)) state.onFree(null)
  }
}

const NOTHING_OFFERED = { size: 0, held: 0 }

const emptySlots = (size: number): LaneSlots => ({
  ...{ size, held: 0, reserved: 0, waiting: new Set() },
  ...{ byOrg: new Map(), reservations: new Map(), servedAt: new Map() },
})

function setReservation(slots: LaneSlots, orgId: OrgId, count: number): void {
  slots.reserved += count - (slots.reservations.get(orgId) ?? 0)
  if (count > 0) slots.reservations.set(orgId, count)
  else slots.reservations.delete(orgId)
}

const freeSlots = ({ size, held, reserved }: LaneSlots): number => Math.max(0, size - held - reserved)

/** Whether an org waits for a slot of the lane that it may use. */
function hasWaitingOrg(state: NodeLanesState, slots: LaneSlots): boolean {
  for (const orgId of slots.waiting) if (slotsLeftFor(state, slots, orgId) > 0) return true
  return false
}

/** How many free slots the org may use before it reaches its limit in the lane. */
function slotsLeftFor({ share }: NodeLanesState, slots: LaneSlots, orgId: OrgId): number {
  const free = freeSlots(slots)
  if (share >= NO_ORG_SHARE) return free
  const held = (slots.byOrg.get(orgId) ?? 0) + (slots.reservations.get(orgId) ?? 0)
  return orgRoom({ size: slots.size, free, held }, share)
}

function largestOrg(slots: LaneSlots | undefined): { readonly orgId: OrgId; readonly held: number } | null {
  let largest: { readonly orgId: OrgId; readonly held: number } | null = null
  for (const [orgId, held] of slots?.byOrg ?? []) if (largest === null || held > largest.held) largest = { orgId, held }
  return largest
}

/**
 * Returns the org's share of the free slots of a lane. Each free slot goes to the waiting org with the fewest slots,
 * and in a tie to the org served longest ago. Orgs with the same number are served in the order in which they reached
 * it, so the share follows from the final number of slots per org, without a loop over slots. An org that waits alone
 * gets all.
 */
function fairShare(state: NodeLanesState, slots: LaneSlots, orgId: OrgId): number {
  const free = freeSlots(slots)
  const uses: LaneUse[] = []
  for (const id of slots.waiting)
    if (id !== orgId && !slots.reservations.has(id) && slotsLeftFor(state, slots, id) > 0)
      uses.push(laneUseOf(slots, id))
  if (free === 0 || uses.length === 0) return free
  const own = laneUseOf(slots, orgId)
  uses.push(own)
  uses.sort((a, b) => a.count - b.count)
  let [level, left, reached] = [uses[0]?.count ?? 0, free, 0]
  for (; reached < uses.length; reached += 1) {
    const rise = ((uses[reached]?.count ?? 0) - level) * reached
    if (rise > left) break
    left -= rise
    level = uses[reached]?.count ?? level
  }
  const rounds = Math.floor(left / reached)
  level += rounds
  left -= rounds * reached
  if (own.count > level) return 0
  const before = uses.slice(0, reached).filter((use) => isServedBefore(use, own))
  return level - own.count + (before.length < left ? 1 : 0)
}

interface LaneUse {
  readonly id: OrgId
  readonly count: number
  readonly servedAt: number
}

const laneUseOf = (slots: LaneSlots, id: OrgId): LaneUse => ({
  id,
  count: slots.byOrg.get(id) ?? 0,
  servedAt: slots.servedAt.get(id) ?? 0,
})

/** Whether `a` is served before `b` at the same number of slots: the org that had more before has reached it first. */
const isServedBefore = (a: LaneUse, b: LaneUse): boolean =>
  a.count !== b.count ? a.count > b.count : a.servedAt !== b.servedAt ? a.servedAt < b.servedAt : a.id < b.id
