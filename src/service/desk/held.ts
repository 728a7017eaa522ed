import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import type { ScheduleId } from '../../domain/ids.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { cancelAll } from '../../domain/run/cancellation.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import { misfireWhy } from '../../domain/schedule/misfire.ts'
import { decideRelease, type PolicyDecision } from '../../domain/schedule/occurrences.ts'
import { lifeAfter } from '../../domain/schedule/lifecycle.ts'
import { MAX_HELD } from '../../domain/schedule/rules.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { closedBudget } from './budgets.ts'
import { applyCancellations } from './cancel.ts'
import { countDailyRun, dailyRuns } from './daily-runs.ts'
import type { Desk } from './desk.ts'
import { historyOf, supersede } from './history.ts'
import { makeRun, move, type NewRun } from './runs.ts'

/**
 * Occurrences that are made up for one after the other. A held one waits with its payload and nothing else: it has no
 * slot, and no other occurrence looks at it. The policies are asked when it is released.
 */

/** Holds an occurrence. */
export function hold(
  desk: Desk,
  made: Omit<NewRun, 'trigger' | 'state' | 'decision'>,
  held: Pick<RunRow, 'trigger' | 'notBefore' | 'decision'>,
): void {
  const trace = desk.chance.newTrace?.(held.trigger) ?? null
  makeRun(desk, { ...made, ...held, trace, state: 'waiting' })
}

/** The held occurrences of a schedule, by the time they are for. */
function heldOf(desk: Desk, id: ScheduleId): readonly RunRow[] {
  const found: RunRow[] = []
  for (const run of desk.bySchedule.get(id) ?? []) if (isHeld(run)) found.push(run)
  return found.sort((a, b) => (a.nominal ?? 0) - (b.nominal ?? 0))
}

/** Skips the oldest held occurrences of a schedule that has more than it may. */
export function limitHeld(desk: Desk, row: ScheduleRow): void {
  // Runs of the schedule that are not held may make this too large, and never too small.
  if ((desk.bySchedule.get(row.id)?.size ?? 0) <= MAX_HELD) return
  const held = heldOf(desk, row.id)
  for (const run of held.slice(0, Math.max(0, held.length - MAX_HELD)))
    skip(desk, run, misfireWhy(row.rules, run.nominal ?? run.createdAt, desk.now))
}

/** A schedule was disabled or is about to be deleted: what is held of it ends. */
export function endHeld(desk: Desk, id: ScheduleId, rule: 'schedule.disable' | 'schedule.delete'): void {
  const { now, settings } = desk
  const why = because('schedule_disabled', rule)
  applyCancellations(desk, cancelAll(heldOf(desk, id), { now, why, stopGraceMs: settings.node.stopGraceMs }))
}

/** Whether the schedule makes no runs of what is held: it is off, or gone. */
const isOff = (row: ScheduleRow | undefined): boolean =>
  row === undefined || row.state === 'paused' || row.state === 'pending_approval'

/** Asks the policies about a held occurrence, and does what they say. */
export function releaseHeld(desk: Desk, run: RunRow): void {
  const row = run.scheduleId === null ? undefined : desk.schedules.get(run.scheduleId)
  // A node of the release before may have disabled or deleted the schedule.
  if (row === undefined || isOff(row)) {
    const why = because('schedule_disabled', row === undefined ? 'schedule.delete' : 'schedule.disable')
    applyCancellations(desk, cancelAll([run], { now: desk.now, why, stopGraceMs: desk.settings.node.stopGraceMs }))
    return
  }
  const spender = { ...row, scheduleId: row.id, payload: run.payload }
  const budget = desk.budgets === null ? null : (closedBudget(desk, spender)?.why ?? null)
  const step = decideRelease(
    { rules: row.rules, timing: row.timing, history: historyOf(desk, row), budget, runsPerDay: dailyRuns(desk) },
    {
      ...{ runId: run.id, nominal: run.nominal ?? run.createdAt, seen: run.createdAt },
      ...{ trigger: run.trigger === 'catchup' ? 'catchup' : 'schedule', now: desk.now, jitterSeed: row.id },
    },
  )
  row.lastReleaseAt = desk.now
  row.skippedFor = step.history.skippedFor
  row.fires = step.history.fires
  desk.changes.schedules.add(row)
  if (step.decision.kind === 'skip') skip(desk, run, step.decision.why)
  else start(desk, row, { run, decision: step.decision })
}

interface Started {
  readonly run: RunRow
  readonly decision: Extract<PolicyDecision, { readonly kind: 'run' }>
}

function start(desk: Desk, row: ScheduleRow, { run, decision }: Started): void {
  supersede(desk, decision.supersedes, decision.nominal)
  decideAgain(desk, run, decision.why)
  run.firstAttempt = decision.firstAttempt
  run.attempt = decision.firstAttempt
  run.slot = decision.slot
  row.previousRunId = run.id
  if (row.lastRunAt === null || row.lastRunAt < decision.nominal) row.lastRunAt = decision.nominal
  if (desk.daily !== null) countDailyRun(desk)
  if (decision.notBefore > desk.now) {
    run.notBefore = decision.notBefore
    desk.changes.changed.add(run)
  } else move(desk, run, { event: 'due', why: run.decision })
  finish(desk, row)
}

/** What is decided takes the place of why it was held, which is kept beside it. */
function decideAgain(desk: Desk, run: RunRow, why: Why): void {
  run.heldDecision = run.decision
  run.decision = { ...why, evidence: { ...run.decision.evidence, ...why.evidence } }
  desk.changes.released.add(run)
}

function skip(desk: Desk, run: RunRow, why: Why): void {
  // First, because it is told by what it was: its end says nothing about the runs of the schedule.
  move(desk, run, { event: 'skip', why })
  decideAgain(desk, run, why)
}

/** The release may have been the last run that the schedule may make. */
function finish(desk: Desk, row: ScheduleRow): void {
  const { maxFires } = row.rules
  if (maxFires === null || row.state !== 'active' || row.fires < maxFires) return
  const life = lifeAfter({ timing: plannedTiming(row), maxFires, fires: row.fires }, row.watermark)
  row.state = life.state
  row.nextRunAt = life.nextRunAt
  const owner = row.owner === null ? {} : { owner: row.owner }
  desk.changes.events.push({ kind: 'schedule.changed', subject: row.id, data: { state: row.state, ...owner } })
}
