import type { ScheduleId } from '../../domain/ids.ts'
import { later, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import type { TerminalState } from '../../domain/run/run-machine.ts'
import type { BackfillCounts, BackfillState, BackfillTerms } from './backfill.ts'

/** How far a backfill has come. */
export interface BackfillProgress {
  readonly state: BackfillState
  /** Moments it has, and of those the first so many that were made into runs. */
  readonly total: number
  readonly taken: number
  /** Runs of it that were pending when somebody last looked. */
  readonly inFlight: readonly string[]
  readonly counts: BackfillCounts
  readonly failuresInRow: number
  /** Nothing is made before it; null: whenever there is room. */
  readonly nextAt: Instant | null
}

/** Counts runs that have ended, in the order in which they did. */
export function countEnded(
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

/** What a step looks at besides. */
export interface StepFacts {
  readonly now: Instant
  readonly scheduleId: ScheduleId
  /** Null: the schedule is gone. */
  readonly schedule: {
    /** Pending runs of it that this backfill has not made. */
    readonly others: number
    /** Slots that are free for one more; Infinity where nothing limits them. */
    readonly freeSlots: number
  } | null
  /** Why nothing may be made now, whoever asks, and until when if that is known. */
  readonly closed: { readonly why: Why; readonly until: Instant | null } | null
}

/** What is done next: an ending, or so many runs now, or a wait with its reason. */
export type BackfillStep =
  | { readonly kind: 'end'; readonly state: Exclude<BackfillState, 'running'>; readonly why: Why }
  | { readonly kind: 'make'; readonly count: number; readonly nextAt: Instant | null }
  | { readonly kind: 'hold'; readonly why: Why; readonly nextAt: Instant }
  /** Its runs are under way, or its pace says later: whoever looks after them comes again by itself. */
  | { readonly kind: 'rest' }

/** What is closed is looked at so often where nobody knows when it opens. */
const LOOK_AGAIN_MS = 1_000
/** However far away the end of a wait is: a limit may be raised meanwhile. */
const LONGEST_HOLD_MS = 60_000

/** Decides what a backfill that is under way does next. */
export function decideStep(progress: BackfillProgress, terms: BackfillTerms, facts: StepFacts): BackfillStep {
  const { now, schedule } = facts
  const { total, taken, inFlight, failuresInRow } = progress
  if (schedule === null) return end('cancelled', because('schedule_gone', 'backfill', { schedule: facts.scheduleId }))
  const { stopOnFailures } = terms
  if (stopOnFailures !== null && failuresInRow >= stopOnFailures)
    return end('failed', because('backfill_failing', 'backfill.stop_on_failures', { failures: failuresInRow }))
  if (taken >= total) return inFlight.length > 0 ? REST : end('done', because('backfill_done', 'backfill', { total }))
  const room = Math.min(terms.maxActive - inFlight.length, total - taken)
  if (room <= 0 || (progress.nextAt !== null && progress.nextAt > now)) return REST
  if (facts.closed !== null) return hold(facts.closed.why, facts.closed.until, now)
  const waits = terms.policy === 'wait'
  if (waits && schedule.others > 0)
    return hold(because('backfill_waits', 'backfill.policy=wait', { pending: schedule.others }), null, now)
  const count = waits ? Math.min(room, schedule.freeSlots) : room
  if (count <= 0) return REST
  if (terms.spacingMs > 0) return { kind: 'make', count: 1, nextAt: later(now, terms.spacingMs) }
  return { kind: 'make', count, nextAt: null }
}

const REST: BackfillStep = { kind: 'rest' }

const end = (state: Exclude<BackfillState, 'running'>, why: Why): BackfillStep => ({ kind: 'end', state, why })

const hold = (why: Why, until: Instant | null, now: Instant): BackfillStep => ({
  ...{ kind: 'hold', why },
  nextAt: later(now, until === null ? LOOK_AGAIN_MS : Math.min(LONGEST_HOLD_MS, Math.max(LOOK_AGAIN_MS, until - now))),
})
