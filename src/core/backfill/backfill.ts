import type { LaneName } from '../ids.ts'
import type { Instant } from '../instant.ts'
import type { TerminalState } from '../run/run-machine.ts'

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
