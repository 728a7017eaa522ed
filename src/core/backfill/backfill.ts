import type { LaneName } from '../../domain/ids.ts'
import { type Instant, later } from '../../domain/instant.ts'
import type { Trigger } from '../../domain/run/run.ts'
import { isTerminal, type RunState, type TerminalState } from '../../domain/run/run-machine.ts'

/** Which moments of the range a backfill takes: those without a success, those that failed, or every one. */
export const BACKFILL_CHOICES = ['missing', 'failed', 'all'] as const
export type BackfillChoice = (typeof BACKFILL_CHOICES)[number]

/** Which moments come first. */
export const BACKFILL_ORDERS = ['oldest', 'newest'] as const
export type BackfillOrder = (typeof BACKFILL_ORDERS)[number]

/**
 * How a backfill gets along with the schedule's own work: `wait` begins nothing while a run of the schedule is pending and
 * holds slots of it; `beside` looks at neither.
 */
export const BACKFILL_POLICIES = ['wait', 'beside'] as const
export type BackfillPolicy = (typeof BACKFILL_POLICIES)[number]

/** How a backfill stands. All but the first are for good. */
export const BACKFILL_STATES = ['running', 'done', 'cancelled', 'failed'] as const
export type BackfillState = (typeof BACKFILL_STATES)[number]

/** What somebody asked a backfill to do. */
export interface BackfillTerms {
  readonly from: Instant
  /** The first moment behind the range. */
  readonly to: Instant
  readonly which: BackfillChoice
  readonly order: BackfillOrder
  readonly policy: BackfillPolicy
  /** Runs of it that are pending at a time. */
  readonly maxActive: number
  /** The least time between two runs that are made. */
  readonly spacingMs: number
  /** Null: the lane of the schedule. */
  readonly lane: LaneName | null
  /** Failures in a row that end it; null: none do. */
  readonly stopOnFailures: number | null
  /** Whether results go where those of the schedule go. */
  readonly deliver: boolean
}

/** How its runs have ended, by how they did. */
export type BackfillCounts = Readonly<Partial<Record<TerminalState, number>>>

/** More moments than this are not taken at once: a list of them is kept, and nobody means a million. */
export const MOST_MOMENTS = 10_000

/** What holds for a backfill that says nothing about it. */
export const BACKFILL_DEFAULTS = {
  ...{ which: 'missing', order: 'oldest', policy: 'wait', maxActive: 1, spacingMs: 0 },
  ...{ stopOnFailures: 5, deliver: true },
} as const satisfies Partial<BackfillTerms>

export const BACKFILL_BOUNDS = {
  maxActive: { min: 1, max: 100 },
  spacingMs: { min: 0, max: 86_400_000 },
  stopOnFailures: { min: 1, max: MOST_MOMENTS },
} as const

/** Among the runs of its agent, what was missed long ago goes after what is due now. */
export const BACKFILL_PRIORITY = 100

/**
 * Whether a run was made by a backfill: somebody asked for it, and it is for a moment of the plan. A run now is for no
 * moment. What such a run does is no news about the plan of its schedule, so nothing is counted by it there.
 */
export const isBackfilled = (run: { readonly trigger: Trigger; readonly nominal: Instant | null }): boolean =>
  run.trigger === 'manual' && run.nominal !== null

/** What has become of a moment so far, whoever made its runs. */
type MomentStanding = 'not_run' | 'failed' | 'cancelled' | 'succeeded' | 'pending'

/** Which moments are taken, by what has become of them. What is still on its way is never made a second time. */
const TAKES: Readonly<Record<BackfillChoice, readonly MomentStanding[]>> = {
  missing: ['not_run', 'failed', 'cancelled'],
  failed: ['failed'],
  all: ['not_run', 'failed', 'cancelled', 'succeeded'],
}

/** One moment from all its runs: one that is pending counts most, then one that succeeded, then one that failed. */
export function standingOf(states: readonly RunState[]): MomentStanding {
  if (states.some((state) => !isTerminal(state))) return 'pending'
  if (states.includes('success')) return 'succeeded'
  if (states.includes('failed') || states.includes('timeout')) return 'failed'
  // Skipped, expired, dropped, rejected: nothing was executed for it.
  return states.includes('cancelled') ? 'cancelled' : 'not_run'
}

/** How many moments of each standing there are. */
export type StandingCounts = Readonly<Record<MomentStanding, number>>

const NO_MOMENTS: StandingCounts = { not_run: 0, failed: 0, cancelled: 0, succeeded: 0, pending: 0 }

/** The moments a backfill takes, in its order, and what it leaves out. */
interface ChosenMoments {
  readonly taken: readonly Instant[]
  readonly leftOut: StandingCounts
}

/** Chooses among moments in their order. Those from `undecided` on are still for the schedule itself to decide. */
export function chooseMoments(
  moments: readonly Instant[],
  known: { readonly runs: ReadonlyMap<Instant, readonly RunState[]>; readonly undecided: Instant | null },
  terms: { readonly which: BackfillChoice; readonly order: BackfillOrder },
): ChosenMoments {
  const taken: Instant[] = []
  const leftOut = { ...NO_MOMENTS }
  for (const moment of moments) {
    const isAhead = known.undecided !== null && moment >= known.undecided
    const standing = isAhead ? 'pending' : standingOf(known.runs.get(moment) ?? [])
    if (TAKES[terms.which].includes(standing)) taken.push(moment)
    else leftOut[standing] += 1
  }
  return { taken: terms.order === 'newest' ? taken.reverse() : taken, leftOut }
}

/** How fast a backfill may go at most. */
interface Pace {
  /** Runs at a time. */
  readonly atOnce: number
  readonly spacingMs: number
}

/** How long so many runs take at a pace when each takes so long; null when nobody knows how long one takes. */
export function durationAt(runs: number, runMs: number | null, { atOnce, spacingMs }: Pace): number | null {
  if (runs === 0) return 0
  if (runMs === null && spacingMs === 0) return null
  const one = runMs ?? 0
  return Math.round(Math.max(Math.ceil(runs / atOnce) * one, (runs - 1) * spacingMs + one))
}

/** How it has gone so far, and when it will be over if it goes on like that. */
interface Throughput {
  readonly perMinute: number | null
  readonly eta: Instant | null
}

/** Looks at what has ended since the beginning. Before the first has, nobody knows. */
export function throughputOf(
  progress: { readonly ended: number; readonly left: number; readonly since: Instant },
  now: Instant,
): Throughput {
  const elapsed = now - progress.since
  if (progress.ended === 0 || elapsed <= 0) return { perMinute: null, eta: null }
  const each = elapsed / progress.ended
  return { perMinute: Math.round(600_000 / each) / 10, eta: later(now, Math.round(each * progress.left)) }
}
