import { overDailyRuns, type DailyRuns } from '../daily-runs.ts'
import { decideConcurrency } from './concurrency.ts'
import { decideFailure } from './failure.ts'
import type { RunId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { planMisfire, type DueOccurrences, type SkippedRange, type TakenOccurrence } from './misfire.ts'
import { decideOverlap } from './overlap.ts'
import { because, type Why } from '../reasons.ts'
import type { ScheduleHistory } from './schedule-history.ts'
import type { FiringSettings, ScheduleRules } from './schedule-rules.ts'
import type { Timing } from '../time/timing.ts'

/**
 * What becomes of the occurrences of a schedule that are due: misfire → overlap → failure → concurrency, oldest first,
 * each seeing the effect of the one before. The engine, the simulator and `explain` all ask this one function.
 */
export const OCCURRENCE_POLICIES = [
  ...(['misfire', 'budget', 'runs_per_day', 'overlap', 'failure', 'concurrency'] as const),
] as const
export type OccurrencePolicy = (typeof OCCURRENCE_POLICIES)[number]

/** What was decided about one occurrence. */
export type OccurrenceDecision =
  | {
      readonly kind: 'run'
      readonly nominal: Instant
      readonly runId: RunId
      readonly trigger: 'schedule' | 'catchup'
      readonly slot: 'held' | 'parked'
      readonly firstAttempt: number
      readonly notBefore: Instant
      /** Runs that end because of it. They may be runs of this same plan. */
      readonly supersedes: readonly RunId[]
      readonly why: Why
    }
  | { readonly kind: 'skip'; readonly nominal: Instant; readonly why: Why }

export interface OccurrencePlan {
  /** One for each occurrence, in nominal order, except those in `skippedRange`. */
  readonly decisions: readonly OccurrenceDecision[]
  readonly skippedRange: SkippedRange | null
  /** The history after all of it, for whoever plans on. */
  readonly history: ScheduleHistory
}

export interface PlannedSchedule {
  readonly rules: ScheduleRules
  readonly timing: Timing
  readonly history: ScheduleHistory
  /** Set when a budget with action `skip` or `pause` is exhausted: nothing runs, and nothing is cancelled for it. */
  readonly budget: Why | null
  /** Left out or null: the org may make as many runs a day as it likes. */
  readonly runsPerDay?: DailyRuns | null
}

interface Planning {
  readonly due: DueOccurrences
  readonly settings: FiringSettings
  /** Ids are made outside: the core knows no chance. */
  readonly newRunId: () => RunId
}

/** Decides everything that is due, exactly once. */
export function planOccurrences(schedule: PlannedSchedule, planning: Planning): OccurrencePlan {
  const misfire = planMisfire(schedule, planning.due, planning.settings)
  const decisions: OccurrenceDecision[] = misfire.skipped.map((skipped) => ({ kind: 'skip', ...skipped }))
  let history = schedule.history
  for (const occurrence of misfire.taken) {
    // A schedule that has made all its runs is finished: what is still due is no occurrence of it.
    if (schedule.rules.maxFires !== null && history.fires >= schedule.rules.maxFires) break
    const budget = schedule.budget ?? overDay(schedule, history)
    const step = decideOccurrence({ ...schedule, history, budget }, occurrence, planning)
    decisions.push(step.decision)
    history = step.history
  }
  return { decisions, skippedRange: misfire.skippedRange, history }
}

/** Each run made here is one less for the next. */
function overDay({ runsPerDay = null, history: before }: PlannedSchedule, history: ScheduleHistory): Why | null {
  if (runsPerDay === null) return null
  return overDailyRuns({ ...runsPerDay, made: runsPerDay.made + history.fires - before.fires })
}

interface Step {
  readonly decision: OccurrenceDecision
  readonly history: ScheduleHistory
}

function decideOccurrence(schedule: PlannedSchedule, occurrence: TakenOccurrence, planning: Planning): Step {
  const { rules, history } = schedule
  const skip = (why: Why, skippedFor = history.skippedFor): Step => ({
    decision: { kind: 'skip', nominal: occurrence.nominal, why },
    history: { ...history, skippedFor },
  })
  // Before the policies: an occurrence that cannot run must not cancel one that does.
  if (schedule.budget !== null) return skip(schedule.budget)
  const overlap = decideOverlap(rules, history)
  switch (overlap.kind) {
    case 'skip':
      return skip(overlap.why)
    case 'supersede': {
      const supersedes = history.pending.map((run) => run.id)
      const freed = { ...history, pending: [] }
      return makeRun(
        { ...schedule, history: freed },
        { occurrence, slot: 'held', firstAttempt: 1, supersedes },
        planning,
      )
    }
    case 'parallel':
      return makeRun(schedule, { occurrence, slot: 'held', firstAttempt: 1, supersedes: [] }, planning)
    case 'clear':
    case 'allow':
    case 'buffer': {
      const failure =
        overlap.kind === 'clear'
          ? decideFailure(rules, history, planning.due.seen)
          : ({ kind: 'run', firstAttempt: 1 } as const)
      if (failure.kind === 'skip') return skip(failure.why, failure.uses ?? history.skippedFor)
      const concurrency = decideConcurrency(rules, history, overlap.kind === 'buffer')
      if (concurrency.kind === 'skip') return skip(concurrency.why)
      const slot = concurrency.kind === 'run' ? 'held' : 'parked'
      return makeRun(schedule, { occurrence, slot, firstAttempt: failure.firstAttempt, supersedes: [] }, planning)
    }
  }
}

interface NewRun {
  readonly occurrence: TakenOccurrence
  readonly slot: 'held' | 'parked'
  readonly firstAttempt: number
  readonly supersedes: readonly RunId[]
}

function makeRun(schedule: PlannedSchedule, run: NewRun, planning: Planning): Step {
  const { history, rules } = schedule
  const { occurrence, slot, firstAttempt, supersedes } = run
  const runId = planning.newRunId()
  return {
    decision: {
      kind: 'run',
      ...occurrence,
      runId,
      slot,
      firstAttempt,
      supersedes,
      why: runWhy(rules, run, planning.due.seen),
    },
    history: {
      ...history,
      previous: { id: runId, state: 'queued' },
      pending: [...history.pending, { id: runId, slot }],
      fires: history.fires + 1,
    },
  }
}

function runWhy(rules: ScheduleRules, run: NewRun, seen: Instant): Why {
  const { occurrence, slot, firstAttempt, supersedes } = run
  const evidence = {
    nominal: formatInstant(occurrence.nominal),
    seen: formatInstant(seen),
    policy: rules.misfirePolicy,
    slot,
    first_attempt: firstAttempt,
    superseded: supersedes.length,
  }
  return occurrence.trigger === 'catchup'
    ? because('caught_up', `misfire_policy=${rules.misfirePolicy}`, evidence)
    : because('due', 'timing', evidence)
}
