import type { SimulationTotals } from './result-schema.ts'
import { fromMicros } from '../../domain/budget/budget.ts'
import type { Reason } from '../../domain/reasons.ts'
import type { RunState } from '../../domain/run/run-machine.ts'

/** Running totals, whose size does not grow with the number of runs. */
export interface SimulationTally {
  occurrences: number
  runs: number
  readonly byStatus: Map<RunState, number>
  readonly skippedBy: Map<Reason, number>
  attempts: number
  superseded: number
  /** Pending runs; `inFlight` is how many of them are in flight. */
  pending: number
  inFlight: number
  maxWaiting: number
  maxRunning: number
  busyMs: number
  tokens: number
  costMicros: number
  /** Runs by number of bucket and state, by their nominal time or creation. */
  readonly buckets: Map<number, Map<RunState, number>>
  readonly lateness: Map<number, number>
  started: number
  maxLateness: number
}

export const emptyTally = (): SimulationTally => ({
  ...{ occurrences: 0, runs: 0, byStatus: new Map(), skippedBy: new Map(), attempts: 0, superseded: 0 },
  ...{ pending: 0, inFlight: 0, maxWaiting: 0, maxRunning: 0, busyMs: 0, tokens: 0, costMicros: 0 },
  ...{ buckets: new Map(), lateness: new Map(), started: 0, maxLateness: 0 },
})

/** Adds to the count of a key. */
export function incrementCount<Key>(counts: Map<Key, number>, key: Key, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

/** Adds runs to a bucket of the timeline. */
export function countInBucket(
  { buckets }: SimulationTally,
  bucket: number,
  { state, count }: { readonly state: RunState; readonly count: number },
): void {
  const counts = buckets.get(bucket)
  if (counts === undefined) buckets.set(bucket, new Map([[state, count]]))
  else incrementCount(counts, state, count)
}

/** Counts the lateness of a start. From 1 s on it is rounded to three digits, to bound the distinct values. */
export function countLateness(tally: SimulationTally, lateMs: number): void {
  tally.started += 1
  if (lateMs > tally.maxLateness) tally.maxLateness = lateMs
  incrementCount(tally.lateness, roundLateness(lateMs))
}

function roundLateness(ms: number): number {
  if (ms < 1_000) return ms
  const step = 10 ** (Math.floor(Math.log10(ms)) - 2)
  return Math.floor(ms / step) * step
}

/** Updates the maximum numbers of waiting and running runs. */
export function noteLevels(tally: SimulationTally): void {
  const waiting = tally.pending - tally.inFlight
  if (waiting > tally.maxWaiting) tally.maxWaiting = waiting
  if (tally.inFlight > tally.maxRunning) tally.maxRunning = tally.inFlight
}

/** The API view of a tally. */
export function viewTally(tally: SimulationTally): SimulationTotals {
  const [p50, p99] = quantiles(tally, [0.5, 0.99])
  return {
    ...{ occurrences: tally.occurrences, runs: tally.runs, attempts: tally.attempts, superseded: tally.superseded },
    by_status: Object.fromEntries([...tally.byStatus].filter(([, count]) => count > 0)),
    skipped_by_reason: Object.fromEntries(tally.skippedBy),
    ...{ max_waiting: tally.maxWaiting, max_running: tally.maxRunning, busy_ms: tally.busyMs },
    ...{ tokens: tally.tokens, cost: fromMicros(tally.costMicros) },
    lateness_p50_ms: p50 ?? null,
    lateness_p99_ms: p99 ?? null,
    lateness_max_ms: tally.started === 0 ? null : tally.maxLateness,
  }
}

function quantiles({ lateness, started }: SimulationTally, shares: readonly number[]): readonly (number | undefined)[] {
  const sorted = [...lateness].sort(([a], [b]) => a - b)
  return shares.map((share) => {
    const rank = Math.ceil(started * share)
    let seen = 0
    for (const [ms, count] of sorted) {
      seen += count
      if (seen >= rank) return ms
    }
    return undefined
  })
}
