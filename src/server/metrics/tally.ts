import { isBackfilled } from '../../domain/schedule/backfill.ts'
import { durationOf, type Trigger } from '../../domain/run/run.ts'
import { isTerminal, type TerminalState } from '../../domain/run/run-machine.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import type { Changes } from '../../engine/org-state/org-state.ts'

type CountedRun = Changes['created'] extends Set<infer Run> ? Run : never
type Counts<Key extends string = string> = Partial<Record<Key, number>>

/** The counters of this node since it started. */
export interface Tally {
  /** Runs that have ended, by trigger and state. */
  readonly ended: Partial<Record<Trigger, Counts<TerminalState>>>
  /** Created runs, whatever their outcome. */
  readonly triggers: Counts<Trigger>
  /** Occurrences that did not run, by reason. */
  readonly skips: Counts
  /** Failed attempts that were retried in the same run, by error code. */
  readonly retries: Counts
  readonly misfires: { caught_up: number; skipped: number }
  readonly refusals: Counts
  readonly deliveries: Counts
  /** Outcomes of heartbeats. */
  readonly heartbeats: Counts
  /** Answers of probes. */
  readonly probes: Counts
  /** Occurrences that retried a failed one. */
  failureRetries: number
  /** Attempts that timed out. */
  timeouts: number
  attempts: number
  transactions: number
  readonly duration: Histogram
  readonly lateness: Histogram
  readonly scans: Histogram
  /** Time of the last scan by the monotonic clock; null before the first. */
  scannedAt: number | null
}

export const createTally = (): Tally => ({
  ended: {},
  triggers: {},
  skips: {},
  retries: {},
  misfires: { caught_up: 0, skipped: 0 },
  refusals: {},
  deliveries: {},
  heartbeats: {},
  probes: {},
  failureRetries: 0,
  timeouts: 0,
  attempts: 0,
  transactions: 0,
  duration: createHistogram(LONG_BOUNDS),
  lateness: createHistogram(LONG_BOUNDS),
  scans: createHistogram(SHORT_BOUNDS),
  scannedAt: null,
})

/** Increments a counter. */
export function increment(counts: Counts, key: string, by = 1): void {
  counts[key] = (counts[key] ?? 0) + by
}

/** Counts the changes of a committed transaction. It only allocates the first counter of each key. */
export function countTransaction(
  tally: Tally,
  { changes, claims }: { readonly changes: Changes; readonly claims: readonly unknown[] },
): void {
  tally.transactions += 1
  tally.attempts += claims.length + changes.assignments.length
  const { created, changed, attempts, ranges, heartbeatOutcomes } = changes
  for (const outcome of heartbeatOutcomes) increment(tally.heartbeats, outcome)
  for (const answer of changes.probeAnswers) increment(tally.probes, answer)
  for (const run of created) {
    countCreated(tally, run)
    if (!changed.has(run) && isTerminal(run.state)) countEnded(tally, run, run.state)
  }
  for (const run of changed) if (isTerminal(run.state)) countEnded(tally, run, run.state)
  for (const run of changes.released) if (run.state !== 'skipped') countDecided(tally, run)
  for (const { errorCode, status } of attempts) {
    increment(tally.retries, errorCode ?? 'unknown')
    if (status === 'timeout') tally.timeouts += 1
  }
  for (const { count, why } of ranges) {
    increment(tally.skips, why.reason, count)
    if (why.reason === 'misfire') tally.misfires.skipped += count
  }
}

function countCreated(tally: Tally, run: CountedRun): void {
  increment(tally.triggers, run.trigger)
  if (run.state !== 'skipped' && !isHeld(run)) countDecided(tally, run)
}

/** Counts a run that the policies admitted: when it was created, or when it was released. */
function countDecided(tally: Tally, run: CountedRun): void {
  if (run.trigger === 'catchup') tally.misfires.caught_up += 1
  if (run.firstAttempt > 1) tally.failureRetries += 1
}

function countEnded(tally: Tally, run: CountedRun, state: TerminalState): void {
  increment((tally.ended[run.trigger] ??= {}), state)
  if (state === 'skipped') {
    const { reason } = run.why ?? run.decision
    increment(tally.skips, reason)
    if (reason === 'misfire') tally.misfires.skipped += 1
    return
  }
  if (state === 'timeout') tally.timeouts += 1
  const { startedAt, nominal } = run
  const duration = durationOf(run)
  if (startedAt === null || duration === null) return
  observe(tally.duration, duration)
  // Only the first attempt measures lateness, because a retry also waits for its backoff.
  if (nominal !== null && run.attempt === run.firstAttempt && !isBackfilled(run))
    observe(tally.lateness, startedAt - nominal)
}

/** The sum over the keys. */
export const sumOf = (counts: Counts, keys: readonly string[]): number =>
  keys.reduce((sum, key) => sum + (counts[key] ?? 0), 0)

/** A histogram in seconds. Observing allocates nothing. */
export interface Histogram {
  readonly bounds: readonly number[]
  /** By bound; values beyond the last bound are only in `count`. */
  readonly counts: number[]
  count: number
  /** Sum in seconds. */
  sum: number
}

const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  counts: bounds.map(() => 0),
  count: 0,
  sum: 0,
})

/** Adds one duration in milliseconds. A negative one, after the clock was set back, counts as 0. */
export function observe(histogram: Histogram, ms: number): void {
  const seconds = ms > 0 ? ms / 1_000 : 0
  const { bounds, counts } = histogram
  histogram.count += 1
  histogram.sum += seconds
  let [low, high] = [0, bounds.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (seconds <= (bounds[middle] ?? Infinity)) high = middle
    else low = middle + 1
  }
  if (low < counts.length) counts[low] = (counts[low] ?? 0) + 1
}

/** Bounds for durations from milliseconds to hours. */
const LONG_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600,
]

/** Bounds for short durations. */
const SHORT_BOUNDS: readonly number[] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
