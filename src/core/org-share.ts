/** A share of 1 limits nothing, which is also what holds while the deployment has one org. */
export const NO_ORG_SHARE = 1

/** A product such as 100 × 0.57 is a hair below the whole number that it means. */
const ROUNDING = 1e-9

/** How many of a lane's slots one org may hold on a node: at least one, or nothing of it would ever run. */
export const maxOrgSlots = (size: number, share: number): number =>
  share >= NO_ORG_SHARE ? size : Math.min(size, Math.max(1, Math.floor(size * share + ROUNDING)))

/** How many free slots are kept for orgs that hold none in the lane. */
export const keptSlots = (size: number, share: number): number =>
  share >= NO_ORG_SHARE || size < 2 ? 0 : Math.max(1, Math.floor(size / 10))

/** What an org holds of a lane on a node, and what is free there. */
export interface OrgInLane {
  readonly size: number
  readonly free: number
  /** Slots that the org holds. */
  readonly held: number
}

/** How many more runs of the org may start in the lane, one after the other, if no other org starts any. */
export function orgRoom({ size, free, held }: OrgInLane, share: number): number {
  const first = held === 0 && free > 0 ? 1 : 0
  const room = Math.max(first, free - keptSlots(size, share))
  return Math.max(0, Math.min(room, maxOrgSlots(size, share) - held))
}
