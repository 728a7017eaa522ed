import { Refusal } from '../api/refusals.ts'
import type { OrgId } from '../domain/ids.ts'

/** Of something that a node has only so many of: how many are taken, and by which org. */
export interface Places {
  /** Takes one, or refuses. Answers with how to give it back; to do so again changes nothing. */
  readonly take: (orgId: OrgId) => () => void
  readonly size: () => number
}

/** How many there are, for everybody and for one org. Asked anew each time. */
export interface MostPlaces {
  readonly all: number
  readonly perOrg: number
}

/** How soon it is worth trying again. */
const RETRY_MS = 10_000

/** Counts places; `what` is their name in refusals, as `streams`. */
export function createPlaces(what: string, most: () => MostPlaces): Places {
  const byOrg = new Map<OrgId, number>()
  let taken = 0
  return {
    take: (orgId) => {
      const { all, perOrg } = most()
      const own = byOrg.get(orgId) ?? 0
      if (taken >= all) throw full(`This node has ${all} ${what} open and takes no more for now`)
      if (own >= perOrg) throw full(`The org has ${perOrg} ${what} open at this node, which is as many as it may have`)
      taken += 1
      byOrg.set(orgId, own + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        taken -= 1
        const left = (byOrg.get(orgId) ?? 1) - 1
        if (left === 0) byOrg.delete(orgId)
        else byOrg.set(orgId, left)
      }
    },
    size: () => taken,
  }
}

const full = (detail: string): Refusal => new Refusal('RATE_LIMITED', detail, { retryAfterMs: RETRY_MS })
