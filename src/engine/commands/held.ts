import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import type { ScheduleId } from '../../domain/ids.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { cancelAll } from '../../domain/run/cancellation.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import { misfireWhy } from '../../domain/schedule/misfire.ts'
import { decideRelease, type PolicyDecision } from '../../domain/schedule/occurrences.ts'
import { statusAfter } from '../../domain/schedule/lifecycle.ts'
import { MAX_HELD } from '../../domain/schedule/rules.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { ScheduleRow } from '../../features/schedules/store.ts'
import { closedBudget } from './budgets.ts'
import { applyCancellations } from './cancel.ts'
import { countDailyRun, runsOfDay } from './daily-runs.ts'
import type { OrgState } from '../org-state/org-state.ts'
import { historyOf, supersede } from '../org-state/history.ts'
import { createRun, applyEvent, type NewRunFields } from './runs.ts'

/**
 * Held occurrences, which catch up one after the other. A held run waits with its payload and nothing else: it has no
 * slot, and no other occurrence takes it into account. The policies are asked when it is released.
 */

/** Holds an occurrence. */
export function holdOccurrence(
  state: OrgState,
  newRun: Omit<NewRunFields, 'trigger' | 'state' | 'decision'>,
  held: Pick<RunRow, 'trigger' | 'notBefore' | 'decision'>,
): void {
  const trace = state.randomSource.newTrace?.(held.trigger) ?? null
  createRun(state, { ...newRun, ...held, trace, state: 'waiting' })
}

/** The held occurrences of a schedule, by nominal time. */
function heldRunsOf(state: OrgState, id: ScheduleId): readonly RunRow[] {
  const found: RunRow[] = []
  for (const run of state.bySchedule.get(id) ?? []) if (isHeld(run)) found.push(run)
  return found.sort((a, b) => (a.nominal ?? 0) - (b.nominal ?? 0))
}

/** Skips the oldest held occurrences of a schedule that has more than the maximum. */
export function limitHeld(state: OrgState, row: ScheduleRow): void {
  // Runs of the schedule that are not held may make this too large, and never too small.
  if ((state.bySchedule.get(row.id)?.size ?? 0) <= MAX_HELD) return
  const held = heldRunsOf(state, row.id)
  for (const run of held.slice(0, Math.max(0, held.length - MAX_HELD)))
    skipHeld(state, run, misfireWhy(row.rules, run.nominal ?? run.createdAt, state.now))
}

/** Ends the held occurrences of a schedule that was disabled or is about to be deleted. */
export function endHeld(state: OrgState, id: ScheduleId, rule: 'schedule.disable' | 'schedule.delete'): void {
  const { now, settings } = state
  const why = because('schedule_disabled', rule)
  applyCancellations(state, cancelAll(heldRunsOf(state, id), { now, why, stopGraceMs: settings.node.stopGraceMs }))
}

/** Whether held occurrences must not become runs, because the schedule is disabled or gone. */
const isScheduleOff = (row: ScheduleRow | undefined): boolean =>
  row === undefined || row.state === 'paused' || row.state === 'pending_approval'

/** Asks the policies about a held occurrence and applies their decision. */
export function releaseHeld(state: OrgState, run: RunRow): void {
  const row = run.scheduleId === null ? undefined : state.schedules.get(run.scheduleId)
  // A node of the release before may have disabled or deleted the schedule.
  if (row === undefined || isScheduleOff(row)) {
    const why = because('schedule_disabled', row === undefined ? 'schedule.delete' : 'schedule.disable')
    applyCancellations(state, cancelAll([run], { now: state.now, why, stopGraceMs: state.settings.node.stopGraceMs }))
    return
  }
  const spender = { ...row, scheduleId: row.id, payload: run.payload }
  const budget = state.budgets === null ? null : (closedBudget(state, spender)?.why ?? null)
  const step = decideRelease(
    { rules: row.rules, timing: row.timing, history: historyOf(state, row), budget, runsPerDay: runsOfDay(state) },
    {
      ...{ runId: run.id, nominal: run.nominal ?? run.createdAt, seen: run.createdAt },
      ...{ trigger: run.trigger === 'catchup' ? 'catchup' : 'schedule', now: state.now, jitterSeed: row.id },
    },
  )
  row.lastReleaseAt = state.now
  row.skippedFor = step.history.skippedFor
  row.fires = step.history.fires
  state.changes.schedules.add(row)
  if (step.decision.kind === 'skip') skipHeld(state, run, step.decision.why)
  else startReleased(state, row, { run, decision: step.decision })
}

interface ReleasedRun {
  readonly run: RunRow
  readonly decision: Extract<PolicyDecision, { readonly kind: 'run' }>
}

function startReleased(state: OrgState, row: ScheduleRow, { run, decision }: ReleasedRun): void {
  supersede(state, decision.supersedes, decision.nominal)
  replaceDecision(state, run, decision.why)
  run.firstAttempt = decision.firstAttempt
  run.attempt = decision.firstAttempt
  run.slot = decision.slot
  row.previousRunId = run.id
  if (row.lastRunAt === null || row.lastRunAt < decision.nominal) row.lastRunAt = decision.nominal
  if (state.daily !== null) countDailyRun(state)
  if (decision.notBefore > state.now) {
    run.notBefore = decision.notBefore
    state.changes.changed.add(run)
  } else applyEvent(state, run, { event: 'due', why: run.decision })
  finishUsedUp(state, row)
}

/** Replaces the decision to hold, which is kept beside the new one. */
function replaceDecision(state: OrgState, run: RunRow, why: Why): void {
  run.heldDecision = run.decision
  run.decision = { ...why, evidence: { ...run.decision.evidence, ...why.evidence } }
  state.changes.released.add(run)
}

function skipHeld(state: OrgState, run: RunRow, why: Why): void {
  // Before the decision, because the event depends on its being held: its end says nothing about the schedule's runs.
  applyEvent(state, run, { event: 'skip', why })
  replaceDecision(state, run, why)
}

/** The release may have used up the schedule's `max_fires`. */
function finishUsedUp(state: OrgState, row: ScheduleRow): void {
  const { maxFires } = row.rules
  if (maxFires === null || row.state !== 'active' || row.fires < maxFires) return
  const life = statusAfter({ timing: plannedTiming(row), maxFires, fires: row.fires }, row.watermark)
  row.state = life.state
  row.nextRunAt = life.nextRunAt
  const owner = row.owner === null ? {} : { owner: row.owner }
  state.changes.events.push({ kind: 'schedule.changed', subject: row.id, data: { state: row.state, ...owner } })
}
