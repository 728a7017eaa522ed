import type { LeaseSample } from '../records.ts'

/** When each node held its lease, as far as it was seen from outside. */
export interface Leases {
  /** Whether it is certain that the node held its lease at this time. */
  readonly isHeld: (node: string, at: number) => boolean
  /** The end of the lease that the node held at this time; the time itself when it held none. */
  readonly lapseAfter: (node: string, at: number) => number
}

interface Window {
  readonly from: number
  readonly until: number
}

/**
 * Joins samples to windows. A lease that runs until `until` was renewed `leaseMs` before; when that was later than the
 * end seen before it, the lease had lapsed in between. What was not seen is not held against anybody: the end of a
 * window may be too early by the time between two samples, never too late.
 */
export function readLeases(samples: readonly LeaseSample[], leaseMs: number): Leases {
  const windows = new Map<string, Window[]>()
  for (const { node, until } of [...samples].sort((a, b) => a.at - b.at)) {
    const known = windows.get(node) ?? []
    windows.set(node, known)
    const last = known.at(-1)
    const renewedAt = until - leaseMs
    if (last === undefined || renewedAt > last.until) known.push({ from: renewedAt, until })
    // A failover may have taken a renewal back.
    else if (until !== last.until) known[known.length - 1] = { from: last.from, until: Math.max(last.from, until) }
  }
  const windowAt = (node: string, at: number): Window | undefined =>
    windows.get(node)?.find(({ from, until }) => from <= at && at < until)
  return {
    isHeld: (node, at) => windowAt(node, at) !== undefined,
    lapseAfter: (node, at) => windowAt(node, at)?.until ?? at,
  }
}
