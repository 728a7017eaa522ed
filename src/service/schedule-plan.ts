import { plannedTiming, startPace } from '../domain/schedule/pace/pace.ts'
import type { Instant } from '../domain/instant.ts'
import { lifeAfter } from '../domain/schedule/lifecycle.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import type { ReadSchedule } from './schedule-input.ts'

/** Where a schedule stands: what it is about to do, and what has been decided. */
export type Standing = Pick<ScheduleRow, 'state' | 'watermark' | 'nextRunAt' | 'pace'>

type Planned = Pick<ScheduleRow, 'timing' | 'rules' | 'fires'>

/** Where a new schedule stands. Nothing before its creation was ever planned. */
export function firstStanding(read: ReadSchedule, now: Instant): Standing {
  if (read.enabled === false)
    return { state: 'paused', watermark: now, nextRunAt: null, pace: startPace(read.timing, now) }
  return fromNow({ ...read, fires: 0 }, now)
}

/** Where a schedule stands after somebody has edited it. Only timing, its limits and the switch move the plan. */
export function editedStanding(row: ScheduleRow, read: ReadSchedule, now: Instant): Standing {
  const edited = { ...row, ...read }
  if (row.state === 'pending_approval') return repaced(standingOf(row), { row, read, now })
  if (read.enabled === false) return repaced(disabledStanding(row), { row, read, now })
  if (read.timingChanged && (row.state !== 'paused' || read.enabled === true)) return fromNow(edited, now)
  if (read.enabled === true) return enabledStanding(edited, now)
  if (read.timingChanged) return repaced(standingOf(row), { row, read, now })
  if (row.rules.maxFires === read.rules.maxFires) return standingOf(row)
  // Another number of fires ends the plan or goes on with it; where it goes on, the next occurrence stays.
  const life = { ...lifeOf(edited, now), pace: row.pace }
  return (row.state === 'active' && life.state === 'finished') || row.state === 'finished' ? life : standingOf(row)
}

/** No backlog: what would have been while it was off is no occurrence. One that is on already stays as it is. */
export function enabledStanding(row: ScheduleRow, now: Instant): Standing {
  if (row.state === 'active' || row.state === 'pending_approval') return standingOf(row)
  const life = fromNow(row, now)
  // An `at` that failed for good and has no other moment keeps its ending.
  return life.state === 'finished' && row.state === 'failed' ? standingOf(row) : life
}

/** No further occurrences; what runs goes on. One that has ended keeps its ending. */
export function disabledStanding(row: ScheduleRow): Standing {
  return row.state === 'active'
    ? { state: 'paused', watermark: row.watermark, nextRunAt: null, pace: row.pace }
    : standingOf(row)
}

/** Where a schedule stands that somebody has approved: as if it were made, or moved, now. */
export const approvedStanding = (row: ScheduleRow, now: Instant): Standing =>
  row.approval?.rests === true
    ? { state: 'paused', watermark: row.watermark, nextRunAt: null, pace: startPace(row.timing, now) }
    : fromNow(row, now)

const standingOf = ({ state, watermark, nextRunAt, pace }: ScheduleRow): Standing => ({
  ...{ state, watermark, nextRunAt, pace },
})

/** Another timing begins at its own interval, also where the schedule does not fire at the moment. */
const repaced = (
  standing: Standing,
  { row, read, now }: { readonly row: ScheduleRow; readonly read: ReadSchedule; readonly now: Instant },
): Standing => ({ ...standing, pace: read.timingChanged ? startPace(read.timing, now) : row.pace })

/** Whatever was known of the pace is old when a plan begins anew. */
const fromNow = (planned: Planned, now: Instant): Standing => {
  const pace = startPace(planned.timing, now)
  return { ...lifeOf({ ...planned, pace }, now), pace }
}

const lifeOf = (
  { timing, rules, fires, pace }: Planned & Pick<ScheduleRow, 'pace'>,
  now: Instant,
): Omit<Standing, 'pace'> => ({
  ...lifeAfter({ timing: plannedTiming({ timing, pace }), maxFires: rules.maxFires, fires }, now),
  watermark: now,
})
