import type { LaneName, ScheduleId } from '../ids.ts'
import { type Instant, later } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { isTerminal, type RunState, type TerminalState } from '../run/run-machine.ts'
import type { Trigger } from '../run/run.ts'

/** Which occurrences of the range a backfill runs: those without a success, those that failed, or all. */
export const BACKFILL_CHOICES = ['missing', 'failed', 'all'] as const
type BackfillChoice = (typeof BACKFILL_CHOICES)[number]

/** Whether the oldest or the newest occurrences run first. */
export const BACKFILL_ORDERS = ['oldest', 'newest'] as const
type BackfillOrder = (typeof BACKFILL_ORDERS)[number]

/**
 * How a backfill shares the schedule with its own runs: `wait` starts nothing while other runs of the schedule are
 * pending and uses its slots; `beside` ignores both.
 */
export const BACKFILL_POLICIES = ['wait', 'beside'] as const
type BackfillPolicy = (typeof BACKFILL_POLICIES)[number]

/** The states of a backfill; all but `running` are final. */
export const BACKFILL_STATES = ['running', 'done', 'cancelled', 'failed'] as const
export type BackfillState = (typeof BACKFILL_STATES)[number]

/** The settings of a backfill. */
export interface BackfillSettings {
  readonly from: Instant
  /** The end of the range, exclusive. */
  readonly to: Instant
  readonly which: BackfillChoice
  readonly order: BackfillOrder
  readonly policy: BackfillPolicy
  /** The maximum number of its runs that are pending at a time. */
  readonly maxActive: number
  /** The minimum time between two created runs. */
  readonly spacingMs: number
  /** Null: the lane of the schedule. */
  readonly lane: LaneName | null
  /** The number of consecutive failures that ends it; null: none. */
  readonly stopOnFailures: number | null
  /** Whether results are delivered to the target of the schedule. */
  readonly deliver: boolean
}

/** The number of its ended runs by state. */
export type BackfillCounts = Readonly<Partial<Record<TerminalState, number>>>

/** The maximum number of occurrences of one backfill, because their list is stored. */
export const MAX_BACKFILL_OCCURRENCES = 10_000

/** The default settings of a backfill. */
export const BACKFILL_DEFAULTS = {
  ...{ which: 'missing', order: 'oldest', policy: 'wait', maxActive: 1, spacingMs: 0 },
  ...{ stopOnFailures: 5, deliver: true },
} as const satisfies Partial<BackfillSettings>

export const BACKFILL_BOUNDS = {
  maxActive: { min: 1, max: 100 },
  spacingMs: { min: 0, max: 86_400_000 },
  stopOnFailures: { min: 1, max: MAX_BACKFILL_OCCURRENCES },
} as const

/** Backfilled runs go after the agent's current runs. */
export const BACKFILL_PRIORITY = 100

/**
 * Whether a run was created by a backfill: a manual trigger with a nominal time, which run-now does not have. Such
 * runs do not count in the statistics of the schedule's plan.
 */
export const isBackfilled = (run: { readonly trigger: Trigger; readonly nominal: Instant | null }): boolean =>
  run.trigger === 'manual' && run.nominal !== null

/** The result of an occurrence so far, from all its runs. */
type OccurrenceResult = 'not_run' | 'failed' | 'cancelled' | 'succeeded' | 'pending'

/** The occurrences each choice selects, by their result. A pending occurrence is never run a second time. */
const SELECTED_RESULTS: Readonly<Record<BackfillChoice, readonly OccurrenceResult[]>> = {
  missing: ['not_run', 'failed', 'cancelled'],
  failed: ['failed'],
  all: ['not_run', 'failed', 'cancelled', 'succeeded'],
}

/** The result of an occurrence from all its runs: a pending run counts first, then a success, then a failure. */
export function occurrenceResult(states: readonly RunState[]): OccurrenceResult {
  if (states.some((state) => !isTerminal(state))) return 'pending'
  if (states.includes('success')) return 'succeeded'
  if (states.includes('failed') || states.includes('timeout')) return 'failed'
  // Skipped, expired, dropped and rejected runs were not executed.
  return states.includes('cancelled') ? 'cancelled' : 'not_run'
}

/** The number of occurrences by result. */
export type OccurrenceResultCounts = Readonly<Record<OccurrenceResult, number>>

const NO_RESULTS: OccurrenceResultCounts = { not_run: 0, failed: 0, cancelled: 0, succeeded: 0, pending: 0 }

/** The selected occurrences in order, and how many were left out. */
interface SelectedOccurrences {
  readonly selected: readonly Instant[]
  readonly leftOut: OccurrenceResultCounts
}

/** Selects occurrences. Those from `undecided` on are still decided by the schedule itself. */
export function selectOccurrences(
  occurrences: readonly Instant[],
  known: { readonly runs: ReadonlyMap<Instant, readonly RunState[]>; readonly undecided: Instant | null },
  settings: { readonly which: BackfillChoice; readonly order: BackfillOrder },
): SelectedOccurrences {
  const selected: Instant[] = []
  const leftOut = { ...NO_RESULTS }
  for (const occurrence of occurrences) {
    const isAhead = known.undecided !== null && occurrence >= known.undecided
    const result = isAhead ? 'pending' : occurrenceResult(known.runs.get(occurrence) ?? [])
    if (SELECTED_RESULTS[settings.which].includes(result)) selected.push(occurrence)
    else leftOut[result] += 1
  }
  return { selected: settings.order === 'newest' ? selected.reverse() : selected, leftOut }
}

/** The maximum speed of a backfill. */
interface BackfillSpeed {
  /** The maximum number of concurrent runs. */
  readonly atOnce: number
  readonly spacingMs: number
}

/** The expected duration of a backfill; null when the duration of a run is unknown. */
export function backfillDuration(
  runs: number,
  runMs: number | null,
  { atOnce, spacingMs }: BackfillSpeed,
): number | null {
  if (runs === 0) return 0
  if (runMs === null && spacingMs === 0) return null
  const one = runMs ?? 0
  return Math.round(Math.max(Math.ceil(runs / atOnce) * one, (runs - 1) * spacingMs + one))
}

/** The throughput so far and the estimated end. */
interface Throughput {
  readonly perMinute: number | null
  readonly eta: Instant | null
}

/** Computes the throughput since the start; null values before the first run has ended. */
export function throughputOf(
  progress: { readonly ended: number; readonly left: number; readonly since: Instant },
  now: Instant,
): Throughput {
  const elapsed = now - progress.since
  if (progress.ended === 0 || elapsed <= 0) return { perMinute: null, eta: null }
  const each = elapsed / progress.ended
  return { perMinute: Math.round(600_000 / each) / 10, eta: later(now, Math.round(each * progress.left)) }
}

/** The progress of a backfill. */
export interface BackfillProgress {
  readonly state: BackfillState
  /** The number of its occurrences, and how many of them have become runs. */
  readonly total: number
  readonly taken: number
  /** Its runs that were pending at the last check. */
  readonly inFlight: readonly string[]
  readonly counts: BackfillCounts
  readonly failuresInRow: number
  /** No run is created before this; null: no limit. */
  readonly nextAt: Instant | null
}

/** Counts ended runs, in the order in which they ended. */
export function countBackfilled(
  progress: BackfillProgress,
  ended: readonly { readonly id: string; readonly state: TerminalState }[],
): BackfillProgress {
  if (ended.length === 0) return progress
  const counts: Partial<Record<TerminalState, number>> = { ...progress.counts }
  let { failuresInRow } = progress
  for (const { state } of ended) {
    counts[state] = (counts[state] ?? 0) + 1
    if (state === 'success') failuresInRow = 0
    else if (state === 'failed' || state === 'timeout') failuresInRow += 1
  }
  const gone = new Set(ended.map(({ id }) => id))
  return { ...progress, counts, failuresInRow, inFlight: progress.inFlight.filter((id) => !gone.has(id)) }
}

/** The other facts of a step. */
export interface StepFacts {
  readonly now: Instant
  readonly scheduleId: ScheduleId
  /** Null: the schedule was deleted. */
  readonly schedule: {
    /** Pending runs of the schedule that this backfill did not create. */
    readonly others: number
    /** Free slots; Infinity without a limit. */
    readonly freeSlots: number
  } | null
  /** Why no run may be created now, and until when if known. */
  readonly closed: { readonly why: Why; readonly until: Instant | null } | null
}

/** The next step: the end, a number of runs to create, or a wait. */
type BackfillStep =
  | { readonly kind: 'end'; readonly state: Exclude<BackfillState, 'running'>; readonly why: Why }
  | { readonly kind: 'make'; readonly count: number; readonly nextAt: Instant | null }
  | { readonly kind: 'hold'; readonly why: Why; readonly nextAt: Instant }
  /** Nothing to do: its runs are pending, or its spacing has not passed. */
  | { readonly kind: 'rest' }

/** How often a closed gate is checked again when its end is unknown. */
const RECHECK_MS = 1_000
/** The maximum wait between checks: a limit may be raised meanwhile. */
const MAX_HOLD_MS = 60_000

/** Decides the next step of a running backfill. */
export function decideStep(progress: BackfillProgress, settings: BackfillSettings, facts: StepFacts): BackfillStep {
  const { now, schedule } = facts
  const { total, taken: selected, inFlight, failuresInRow } = progress
  if (schedule === null)
    return endStep('cancelled', because('schedule_gone', 'backfill', { schedule: facts.scheduleId }))
  const { stopOnFailures } = settings
  if (stopOnFailures !== null && failuresInRow >= stopOnFailures)
    return endStep('failed', because('backfill_failing', 'backfill.stop_on_failures', { failures: failuresInRow }))
  if (selected >= total)
    return inFlight.length > 0 ? IDLE_STEP : endStep('done', because('backfill_done', 'backfill', { total }))
  const room = Math.min(settings.maxActive - inFlight.length, total - selected)
  if (room <= 0 || (progress.nextAt !== null && progress.nextAt > now)) return IDLE_STEP
  if (facts.closed !== null) return holdStep(facts.closed.why, facts.closed.until, now)
  const waits = settings.policy === 'wait'
  if (waits && schedule.others > 0)
    return holdStep(because('backfill_waits', 'backfill.policy=wait', { pending: schedule.others }), null, now)
  const count = waits ? Math.min(room, schedule.freeSlots) : room
  if (count <= 0) return IDLE_STEP
  if (settings.spacingMs > 0) return { kind: 'make', count: 1, nextAt: later(now, settings.spacingMs) }
  return { kind: 'make', count, nextAt: null }
}

const IDLE_STEP: BackfillStep = { kind: 'rest' }

const endStep = (state: Exclude<BackfillState, 'running'>, why: Why): BackfillStep => ({ kind: 'end', state, why })

const holdStep = (why: Why, until: Instant | null, now: Instant): BackfillStep => ({
  ...{ kind: 'hold', why },
  nextAt: later(now, until === null ? RECHECK_MS : Math.min(MAX_HOLD_MS, Math.max(RECHECK_MS, until - now))),
})
