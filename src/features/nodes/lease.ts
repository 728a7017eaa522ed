import type { Instant } from '../../domain/instant.ts'

/** A stored lease. */
export interface StoredLease {
  readonly id: string
  readonly leaseUntil: Instant
}

/** When a read of the leases was sent and answered, by a monotonic clock, and the settings of the watch. */
export interface LeaseRead {
  readonly askedAt: number
  readonly answeredAt: number
  readonly leaseMs: number
  /** The interval between reads. */
  readonly everyMs: number
}

/** Decides by observation which leases have lapsed. */
export interface LeaseWatch {
  /** Adds a read of all leases. Returns the ids of those not renewed for a whole lease duration. */
  readonly observe: (leases: readonly StoredLease[], read: LeaseRead) => ReadonlySet<string>
}

/** If every read is late, a lease counts as lapsed after this many times its duration. */
const LATE_LEASE_FACTOR = 3

interface LeaseObservation {
  readonly leaseUntil: Instant
  /** How long it was seen unchanged by reads in time. */
  readonly seenMs: number
  /** How long it was seen unchanged by all reads; the gap before a late read counts only in part. */
  readonly totalMs: number
}

/**
 * A lease has lapsed when this watcher has seen it unchanged for a whole lease duration by its own monotonic clock. The
 * time in the lease is never compared with a clock, so a clock that is set ends no lease. A late read restarts the
 * observation, because whatever delayed the watcher may also have kept other nodes from renewing.
 */
export function createLeaseWatch(): LeaseWatch {
  let observations = new Map<string, LeaseObservation>()
  let lastAnsweredAt: number | null = null
  return {
    observe: (leases, { askedAt, answeredAt, leaseMs, everyMs }) => {
      const maxGapMs = Math.max(3 * everyMs, leaseMs / 3)
      const gapMs = lastAnsweredAt === null ? 0 : askedAt - lastAnsweredAt
      const isLate = gapMs > maxGapMs
      lastAnsweredAt = answeredAt
      const lapsed = new Set<string>()
      const next: typeof observations = new Map()
      for (const { id, leaseUntil } of leases) {
        const previous = observations.get(id)
        const isSame = previous?.leaseUntil === leaseUntil
        const seenMs = isSame && !isLate ? previous.seenMs + gapMs : 0
        const totalMs = isSame ? previous.totalMs + Math.min(gapMs, maxGapMs) : 0
        next.set(id, { leaseUntil, seenMs, totalMs })
        if (seenMs >= leaseMs || totalMs >= LATE_LEASE_FACTOR * leaseMs) lapsed.add(id)
      }
      observations = next
      return lapsed
    },
  }
}
