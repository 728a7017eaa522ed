import type {
  SimulatedAttemptView,
  SimulatedRangeView,
  SimulatedRunView,
  SimulatedScheduleView,
  SimulationView,
} from './result-schema.ts'
import { fromMicros } from '../../domain/budget/budget.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { firstStart } from '../../domain/run/run.ts'
import { explainWhy, type Why } from '../../domain/reasons.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { dstNotes } from '../../domain/time/preview.ts'
import { sentenceFor } from '../../core/time/sentence.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { viewNote } from '../../service/schedule-preview.ts'
import { closeMoment, type KeptRange, type KeptRun } from '../../service/simulation/record.ts'
import { countOne, viewTally } from './tally.ts'
import type { World } from '../../service/simulation/world.ts'

/** What has happened, for whoever asked. */
export function viewWorld(world: World): SimulationView {
  const { plan, record } = world
  closeMoment(record)
  countPending(world)
  return {
    from: formatInstant(plan.window.from),
    to: formatInstant(plan.window.to),
    seed: plan.task.seed,
    schedules: plan.schedules.map((row) => viewSchedule(world, row)),
    rows: [...record.rows.values()].map(viewRun),
    ranges: record.ranges.map(viewRange),
    truncated: record.isTruncated,
    depth: record.levels.view(),
    totals: viewTally(record.whole),
    outages: plan.task.outages ?? [],
  }
}

/** What has not ended stands where it stands. */
function countPending({ memory, record, performances, now }: World): void {
  for (const run of memory.desk.runs.values()) {
    countOne(record.whole.byStatus, run.state)
    const own = run.scheduleId === null ? undefined : record.bySchedule.get(run.scheduleId)
    if (own !== undefined) countOne(own.byStatus, run.state)
  }
  for (const { scheduleId, startedAt } of performances.values()) {
    record.whole.busyMs += now - startedAt
    const own = record.bySchedule.get(scheduleId)
    if (own !== undefined) own.busyMs += now - startedAt
  }
}

function viewSchedule({ memory, record, plan }: World, given: ScheduleRow): SimulatedScheduleView {
  const row = memory.desk.schedules.get(given.id)
  const tally = record.bySchedule.get(given.id)
  if (tally === undefined) throw new Error(`schedule ${given.id} does not take part`)
  const { from, to } = plan.window
  return {
    ...{ id: given.id, name: given.name, agent_id: given.agentId, kind: given.timing.kind },
    sentence: sentenceFor(given.timing),
    timezone: given.timing.zone.name,
    state: row?.state ?? null,
    next_run_at: written(row?.nextRunAt ?? null),
    fires: row?.fires ?? tally.runs,
    failure_streak: row?.failureStreak ?? 0,
    totals: viewTally(tally),
    dst_notes: dstNotes(given.timing, { after: from, upTo: to }).map(viewNote),
  }
}

const written = (at: Instant | null): string | null => (at === null ? null : formatInstant(at))

const spoken = (why: Why): SimulatedRunView['decision'] => ({
  ...{ reason: why.reason, rule: why.rule, sentence: explainWhy(why) },
})

function viewRun(kept: KeptRun): SimulatedRunView {
  const { run } = kept
  const by = run.superseded ? run.why?.evidence['nominal'] : undefined
  return {
    ...{ id: run.id, schedule_id: run.scheduleId ?? '', trigger: run.trigger, status: run.state },
    nominal_time: written(run.nominal),
    ...spoken(run.why ?? run.decision),
    decision: spoken(run.decision),
    held_decision: run.heldDecision === null ? null : spoken(run.heldDecision),
    ...{ first_attempt: run.firstAttempt, attempt: run.attempt, created_at: formatInstant(run.createdAt) },
    not_before: written(kept.notBefore),
    started_at: written(firstStart(run)),
    finished_at: written(run.finishedAt),
    lateness_ms: kept.firstStart === null || run.nominal === null ? null : kept.firstStart - run.nominal,
    error_code: isTerminal(run.state) ? run.errorCode : null,
    ...{ tokens: kept.tokens, cost: fromMicros(kept.costMicros), superseded: run.superseded },
    superseded_by: typeof by === 'string' ? by : null,
    attempts: attemptsOf(kept),
  }
}

/** The last attempt is in the run itself; it is none while the run waits for another. */
function attemptsOf({ run, attempts }: KeptRun): readonly SimulatedAttemptView[] {
  const earlier = attempts.map((one) => ({
    ...{ number: one.number, status: one.status, error_code: one.errorCode },
    started_at: formatInstant(one.startedAt),
    finished_at: formatInstant(one.finishedAt),
  }))
  const last = attempts.at(-1)
  const isTold = run.startedAt === null || (last !== undefined && last.number >= run.attempt)
  const waits = run.state === 'waiting' || run.state === 'queued'
  if (isTold || waits || (last !== undefined && run.startedAt === last.startedAt)) return earlier
  const number = run.attempt
  const finished = isTerminal(run.state) ? run.finishedAt : null
  const status = run.state
  return [
    ...earlier,
    {
      ...{ number, status, error_code: run.errorCode },
      started_at: formatInstant(run.startedAt ?? run.createdAt),
      finished_at: written(finished),
    },
  ]
}

const viewRange = (range: KeptRange): SimulatedRangeView => ({
  ...{ schedule_id: range.scheduleId, count: range.count },
  first: formatInstant(range.first),
  last: formatInstant(range.last),
  decided_at: formatInstant(range.decidedAt),
  ...spoken(range.why),
})
