import { Refusal } from '../../api/refusals.ts'
import type { OrgId } from '../../domain/ids.ts'

/** Counts the slots of a limited resource of the node, by org. */
export interface SlotCounter {
  /** Takes a slot, or rejects. Returns a function that releases it, which may be called twice. */
  readonly acquire: (orgId: OrgId) => () => void
  readonly size: () => number
}

/** The limits of the node and of one org. Read each time. */
export interface SlotLimits {
  readonly all: number
  readonly perOrg: number
}

/** The suggested delay before a retry. */
const SLOT_RETRY_MS = 10_000

/** Creates a counter; `what` is the plural name in error messages, such as `streams`. */
export function createSlotCounter(what: string, limits: () => SlotLimits): SlotCounter {
  const byOrg = new Map<OrgId, number>()
  let used = 0
  return {
    acquire: (orgId) => {
      const { all, perOrg } = limits()
      const own = byOrg.get(orgId) ?? 0
      if (used >= all)
        throw limitReached(
          `This node has reached its limit of ${all} open ${what}; retry in ${SLOT_RETRY_MS / 1_000} seconds`,
        )
      if (own >= perOrg) throw limitReached(`The org has reached its limit of ${perOrg} open ${what} on this node`)
      used += 1
      byOrg.set(orgId, own + 1)
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        used -= 1
        const left = (byOrg.get(orgId) ?? 1) - 1
        if (left === 0) byOrg.delete(orgId)
        else byOrg.set(orgId, left)
      }
    },
    size: () => used,
  }
}

const limitReached = (detail: string): Refusal => new Refusal('RATE_LIMITED', detail, { retryAfterMs: SLOT_RETRY_MS })
