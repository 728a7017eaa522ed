import { plannedTiming, startPace } from '../../domain/schedule/pace/pace.ts'
import type { Instant } from '../../domain/instant.ts'
import { statusAfter } from '../../domain/schedule/lifecycle.ts'
import type { ScheduleRow } from './store.ts'
import type { ParsedSchedule } from './input.ts'

/** The state of a schedule's plan: its next run, and how far its occurrences are decided. */
export type PlanState = Pick<ScheduleRow, 'state' | 'watermark' | 'nextRunAt' | 'pace'>

type PlanInput = Pick<ScheduleRow, 'timing' | 'rules' | 'fires'>

/** The plan of a new schedule. It has no occurrences before its creation. */
export function initialPlanState(read: ParsedSchedule, now: Instant): PlanState {
  if (read.enabled === false)
    return { state: 'paused', watermark: now, nextRunAt: null, pace: startPace(read.timing, now) }
  return planFromNow({ ...read, fires: 0 }, now)
}

/** The plan of a schedule after an edit. Only timing, limits and `enabled` change it. */
export function editedPlanState(row: ScheduleRow, read: ParsedSchedule, now: Instant): PlanState {
  const edited = { ...row, ...read }
  if (row.state === 'pending_approval') return withCurrentPace(planStateOf(row), { row, read, now })
  if (read.enabled === false) return withCurrentPace(disabledPlanState(row), { row, read, now })
  if (read.timingChanged && (row.state !== 'paused' || read.enabled === true)) return planFromNow(edited, now)
  if (read.enabled === true) return enabledPlanState(edited, now)
  if (read.timingChanged) return withCurrentPace(planStateOf(row), { row, read, now })
  if (row.rules.maxFires === read.rules.maxFires) return planStateOf(row)
  // A new max_fires may finish the schedule or reactivate it; otherwise the next occurrence stays.
  const next = { ...lifecycleFromNow(edited, now), pace: row.pace }
  return (row.state === 'active' && next.state === 'finished') || row.state === 'finished' ? next : planStateOf(row)
}

/** Enabling creates no backlog: the time while it was disabled has no occurrences. An active schedule is unchanged. */
export function enabledPlanState(row: ScheduleRow, now: Instant): PlanState {
  if (row.state === 'active' || row.state === 'pending_approval') return planStateOf(row)
  const next = planFromNow(row, now)
  // A failed `at` whose time is past stays failed.
  return next.state === 'finished' && row.state === 'failed' ? planStateOf(row) : next
}

/** Disabling stops further occurrences; active runs continue. A finished or failed schedule is unchanged. */
export function disabledPlanState(row: ScheduleRow): PlanState {
  return row.state === 'active'
    ? { state: 'paused', watermark: row.watermark, nextRunAt: null, pace: row.pace }
    : planStateOf(row)
}

/** The plan of an approved schedule: as if it were created or retimed now. */
export const approvedPlanState = (row: ScheduleRow, now: Instant): PlanState =>
  row.approval?.rests === true
    ? { state: 'paused', watermark: row.watermark, nextRunAt: null, pace: startPace(row.timing, now) }
    : planFromNow(row, now)

const planStateOf = ({ state, watermark, nextRunAt, pace }: ScheduleRow): PlanState => ({
  ...{ state, watermark, nextRunAt, pace },
})

/** A new timing starts at its own interval, even if the schedule is not active now. */
const withCurrentPace = (
  planState: PlanState,
  { row, read, now }: { readonly row: ScheduleRow; readonly read: ParsedSchedule; readonly now: Instant },
): PlanState => ({ ...planState, pace: read.timingChanged ? startPace(read.timing, now) : row.pace })

/** A restarted plan starts with a new pace. */
const planFromNow = (planned: PlanInput, now: Instant): PlanState => {
  const pace = startPace(planned.timing, now)
  return { ...lifecycleFromNow({ ...planned, pace }, now), pace }
}

const lifecycleFromNow = (
  { timing, rules, fires, pace }: PlanInput & Pick<ScheduleRow, 'pace'>,
  now: Instant,
): Omit<PlanState, 'pace'> => ({
  ...statusAfter({ timing: plannedTiming({ timing, pace }), maxFires: rules.maxFires, fires }, now),
  watermark: now,
})
