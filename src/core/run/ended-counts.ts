import { isBackfilled } from '../backfill/backfill.ts'
import { amountsUsed } from '../budget/amounts.ts'
import type { Instant } from '../../domain/instant.ts'
import { durationOf, type Trigger } from '../../domain/run/run.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'

/** How many things fell on each key. */
export type Counts = Readonly<Record<string, number>>

/**
 * How runs ended: by state, and how long they took and how late they began, by step of `stepOf`. `usage` has what they
 * used, `tokens` and `money` in millionths; left out when nothing was. `probe` has what probes answered, where it is read.
 */
export interface EndedCounts {
  readonly status: Counts
  readonly duration: Counts
  readonly lateness: Counts
  readonly usage?: Counts
  readonly probe?: Counts
}

/** What counting looks at. */
export interface CountedRun {
  readonly state: RunState
  readonly startedAt: Instant | null
  readonly firstStartedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly trigger: Trigger
  readonly nominal: Instant | null
  readonly attempt: number
  readonly firstAttempt: number
  readonly usage: unknown
}

/** Steps per doubling: a length of time is known to 5 %, and a week has 240 of them. */
const STEPS = 8

/** The step of a length of time in milliseconds. 0 is a step of its own. */
export const stepOf = (ms: number): number => (ms < 1 ? 0 : 1 + Math.round(STEPS * Math.log2(ms)))

/** The length of time that a step stands for. */
export const lengthOf = (step: number): number => (step <= 0 ? 0 : Math.round(2 ** ((step - 1) / STEPS)))

/** Counts those of the runs that have ended; null when none has. */
export function countEnded(runs: Iterable<CountedRun>): EndedCounts | null {
  let counts: Counting | null = null
  for (const run of runs) {
    if (!isTerminal(run.state)) continue
    counts ??= { status: {}, duration: {}, lateness: {} }
    add(counts.status, run.state)
    if (run.usage !== null) addUsage((counts.usage ??= {}), run.usage)
    const { startedAt, nominal } = run
    const duration = durationOf(run)
    if (startedAt === null || duration === null) continue
    add(counts.duration, String(stepOf(duration)))
    // Only the first attempt says how late a run began; a later one has waited for its turn. A backfill is late on purpose.
    if (nominal !== null && run.attempt === run.firstAttempt && !isBackfilled(run))
      add(counts.lateness, String(stepOf(startedAt - nominal)))
  }
  return counts
}

type Sums = Record<string, number>
type Counting = Record<'status' | 'duration' | 'lateness', Sums> & { usage?: Sums }

function add(sums: Sums, key: string, count = 1): void {
  sums[key] = (sums[key] ?? 0) + count
}

function addUsage(sums: Sums, usage: unknown): void {
  for (const [unit, amount] of Object.entries(amountsUsed(usage)))
    if (amount !== null && amount > 0) add(sums, unit, amount)
}

/** The length of time that a share of what was counted stays within; null when nothing was counted. */
export function percentile(steps: Counts, share: number): number | null {
  const sorted = Object.entries(steps)
    .map(([step, count]) => ({ step: Number(step), count }))
    .sort((a, b) => a.step - b.step)
  const all = sorted.reduce((sum, { count }) => sum + count, 0)
  let seen = 0
  for (const { step, count } of sorted) {
    seen += count
    if (seen >= share * all) return lengthOf(step)
  }
  return null
}
