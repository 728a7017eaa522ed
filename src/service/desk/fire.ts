import type { RunId, ScheduleId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import { defaultLane } from '../../core/lanes.ts'
import { isTerminal } from '../../core/run/run-machine.ts'
import { defaultMaxRetries } from '../../core/run/retry.ts'
import { DEFAULT_RETRY_POLICY } from '../../core/run/retry-policy.ts'
import { jobRunIdOf } from '../../core/schedule/occurrence-key.ts'
import { planOccurrences } from '../../core/schedule/occurrences.ts'
import { cancelSuperseded } from '../../core/schedule/overlap.ts'
import { decideRunNow, type RunNow } from '../../core/schedule/run-now.ts'
import type { ScheduleHistory } from '../../core/schedule/schedule-history.ts'
import { lifeAfter } from '../../core/schedule/schedule-life.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { applyCancellations } from './cancel.ts'
import { pendingOfSchedule, type Desk, type ScheduleOnDesk } from './desk.ts'
import { makeRun } from './runs.ts'

/** Decides every due occurrence of a schedule on the desk, and when to look again. */
export function fire(desk: Desk, id: ScheduleId): void {
  const schedule = desk.schedules.get(id)
  if (schedule?.row.state !== 'active') return
  const { row } = schedule
  const plan = planOccurrences(
    { rules: row.rules, timing: row.timing, history: historyOf(desk, schedule), budget: null },
    {
      due: { watermark: row.watermark, seen: desk.now, jitterSeed: row.id },
      settings: desk.settings.firing,
      newRunId: () => desk.chance.newRunId('run'),
    },
  )
  if (plan.skippedRange !== null) {
    const { first, last, count, why } = plan.skippedRange
    desk.changes.ranges.push({ scheduleId: id, first, last, count, reason: why.reason })
  }
  for (const decision of plan.decisions) {
    const jobRunId = jobRunIdOf({ kind: 'occurrence', scheduleId: id, nominal: decision.nominal })
    if (decision.kind === 'skip') {
      const skipped = { ...rowOf(desk, schedule), id: desk.chance.newRunId('run'), jobRunId, nominal: decision.nominal }
      makeRun(desk, { ...skipped, trigger: 'schedule', state: 'skipped', decision: decision.why })
      continue
    }
    supersede(desk, decision.supersedes, decision.nominal)
    const waits = decision.notBefore > desk.now
    makeRun(desk, {
      ...rowOf(desk, schedule),
      id: decision.runId,
      jobRunId,
      nominal: decision.nominal,
      trigger: decision.trigger,
      slot: decision.slot,
      firstAttempt: decision.firstAttempt,
      state: waits ? 'waiting' : 'queued',
      notBefore: waits ? decision.notBefore : null,
      decision: decision.why,
    })
    row.lastRunAt = decision.nominal
  }
  row.skippedFor = plan.history.skippedFor
  row.fires = plan.history.fires
  if (desk.now > row.watermark) row.watermark = desk.now
  const life = lifeAfter({ timing: row.timing, maxFires: row.rules.maxFires, fires: row.fires }, row.watermark)
  row.nextRunAt = life.nextRunAt
  // An `at` is not finished by having fired: how its run ends decides that.
  if (row.timing.kind !== 'at') row.state = life.state
  desk.changes.schedules.add(row)
}

/** Somebody wants a run of the schedule now. */
export function runNow(desk: Desk, id: ScheduleId, mode: 'force' | 'due'): RunNow & { readonly runId?: RunId } {
  const schedule = desk.schedules.get(id)
  if (schedule === undefined) throw new Error(`schedule ${id} is not on the desk`)
  const { row } = schedule
  const history = historyOf(desk, schedule)
  const decision = decideRunNow({ rules: row.rules, history, nextRunAt: row.nextRunAt }, mode, desk.now)
  if (decision.kind !== 'run') return decision
  const runId = desk.chance.newRunId('run')
  makeRun(desk, {
    ...rowOf(desk, schedule),
    id: runId,
    jobRunId: jobRunIdOf({ kind: 'manual', scheduleId: id, nominal: desk.now, runId }),
    trigger: 'manual',
    state: 'queued',
    slot: decision.slot,
    decision: decision.why,
  })
  return { ...decision, runId }
}

/** Superseded runs give up their schedule slot in the same transaction; everything else they keep until they end. */
function supersede(desk: Desk, ids: readonly RunId[], nominal: Instant): void {
  const runs = ids.flatMap((id) => desk.runs.get(id) ?? []).filter((run) => !isTerminal(run.state))
  for (const run of runs) {
    run.superseded = true
    run.slot = null
    desk.changes.changed.add(run)
  }
  const { stopGraceMs } = desk.settings
  applyCancellations(desk, cancelSuperseded(runs, { nominal, now: desk.now, stopGraceMs }))
}

function historyOf(desk: Desk, schedule: ScheduleOnDesk): ScheduleHistory {
  const { row } = schedule
  const pending = pendingOfSchedule(desk, row.id)
  const loaded = schedule.previous === null ? null : (desk.runs.get(schedule.previous.id) ?? schedule.previous)
  return {
    previous: newestOf(desk, row.id) ?? loaded,
    pending: pending.map((run) => ({ id: run.id, slot: run.slot ?? 'parked' })),
    lastEnding: schedule.lastEnding,
    failureStreak: row.failureStreak,
    skippedFor: row.skippedFor,
    fires: row.fires,
  }
}

/** A run that was made on this desk is newer than anything that was loaded. */
function newestOf(desk: Desk, id: ScheduleId): RunRow | null {
  let newest: RunRow | null = null
  for (const run of desk.changes.made)
    if (run.scheduleId === id && run.state !== 'skipped' && !run.superseded) newest = run
  return newest
}

function rowOf(
  desk: Desk,
  { row }: { readonly row: ScheduleRow },
): Pick<RunRow, 'agentId' | 'executorKey' | 'lane' | 'payload'> & Partial<RunRow> {
  const agent = desk.agents.get(row.agentId)
  if (agent === undefined) throw new Error(`agent ${row.agentId} is not on the desk`)
  const { executorKind, executorKey } = agent
  const maxRetries = defaultMaxRetries({ trigger: 'schedule', executorKind, inlineExecutor: false })
  return {
    agentId: row.agentId,
    executorKey,
    scheduleId: row.id,
    sessionKey: row.sessionKey,
    generation: row.sessionKey === null ? 0 : (desk.sessions.get(row.sessionKey)?.generation ?? 0),
    lane: row.lane ?? defaultLane({ trigger: 'schedule', hasParent: false }),
    payload: row.payload,
    timeoutSeconds: row.timeoutSeconds,
    retryPolicy: row.retryPolicy ?? { ...DEFAULT_RETRY_POLICY, maxRetries },
    failureActionRetries: row.rules.failureAction === 'RETRY',
  }
}
