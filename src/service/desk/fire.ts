import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import type { RunId, ScheduleId } from '../../domain/ids.ts'
import { latest } from '../../domain/instant.ts'
import { defaultLane } from '../../domain/queue/lanes.ts'
import type { Why } from '../../domain/reasons.ts'
import { jobRunIdOf } from '../../domain/schedule/occurrence-key.ts'
import { planOccurrences } from '../../domain/schedule/occurrences.ts'
import { decideRunNow, type RunNow } from '../../domain/schedule/run-now.ts'
import { lifeAfter, tooDense } from '../../domain/schedule/lifecycle.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { isMisfire, judgeMissed } from './alerts.ts'
import { closedBudget } from './budgets.ts'
import { closedDay, dailyRuns } from './daily-runs.ts'
import type { Desk } from './desk.ts'
import { hold, limitHeld } from './held.ts'
import { historyOf, supersede } from './history.ts'
import { deliveryOf } from './announce.ts'
import { withPace } from './pace.ts'
import { agentOn, makeRun, retryPolicyFor } from './runs.ts'

/** Decides every due occurrence of a schedule on the desk, and when to look again. */
export function fire(desk: Desk, id: ScheduleId): void {
  const row = desk.schedules.get(id)
  if (row?.state !== 'active') return
  const budget = desk.budgets === null ? null : (closedBudget(desk, { ...row, scheduleId: id })?.why ?? null)
  const { pace } = row
  const timing = pace === null ? row.timing : plannedTiming(row)
  const plan = planOccurrences(
    { rules: row.rules, timing, history: historyOf(desk, row), budget, runsPerDay: dailyRuns(desk) },
    {
      due: { watermark: row.watermark, seen: desk.now, jitterSeed: row.id },
      settings: desk.settings.schedules,
      newRunId: () => desk.chance.newRunId('run', desk.now),
    },
  )
  if (plan.skippedRange !== null) {
    desk.changes.ranges.push({ scheduleId: id, ...plan.skippedRange })
  }
  for (const decision of plan.decisions) {
    const key = { kind: 'occurrence', scheduleId: id, nominal: decision.nominal } as const
    const runId = decision.kind === 'skip' ? desk.chance.newRunId('run', desk.now) : decision.runId
    desk.changes.occurrences.push({ key, runId })
    const why = pace === null ? decision.why : withPace(decision.why, { timing, pace }, decision.nominal)
    // Assigned, not spread: a schedule may fire a million times in a simulation, and copies of wide objects are dear.
    const made = Object.assign(runOf(desk, row), { id: runId, jobRunId: jobRunIdOf(key), nominal: decision.nominal })
    if (decision.kind === 'skip') {
      makeRun(desk, Object.assign(made, { trigger: 'schedule', state: 'skipped', decision: why } as const))
      continue
    }
    if (decision.kind === 'hold') {
      hold(desk, made, { trigger: decision.trigger, notBefore: decision.until, decision: why })
      continue
    }
    supersede(desk, decision.supersedes, decision.nominal)
    const waits = decision.notBefore > desk.now
    const fields = {
      trigger: decision.trigger,
      trace: desk.chance.newTrace?.(decision.trigger) ?? null,
      slot: decision.slot,
      firstAttempt: decision.firstAttempt,
      state: waits ? 'waiting' : 'queued',
      notBefore: waits ? decision.notBefore : null,
      decision: why,
    } as const
    makeRun(desk, Object.assign(made, fields))
    row.previousRunId = runId
    row.lastRunAt = latest(row.lastRunAt ?? decision.nominal, decision.nominal)
  }
  limitHeld(desk, row)
  if (row.alerts !== null || isMisfire(plan)) judgeMissed(desk, row, plan)
  row.skippedFor = plan.history.skippedFor
  row.fires = plan.history.fires
  if (desk.now > row.watermark) row.watermark = desk.now
  const life = lifeAfter({ timing, maxFires: row.rules.maxFires, fires: row.fires }, row.watermark)
  row.nextRunAt = life.nextRunAt
  // An `at` is not finished by having fired: how its run ends decides that.
  if (row.timing.kind !== 'at') row.state = life.state
  const dense = tooDense(timing)
  if (dense !== null) row.lastError = `The rule ${dense}.`
  desk.changes.schedules.add(row)
  if (row.state !== 'active')
    desk.changes.events.push({ kind: 'schedule.changed', subject: id, data: { state: row.state, ...ownerOf(row) } })
}

/** What became of the wish for a run now. */
export type RanNow =
  | (RunNow & { readonly runId?: RunId })
  /** The org has had its runs for today. */
  | { readonly kind: 'over_day'; readonly why: Why; readonly retryAfterMs: number }

/** Whose a schedule is, where it is somebody's. */
const ownerOf = ({ owner }: ScheduleRow) => (owner === null ? {} : { owner })

/** How somebody wants a run now, and whose it is if that is not what the schedule says. */
export interface RunNowAsked {
  readonly mode: 'force' | 'due'
  readonly trace?: string | null | undefined
  readonly making?: Partial<RunRow> | undefined
}

/** Somebody wants a run of the schedule now. */
export function runNow(desk: Desk, id: ScheduleId, { mode, trace, making }: RunNowAsked): RanNow {
  const row = desk.schedules.get(id)
  if (row === undefined) throw new Error(`schedule ${id} is not on the desk`)
  const history = historyOf(desk, row)
  const decision = decideRunNow({ rules: row.rules, history, nextRunAt: row.nextRunAt }, mode, desk.now)
  if (decision.kind !== 'run') return decision
  const closed = closedDay(desk)
  if (closed !== null) return { kind: 'over_day', why: closed.why, retryAfterMs: closed.until - desk.now }
  const runId = desk.chance.newRunId('run', desk.now)
  const key = { kind: 'manual', scheduleId: id, nominal: desk.now, runId } as const
  desk.changes.occurrences.push({ key, runId })
  row.previousRunId = runId
  row.lastRunAt = desk.now
  desk.changes.schedules.add(row)
  makeRun(desk, {
    ...runOf(desk, row),
    id: runId,
    jobRunId: jobRunIdOf(key),
    trigger: 'manual',
    trace: trace ?? null,
    state: 'queued',
    slot: decision.slot,
    decision: decision.why,
    ...making,
  })
  return { ...decision, runId }
}

/** Under which terms the runs of a schedule are executed and delivered. */
export function termsOf(
  desk: Desk,
  row: ScheduleRow,
): Pick<RunRow, 'timeoutSeconds' | 'retryPolicy' | 'failureActionRetries' | 'delivery'> {
  const agent = agentOn(desk, row.agentId)
  return {
    timeoutSeconds: row.timeoutSeconds ?? agent.timeoutSeconds,
    retryPolicy: retryPolicyFor(desk, [row, agent], { trigger: 'schedule', executorKind: agent.executorKind }),
    failureActionRetries: row.rules.failureAction === 'RETRY',
    delivery: deliveryOf(row),
  }
}

/** What every run of the schedule has, whatever made it. */
export function runOf(
  desk: Desk,
  row: ScheduleRow,
): Pick<RunRow, 'agentId' | 'executorKey' | 'lane' | 'payload'> & Partial<RunRow> {
  const agent = agentOn(desk, row.agentId)
  return {
    agentId: row.agentId,
    executorKey: agent.executorKey,
    scheduleId: row.id,
    sessionKey: row.sessionKey,
    generation: row.sessionKey === null ? 0 : (desk.sessions.get(row.sessionKey)?.generation ?? 0),
    lane: row.lane ?? defaultLane({ trigger: 'schedule', hasParent: false }),
    payload: row.payload,
    ...termsOf(desk, row),
    owner: row.owner,
    parentRunId: row.createdByRun,
    lineage: row.lineage,
  }
}
