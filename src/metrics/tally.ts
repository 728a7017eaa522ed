import { isBackfilled } from '../core/backfill/backfilled.ts'
import { durationOf, type Trigger } from '../core/run/run.ts'
import { isTerminal, type TerminalState } from '../core/run/run-machine.ts'
import { isHeld } from '../core/schedule/held.ts'
import type { Changes } from '../service/desk/desk.ts'
import { createHistogram, LONG_BOUNDS, observe, SHORT_BOUNDS, type Histogram } from './histogram.ts'

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
