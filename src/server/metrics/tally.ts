import { isBackfilled } from '../../core/backfill/backfill.ts'
import { durationOf, type Trigger } from '../../domain/run/run.ts'
import { isTerminal, type TerminalState } from '../../domain/run/run-machine.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import type { Changes } from '../../service/desk/desk.ts'

type CountedRun = Changes['made'] extends Set<infer Run> ? Run : never
type Counts<Key extends string = string> = Partial<Record<Key, number>>

/** What this node has done since it started. */
export interface Tally {
  /** Runs that have ended, by trigger and state. */
  readonly ended: Partial<Record<Trigger, Counts<TerminalState>>>
  /** Runs that were made, whatever became of them. */
  readonly triggers: Counts<Trigger>
  /** Occurrences that did not run, by reason. */
  readonly skips: Counts
  /** Attempts that failed and were followed by another one of the same run, by error code. */
  readonly retries: Counts
  readonly misfires: { caught_up: number; skipped: number }
  readonly refusals: Counts
  readonly deliveries: Counts
  /** What became of heartbeats. */
  readonly heartbeats: Counts
  /** What probes answered. */
  readonly probes: Counts
  /** Occurrences that ran as the retry of a failed one. */
  failureRetries: number
  /** Attempts that ran out of time. */
  timeouts: number
  attempts: number
  turns: number
  readonly duration: Histogram
  readonly lateness: Histogram
  readonly scans: Histogram
  /** By the counter; null before the first. */
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
  turns: 0,
  duration: createHistogram(LONG_BOUNDS),
  lateness: createHistogram(LONG_BOUNDS),
  scans: createHistogram(SHORT_BOUNDS),
  scannedAt: null,
})

/** One more of a key. */
export function add(counts: Counts, key: string, by = 1): void {
  counts[key] = (counts[key] ?? 0) + by
}

/** Counts what a turn that was kept has changed. Nothing is made for it but the first number of each key. */
export function countTurn(
  tally: Tally,
  { changes, claims }: { readonly changes: Changes; readonly claims: readonly unknown[] },
): void {
  tally.turns += 1
  tally.attempts += claims.length + changes.assignments.length
  const { made, changed, attempts, ranges, beatOutcomes } = changes
  for (const outcome of beatOutcomes) add(tally.heartbeats, outcome)
  for (const answer of changes.probeAnswers) add(tally.probes, answer)
  for (const run of made) {
    countMade(tally, run)
    if (!changed.has(run) && isTerminal(run.state)) countEnded(tally, run, run.state)
  }
  for (const run of changed) if (isTerminal(run.state)) countEnded(tally, run, run.state)
  for (const run of changes.released) if (run.state !== 'skipped') countDecided(tally, run)
  for (const { errorCode, status } of attempts) {
    add(tally.retries, errorCode ?? 'unknown')
    if (status === 'timeout') tally.timeouts += 1
  }
  for (const { count, why } of ranges) {
    add(tally.skips, why.reason, count)
    if (why.reason === 'misfire') tally.misfires.skipped += count
  }
}

function countMade(tally: Tally, run: CountedRun): void {
  add(tally.triggers, run.trigger)
  if (run.state !== 'skipped' && !isHeld(run)) countDecided(tally, run)
}

/** The policies have let a run through: when it was made, or when it was released. */
function countDecided(tally: Tally, run: CountedRun): void {
  if (run.trigger === 'catchup') tally.misfires.caught_up += 1
  if (run.firstAttempt > 1) tally.failureRetries += 1
}

function countEnded(tally: Tally, run: CountedRun, state: TerminalState): void {
  add((tally.ended[run.trigger] ??= {}), state)
  if (state === 'skipped') {
    const { reason } = run.why ?? run.decision
    add(tally.skips, reason)
    if (reason === 'misfire') tally.misfires.skipped += 1
    return
  }
  if (state === 'timeout') tally.timeouts += 1
  const { startedAt, nominal } = run
  const duration = durationOf(run)
  if (startedAt === null || duration === null) return
  observe(tally.duration, duration)
  // Only the first attempt says how late a run began; a later one has waited for its turn.
  if (nominal !== null && run.attempt === run.firstAttempt && !isBackfilled(run))
    observe(tally.lateness, startedAt - nominal)
}

/** How many were counted under any of the keys. */
export const sumOf = (counts: Counts, keys: readonly string[]): number =>
  keys.reduce((sum, key) => sum + (counts[key] ?? 0), 0)

/** How many things were so long or shorter, by bound, in seconds. Counting allocates nothing. */
export interface Histogram {
  readonly bounds: readonly number[]
  /** By bound; those beyond the last are only in `count`. */
  readonly counts: number[]
  count: number
  /** Seconds in all. */
  sum: number
}

const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  counts: bounds.map(() => 0),
  count: 0,
  sum: 0,
})

/** Counts one thing that took so many milliseconds. A clock that was set back makes nothing take less than no time. */
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

/** Bounds for work that takes from milliseconds to hours. */
const LONG_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600,
]

/** Bounds for what should take milliseconds. */
const SHORT_BOUNDS: readonly number[] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
