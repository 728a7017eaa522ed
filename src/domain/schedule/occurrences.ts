import { type DailyRuns, overDailyRuns } from '../admission/admission.ts'
import { decideConcurrency } from './concurrency.ts'
import { decideFailure } from './failure.ts'
import type { RunId } from '../ids.ts'
import { formatInstant, later, latest, type Instant } from '../instant.ts'
import { planMisfire, type DueOccurrences, type SkippedRange, type TakenOccurrence } from './misfire.ts'
import { decideOverlap } from './overlap.ts'
import { because, type Why } from '../reasons.ts'
import type { ScheduleHistory } from './history.ts'
import type { FiringSettings, ScheduleRules } from './rules.ts'
import { jitterFor } from '../time/jitter.ts'
import type { Timing } from '../time/timing.ts'

/**
 * What becomes of the occurrences of a schedule that are due: misfire → overlap → failure → concurrency. Of several that
 * are seen together the first is decided at once; the others are held, and the policies after misfire are decided when
 * each is released. The engine, the simulator and `explain` all ask these functions.
 */
export const OCCURRENCE_POLICIES = [
  ...(['misfire', 'budget', 'runs_per_day', 'overlap', 'failure', 'concurrency'] as const),
] as const
export type OccurrencePolicy = (typeof OCCURRENCE_POLICIES)[number]

/** What the policies decided about one occurrence. */
export type PolicyDecision =
  | {
      readonly kind: 'run'
      readonly nominal: Instant
      readonly runId: RunId
      readonly trigger: 'schedule' | 'catchup'
      readonly slot: 'held' | 'parked'
      readonly firstAttempt: number
      readonly notBefore: Instant
      /** Runs that end because of it. */
      readonly supersedes: readonly RunId[]
      readonly why: Why
    }
  | { readonly kind: 'skip'; readonly nominal: Instant; readonly why: Why }

/** What was decided about one occurrence when it was seen. */
export type OccurrenceDecision =
  | PolicyDecision
  /** The other policies are asked at `until`, by `decideRelease`. */
  | {
      readonly kind: 'hold'
      readonly nominal: Instant
      readonly runId: RunId
      readonly trigger: 'schedule' | 'catchup'
      readonly until: Instant
      readonly why: Why
    }

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

/** Decides everything that is due, exactly once. The first one taken is decided now, and those after it are held. */
export function planOccurrences(schedule: PlannedSchedule, planning: Planning): OccurrencePlan {
  const { due, newRunId } = planning
  const misfire = planMisfire(schedule, due, planning.settings)
  const decisions: OccurrenceDecision[] = misfire.skipped.map((skipped) => ({ kind: 'skip', ...skipped }))
  const [first, ...others] = misfire.taken
  let { history } = schedule
  if (first !== undefined && !isSpent(schedule.rules, history)) {
    const { nominal, trigger } = first
    const step = decideOccurrence(schedule, {
      ...{ nominal, trigger, seen: due.seen, now: due.seen, jitterSeed: due.jitterSeed },
      ...{ isReleased: false, newRunId },
    })
    decisions.push(step.decision)
    history = step.history
  }
  // A schedule that has made all its runs is finished: what is still due is no occurrence of it.
  if (!isSpent(schedule.rules, history))
    for (const occurrence of others) decisions.push(hold(schedule.rules, occurrence, planning))
  return { decisions, skippedRange: misfire.skippedRange, history }
}

const isSpent = ({ maxFires }: ScheduleRules, { fires }: ScheduleHistory): boolean =>
  maxFires !== null && fires >= maxFires

function hold(rules: ScheduleRules, occurrence: TakenOccurrence, { due, newRunId }: Planning): OccurrenceDecision {
  const { nominal, trigger, decideAt: until } = occurrence
  const why = because('held', `misfire_policy=${rules.misfirePolicy}`, {
    nominal: formatInstant(nominal),
    seen: formatInstant(due.seen),
    policy: rules.misfirePolicy,
    held_until: formatInstant(until),
  })
  return { kind: 'hold', nominal, runId: newRunId(), trigger, until, why }
}

/** An occurrence that was held, and when it is released. */
export interface ReleasedOccurrence {
  readonly runId: RunId
  readonly nominal: Instant
  readonly trigger: 'schedule' | 'catchup'
  /** When it was seen and held. */
  readonly seen: Instant
  readonly now: Instant
  readonly jitterSeed: string
}

/** Asks the policies about an occurrence that was held, against what is pending now. */
export function decideRelease(schedule: PlannedSchedule, held: ReleasedOccurrence): Step {
  const { rules, history } = schedule
  const step = isSpent(rules, history)
    ? skipFor(held.nominal, history, because('all_fires_made', 'max_fires', { max_fires: rules.maxFires ?? 0 }))
    : decideOccurrence(schedule, { ...held, isReleased: true, newRunId: () => held.runId })
  const evidence = { ...step.decision.why.evidence, released: formatInstant(held.now) }
  return { ...step, decision: { ...step.decision, why: { ...step.decision.why, evidence } } }
}

export interface Step {
  readonly decision: PolicyDecision
  readonly history: ScheduleHistory
}

const skipFor = (nominal: Instant, history: ScheduleHistory, why: Why): Step => ({
  decision: { kind: 'skip', nominal, why },
  history,
})

/** An occurrence that is decided now. */
interface Deciding extends Omit<ReleasedOccurrence, 'runId'> {
  /** It was held before. */
  readonly isReleased: boolean
  readonly newRunId: () => RunId
}

function decideOccurrence(schedule: PlannedSchedule, occurrence: Deciding): Step {
  const { rules, history } = schedule
  const { nominal, isReleased } = occurrence
  const skip = (why: Why, skippedFor = history.skippedFor): Step => skipFor(nominal, { ...history, skippedFor }, why)
  // Before the policies: an occurrence that cannot run must not cancel one that does.
  const closed = schedule.budget ?? overDay(schedule)
  if (closed !== null) return skip(closed)
  const overlap = decideOverlap(rules, history, isReleased ? nominal : null)
  switch (overlap.kind) {
    case 'skip':
      return skip(overlap.why)
    case 'supersede': {
      const supersedes = history.pending.map((run) => run.id)
      const freed = { ...history, pending: [] }
      return makeRun({ ...schedule, history: freed }, { occurrence, slot: 'held', firstAttempt: 1, supersedes })
    }
    case 'parallel':
      return makeRun(schedule, { occurrence, slot: 'held', firstAttempt: 1, supersedes: [] })
    case 'clear':
    case 'allow':
    case 'buffer': {
      const failure =
        overlap.kind === 'clear'
          ? decideFailure(rules, history, occurrence.now)
          : ({ kind: 'run', firstAttempt: 1 } as const)
      if (failure.kind === 'skip') return skip(failure.why, failure.uses ?? history.skippedFor)
      const madeUp = isReleased || occurrence.trigger === 'catchup'
      const concurrency = decideConcurrency(rules, history, { mayWait: overlap.kind === 'buffer', madeUp })
      if (concurrency.kind === 'skip') return skip(concurrency.why)
      const slot = concurrency.kind === 'run' ? 'held' : 'parked'
      return makeRun(schedule, { occurrence, slot, firstAttempt: failure.firstAttempt, supersedes: [] })
    }
  }
}

const overDay = ({ runsPerDay = null }: PlannedSchedule): Why | null =>
  runsPerDay === null ? null : overDailyRuns(runsPerDay)

interface NewRun {
  readonly occurrence: Deciding
  readonly slot: 'held' | 'parked'
  readonly firstAttempt: number
  readonly supersedes: readonly RunId[]
}

function makeRun({ history, rules }: PlannedSchedule, run: NewRun): Step {
  const { occurrence, slot, firstAttempt, supersedes } = run
  const { nominal, trigger, now } = occurrence
  const runId = occurrence.newRunId()
  // A time that is still to come was due by a clock that has been set back since: such a run waits for its jitter alone.
  const due = nominal < now ? nominal : now
  const jittered = later(due, jitterFor(occurrence.jitterSeed, nominal, rules.jitterMs))
  const madeUp = occurrence.isReleased || trigger === 'catchup'
  return {
    decision: {
      ...{ kind: 'run', nominal, trigger, runId, slot, firstAttempt, supersedes, notBefore: latest(now, jittered) },
      why: runWhy(rules, run),
    },
    history: {
      ...history,
      previous: { id: runId, state: 'queued' },
      pending: [...history.pending, { id: runId, slot, nominal, madeUp }],
      fires: history.fires + 1,
    },
  }
}

function runWhy(rules: ScheduleRules, run: NewRun): Why {
  const { occurrence, slot, firstAttempt, supersedes } = run
  const evidence = {
    nominal: formatInstant(occurrence.nominal),
    seen: formatInstant(occurrence.seen),
    policy: rules.misfirePolicy,
    slot,
    first_attempt: firstAttempt,
    superseded: supersedes.length,
  }
  return occurrence.trigger === 'catchup'
    ? because('caught_up', `misfire_policy=${rules.misfirePolicy}`, evidence)
    : because('due', 'timing', evidence)
}
