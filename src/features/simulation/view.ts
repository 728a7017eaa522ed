import type {
  SimulatedAttemptView,
  SimulatedRangeView,
  SimulatedRunView,
  SimulatedScheduleView,
  SimulationView,
} from './result-schema.ts'
import { fromMicros } from '../../domain/budget/budget.ts'
import { formatInstant, type Instant, later, SECOND_MS } from '../../domain/instant.ts'
import { firstStart } from '../../domain/run/run.ts'
import { explainWhy, type Why } from '../../domain/reasons.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { dstNotes } from '../../domain/time/preview.ts'
import { sentenceFor } from '../../domain/time/sentence.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import { viewDstNote } from '../schedules/preview.ts'
import { bucketMs, closeTimeStep, countInTimeline, type RecordedRange, type RecordedRun } from './record.ts'
import { incrementCount, viewTally } from './tally.ts'
import type { SimulationState } from './world.ts'

/** The API view of a finished simulation. */
export function viewSimulation(simulation: SimulationState): SimulationView {
  const { plan, record } = simulation
  closeTimeStep(record)
  countPending(simulation)
  return {
    from: formatInstant(plan.window.from),
    to: formatInstant(plan.window.to),
    seed: plan.task.seed,
    schedules: plan.schedules.map((row) => viewSimulatedSchedule(simulation, row)),
    rows: [...record.rows.values()].map(viewSimulatedRun),
    ranges: record.ranges.map(viewSimulatedRange),
    truncated: record.isTruncated,
    bucket_seconds: bucketMs(plan.window) / SECOND_MS,
    depth: record.levels.view(),
    totals: viewTally(record.whole),
    outages: plan.task.outages ?? [],
  }
}

/** Adds runs and attempts that are still pending at the end of the window to the totals. */
function countPending({ memory, record, runningAttempts, now }: SimulationState): void {
  for (const run of memory.state.runs.values()) {
    incrementCount(record.whole.byStatus, run.state)
    countInTimeline(record, run)
    const own = run.scheduleId === null ? undefined : record.bySchedule.get(run.scheduleId)
    if (own !== undefined) incrementCount(own.byStatus, run.state)
  }
  for (const { scheduleId, startedAt } of runningAttempts.values()) {
    record.whole.busyMs += now - startedAt
    const own = record.bySchedule.get(scheduleId)
    if (own !== undefined) own.busyMs += now - startedAt
  }
}

function viewSimulatedSchedule({ memory, record, plan }: SimulationState, given: ScheduleRow): SimulatedScheduleView {
  const row = memory.state.schedules.get(given.id)
  const tally = record.bySchedule.get(given.id)
  if (tally === undefined) throw new Error(`Schedule ${given.id} is not part of the simulation`)
  const { from, to } = plan.window
  return {
    ...{ id: given.id, name: given.name, agent_id: given.agentId, kind: given.timing.kind },
    sentence: sentenceFor(given.timing),
    timezone: given.timing.zone.name,
    state: row?.state ?? null,
    next_run_at: timeOrNull(row?.nextRunAt ?? null),
    fires: row?.fires ?? tally.runs,
    failure_streak: row?.failureStreak ?? 0,
    totals: viewTally(tally),
    buckets: [...tally.buckets]
      .toSorted(([a], [b]) => a - b)
      .map(([bucket, counts]) => ({
        at: formatInstant(later(from, bucket * bucketMs(plan.window))),
        by_status: Object.fromEntries(counts),
      })),
    dst_notes: dstNotes(given.timing, { after: from, upTo: to }).map(viewDstNote),
  }
}

const timeOrNull = (at: Instant | null): string | null => (at === null ? null : formatInstant(at))

const viewReason = (why: Why): SimulatedRunView['decision'] => ({
  ...{ reason: why.reason, rule: why.rule, sentence: explainWhy(why) },
})

function viewSimulatedRun(recorded: RecordedRun): SimulatedRunView {
  const { run } = recorded
  const by = run.superseded ? run.why?.evidence['nominal'] : undefined
  return {
    ...{ id: run.id, schedule_id: run.scheduleId ?? '', trigger: run.trigger, status: run.state },
    nominal_time: timeOrNull(run.nominal),
    ...viewReason(run.why ?? run.decision),
    decision: viewReason(run.decision),
    held_decision: run.heldDecision === null ? null : viewReason(run.heldDecision),
    ...{ first_attempt: run.firstAttempt, attempt: run.attempt, created_at: formatInstant(run.createdAt) },
    not_before: timeOrNull(recorded.notBefore),
    started_at: timeOrNull(firstStart(run)),
    finished_at: timeOrNull(run.finishedAt),
    lateness_ms: recorded.firstStart === null || run.nominal === null ? null : recorded.firstStart - run.nominal,
    error_code: isTerminal(run.state) ? run.errorCode : null,
    ...{ tokens: recorded.tokens, cost: fromMicros(recorded.costMicros), superseded: run.superseded },
    superseded_by: typeof by === 'string' ? by : null,
    attempts: viewAttempts(recorded),
  }
}

/** The run itself contains its last attempt, except while it waits for a retry. */
function viewAttempts({ run, attempts }: RecordedRun): readonly SimulatedAttemptView[] {
  const earlier = attempts.map((one) => ({
    ...{ number: one.number, status: one.status, error_code: one.errorCode },
    started_at: formatInstant(one.startedAt),
    finished_at: formatInstant(one.finishedAt),
  }))
  const last = attempts.at(-1)
  const isListed = run.startedAt === null || (last !== undefined && last.number >= run.attempt)
  const waits = run.state === 'waiting' || run.state === 'queued'
  if (isListed || waits || (last !== undefined && run.startedAt === last.startedAt)) return earlier
  const number = run.attempt
  const finished = isTerminal(run.state) ? run.finishedAt : null
  const status = run.state
  return [
    ...earlier,
    {
      ...{ number, status, error_code: run.errorCode },
      started_at: formatInstant(run.startedAt ?? run.createdAt),
      finished_at: timeOrNull(finished),
    },
  ]
}

const viewSimulatedRange = (range: RecordedRange): SimulatedRangeView => ({
  ...{ schedule_id: range.scheduleId, count: range.count },
  first: formatInstant(range.first),
  last: formatInstant(range.last),
  decided_at: formatInstant(range.decidedAt),
  ...viewReason(range.why),
})
