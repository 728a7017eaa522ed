import { runId, type RunId } from '../../src/domain/ids.ts'
import { instant, type Instant } from '../../src/domain/instant.ts'
import {
  decideRelease,
  planOccurrences,
  type OccurrenceDecision,
  type OccurrencePlan,
} from '../../src/domain/schedule/occurrences.ts'
import { NO_HISTORY, type ScheduleHistory } from '../../src/domain/schedule/history.ts'
import { DEFAULT_FIRING_SETTINGS, type ScheduleRules } from '../../src/domain/schedule/rules.ts'
import { parseTiming } from '../../src/domain/time/parse-timing.ts'
import type { Timing } from '../../src/domain/time/timing.ts'
import { UTC } from '../../src/domain/time/zone.ts'
import { rules } from './builders.ts'

export const at = (iso: string): Instant => instant(Date.parse(iso))

/** A timing from the fields a user would send. */
export function timingOf(input: Record<string, unknown>, now = at('2026-01-01T00:00:00Z')): Timing {
  const read = parseTiming(input, { now, defaultZone: UTC })
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return read.value
}

export interface PlanInput {
  readonly timing: Timing
  readonly watermark: Instant
  readonly seen: Instant
  readonly rules?: Partial<ScheduleRules>
  readonly history?: Partial<ScheduleHistory>
}

/** Plans with run ids n1, n2, … */
export function plan(input: PlanInput): OccurrencePlan {
  let made = 0
  return planOccurrences(
    { rules: rules(input.rules), timing: input.timing, history: { ...NO_HISTORY, ...input.history }, budget: null },
    {
      due: { watermark: input.watermark, seen: input.seen, jitterSeed: 'sch_1' },
      settings: DEFAULT_FIRING_SETTINGS,
      newRunId: (): RunId => runId(`n${(made += 1)}`),
    },
  )
}

/**
 * Plans, and releases everything that was held at its time. `after` is what has become of the schedule's runs between two
 * releases; left out, nothing has: every run that was made is still pending.
 */
export function planAndRelease(
  input: PlanInput,
  after: (history: ScheduleHistory) => ScheduleHistory = (history) => history,
): readonly OccurrenceDecision[] {
  const planned = plan(input)
  let { history } = planned
  return planned.decisions.map((decision) => {
    if (decision.kind !== 'hold') return decision
    const schedule = { rules: rules(input.rules), timing: input.timing, history: after(history), budget: null }
    const times = { seen: input.seen, now: decision.until, jitterSeed: 'sch_1' }
    const step = decideRelease(schedule, { ...decision, ...times })
    ;({ history } = step)
    return step.decision
  })
}

/** A decision in one word, as the policy table writes it. */
export function wordFor(decision: OccurrenceDecision): string {
  if (decision.kind === 'skip') return decision.why.reason
  if (decision.kind === 'hold') return 'hold'
  if (decision.slot === 'parked') return 'park'
  return `${decision.supersedes.length > 0 ? 'replace' : 'run'}${decision.firstAttempt}`
}
