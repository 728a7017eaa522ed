import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import type { RunId, ScheduleId } from '../../domain/ids.ts'
import { latest } from '../../domain/instant.ts'
import { defaultLane } from '../../domain/queue/lanes.ts'
import type { Why } from '../../domain/reasons.ts'
import { jobRunIdOf } from '../../domain/schedule/occurrence-key.ts'
import { type OccurrencePlan, planOccurrences } from '../../domain/schedule/occurrences.ts'
import { decideRunNow, type RunNowDecision } from '../../domain/schedule/run-now.ts'
import type { Timing } from '../../domain/time/timing.ts'
import { statusAfter, tooDense } from '../../domain/schedule/lifecycle.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { ScheduleRow } from '../../features/schedules/store.ts'
import { isMisfire, checkMissed } from './alerts.ts'
import { closedBudget } from './budgets.ts'
import { dailyLimitReached, runsOfDay } from './daily-runs.ts'
import type { OrgState } from '../org-state/org-state.ts'
import { holdOccurrence, limitHeld } from './held.ts'
import { historyOf, supersede } from '../org-state/history.ts'
import { deliveryOfSchedule } from './announce.ts'
import { withPace } from './pace.ts'
import { agentInState, createRun, retryPolicyFor } from './runs.ts'

/** Decides every due occurrence of a loaded schedule, and when to look again. */
export function fire(state: OrgState, id: ScheduleId): void {
  const row = state.schedules.get(id)
  if (row?.state !== 'active') return
  const budget = state.budgets === null ? null : (closedBudget(state, { ...row, scheduleId: id })?.why ?? null)
  const { pace } = row
  const timing = pace === null ? row.timing : plannedTiming(row)
  const plan = planOccurrences(
    { rules: row.rules, timing, history: historyOf(state, row), budget, runsPerDay: runsOfDay(state) },
    {
      due: { watermark: row.watermark, seen: state.now, jitterSeed: row.id },
      settings: state.settings.schedules,
      newRunId: () => state.randomSource.newRunId('run', state.now),
    },
  )
  if (plan.skippedRange !== null) {
    state.changes.ranges.push({ scheduleId: id, ...plan.skippedRange })
  }
  for (const decision of plan.decisions) {
    const key = { kind: 'occurrence', scheduleId: id, nominal: decision.nominal } as const
    const runId = decision.kind === 'skip' ? state.randomSource.newRunId('run', state.now) : decision.runId
    state.changes.occurrences.push({ key, runId })
    const why = pace === null ? decision.why : withPace(decision.why, { timing, pace }, decision.nominal)
    // Assigned, not spread: a schedule may fire a million times in a simulation, and copying wide objects is expensive.
    const newRun = Object.assign(scheduleRunFields(state, row), {
      id: runId,
      jobRunId: jobRunIdOf(key),
      nominal: decision.nominal,
    })
    if (decision.kind === 'skip') {
      createRun(state, Object.assign(newRun, { trigger: 'schedule', state: 'skipped', decision: why } as const))
      continue
    }
    if (decision.kind === 'hold') {
      holdOccurrence(state, newRun, { trigger: decision.trigger, notBefore: decision.until, decision: why })
      continue
    }
    supersede(state, decision.supersedes, decision.nominal)
    const waits = decision.notBefore > state.now
    const fields = {
      trigger: decision.trigger,
      trace: state.randomSource.newTrace?.(decision.trigger) ?? null,
      slot: decision.slot,
      firstAttempt: decision.firstAttempt,
      state: waits ? 'waiting' : 'queued',
      notBefore: waits ? decision.notBefore : null,
      decision: why,
    } as const
    createRun(state, Object.assign(newRun, fields))
    row.previousRunId = runId
    row.lastRunAt = latest(row.lastRunAt ?? decision.nominal, decision.nominal)
  }
  updateFiredSchedule(state, row, { plan, timing })
}

/** Moves the schedule past its decided occurrences. */
function updateFiredSchedule(
  state: OrgState,
  row: ScheduleRow,
  { plan, timing }: { readonly plan: OccurrencePlan; readonly timing: Timing },
): void {
  limitHeld(state, row)
  if (row.alerts !== null || isMisfire(plan)) checkMissed(state, row, plan)
  row.skippedFor = plan.history.skippedFor
  row.fires = plan.history.fires
  if (state.now > row.watermark) row.watermark = state.now
  const life = statusAfter({ timing, maxFires: row.rules.maxFires, fires: row.fires }, row.watermark)
  row.nextRunAt = life.nextRunAt
  // A schedule with `at` is not finished by firing: the ending of its run decides that.
  if (row.timing.kind !== 'at') row.state = life.state
  const dense = tooDense(timing)
  if (dense !== null) row.lastError = `The rule ${dense}.`
  state.changes.schedules.add(row)
  if (row.state !== 'active')
    state.changes.events.push({
      kind: 'schedule.changed',
      subject: row.id,
      data: { state: row.state, ...ownerField(row) },
    })
}

/** The result of a request to run a schedule now. */
export type RunNowResult =
  | (RunNowDecision & { readonly runId?: RunId })
  /** The org has used up its runs of the day. */
  | { readonly kind: 'over_day'; readonly why: Why; readonly retryAfterMs: number }

/** The owner of a schedule, if it has one. */
const ownerField = ({ owner }: ScheduleRow) => (owner === null ? {} : { owner })

/** How a run is requested, and the owner if it is not the schedule's. */
export interface RunNowRequest {
  readonly mode: 'force' | 'due'
  readonly trace?: string | null | undefined
  readonly overrides?: Partial<RunRow> | undefined
}

/** Runs a schedule now, on request. */
export function runNow(state: OrgState, id: ScheduleId, { mode, trace, overrides }: RunNowRequest): RunNowResult {
  const row = state.schedules.get(id)
  if (row === undefined) throw new Error(`schedule ${id} is not loaded`)
  const history = historyOf(state, row)
  const decision = decideRunNow({ rules: row.rules, history, nextRunAt: row.nextRunAt }, mode, state.now)
  if (decision.kind !== 'run') return decision
  const closed = dailyLimitReached(state)
  if (closed !== null) return { kind: 'over_day', why: closed.why, retryAfterMs: closed.until - state.now }
  const runId = state.randomSource.newRunId('run', state.now)
  const key = { kind: 'manual', scheduleId: id, nominal: state.now, runId } as const
  state.changes.occurrences.push({ key, runId })
  row.previousRunId = runId
  row.lastRunAt = state.now
  state.changes.schedules.add(row)
  createRun(state, {
    ...scheduleRunFields(state, row),
    id: runId,
    jobRunId: jobRunIdOf(key),
    trigger: 'manual',
    trace: trace ?? null,
    state: 'queued',
    slot: decision.slot,
    decision: decision.why,
    ...overrides,
  })
  return { ...decision, runId }
}

/** Timeout, retries and delivery of a schedule's runs. */
export function scheduleTerms(
  state: OrgState,
  row: ScheduleRow,
): Pick<RunRow, 'timeoutSeconds' | 'retryPolicy' | 'failureActionRetries' | 'delivery'> {
  const agent = agentInState(state, row.agentId)
  return {
    timeoutSeconds: row.timeoutSeconds ?? agent.timeoutSeconds,
    retryPolicy: retryPolicyFor(state, [row, agent], { trigger: 'schedule', executorKind: agent.executorKind }),
    failureActionRetries: row.rules.failureAction === 'RETRY',
    delivery: deliveryOfSchedule(row),
  }
}

/** The fields that every run of the schedule has, whatever triggers it. */
export function scheduleRunFields(
  state: OrgState,
  row: ScheduleRow,
): Pick<RunRow, 'agentId' | 'executorKey' | 'lane' | 'payload'> & Partial<RunRow> {
  const agent = agentInState(state, row.agentId)
  return {
    agentId: row.agentId,
    executorKey: agent.executorKey,
    scheduleId: row.id,
    sessionKey: row.sessionKey,
    generation: row.sessionKey === null ? 0 : (state.sessions.get(row.sessionKey)?.generation ?? 0),
    lane: row.lane ?? defaultLane({ trigger: 'schedule', hasParent: false }),
    payload: row.payload,
    ...scheduleTerms(state, row),
    owner: row.owner,
    parentRunId: row.createdByRun,
    lineage: row.lineage,
  }
}
