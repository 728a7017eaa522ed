import type { Instant } from '../domain/instant.ts'

/** A lease as it stands on record. */
export interface SeenLease {
  readonly id: string
  readonly leaseUntil: Instant
}

/** When a look was asked for and answered, by a counter that only counts, and how leases are watched. */
export interface LeaseLook {
  readonly askedAt: number
  readonly answeredAt: number
  readonly leaseMs: number
  /** How often leases are looked at. */
  readonly everyMs: number
}

/** Judges leases by observation. */
export interface LeaseWatch {
  /** Takes in the leases on record. Answers with the ids of those that nobody has renewed for a whole lease. */
  readonly look: (seen: readonly SeenLease[], at: LeaseLook) => ReadonlySet<string>
}

/** A watcher all of whose looks come late declares a lease lapsed after so many times its length. */
const LATE_FACTOR = 3

interface Observed {
  readonly leaseUntil: Instant
  /** How long it was seen unchanged by looks that came in time. */
  readonly seenMs: number
  /** The same over all looks; of the time before a late one only a part counts. */
  readonly totalMs: number
}

/**
 * A lease has lapsed when this watcher has seen it unchanged for a whole lease by its own counter. The time that is
 * written in it is compared with nothing, so a clock that is set takes nobody's lease. After a look that came late the
 * observation begins again: whatever kept the watcher may have kept the others from renewing.
 */
export function createLeaseWatch(): LeaseWatch {
  let known = new Map<string, Observed>()
  let last: number | null = null
  return {
    look: (seen, { askedAt, answeredAt, leaseMs, everyMs }) => {
      const maxGapMs = Math.max(3 * everyMs, leaseMs / 3)
      const gapMs = last === null ? 0 : askedAt - last
      const isLate = gapMs > maxGapMs
      last = answeredAt
      const lapsed = new Set<string>()
      const next: typeof known = new Map()
      for (const { id, leaseUntil } of seen) {
        const before = known.get(id)
        const isSame = before?.leaseUntil === leaseUntil
        const seenMs = isSame && !isLate ? before.seenMs + gapMs : 0
        const totalMs = isSame ? before.totalMs + Math.min(gapMs, maxGapMs) : 0
        next.set(id, { leaseUntil, seenMs, totalMs })
        if (seenMs >= leaseMs || totalMs >= LATE_FACTOR * leaseMs) lapsed.add(id)
      }
      known = next
      return lapsed
    },
  }
}
