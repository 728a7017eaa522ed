import type { RunId, ScheduleId } from '../../domain/ids.ts'
import { later, latest, type Instant } from '../../domain/instant.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { Desk } from '../desk/desk.ts'
import { createTimers, type Timers } from '../../engine/org-state/timers.ts'

/**
 * Which held occurrences are released next. Each schedule releases one at a time, its oldest first, and keeps the spacing
 * between two of them: after a restart all may be overdue, and policies that are asked about all of them at once would
 * have each take the place of the one before.
 */
export interface HeldRuns {
  /** A run that was loaded or has changed. */
  readonly note: (run: RunRow) => void
  readonly forget: (run: RunRow) => void
  /** When the next one may be released, apart from whether there is a free place. */
  readonly next: () => Instant | null
  /** One that may be released now; undefined when there is none. */
  readonly takeDue: () => RunRow | undefined
  /** Whether the last look found no free `catchup_max_active` place: then the end of a run is what to wait for. */
  isBlocked: boolean
}

/** Timers tell runs by their ids; here they tell schedules. */
const asTimed = (id: ScheduleId): RunId => id as string as RunId

/** What was held at a time that has not come yet was held by a clock that has been set back: it waits as long from now. */
const releaseOf = ({ now }: Desk, { notBefore, createdAt }: RunRow): Instant | null =>
  notBefore === null || createdAt <= now ? notBefore : later(now, notBefore - createdAt)

export function createHeldRuns(desk: Desk): HeldRuns {
  const bySchedule = new Map<ScheduleId, Timers>()
  const heads = createTimers()
  const openAt = (id: ScheduleId, at: Instant): Instant => {
    const last = desk.schedules.get(id)?.lastReleaseAt ?? null
    // One that is still to come was written by a clock that has been set back.
    if (last === null || last > desk.now) return at
    return latest(at, later(last, desk.settings.schedules.catchupSpacingMs))
  }
  const arm = (id: ScheduleId): void => {
    const first = bySchedule.get(id)?.next() ?? null
    heads.set(asTimed(id), first === null ? null : openAt(id, first))
    if (first === null) bySchedule.delete(id)
  }
  const set = ({ id, scheduleId }: RunRow, at: Instant | null): void => {
    if (scheduleId === null) return
    let runs = bySchedule.get(scheduleId)
    if (runs === undefined) {
      if (at === null) return
      runs = createTimers()
      bySchedule.set(scheduleId, runs)
    }
    runs.set(id, at)
    arm(scheduleId)
  }
  const takeDue = (): RunRow | undefined => {
    for (const timed of heads.takeDue(desk.now, 1)) {
      const id = timed as string as ScheduleId
      const runs = bySchedule.get(id)
      const first = runs?.next() ?? null
      if (runs === undefined || first === null) return takeDue()
      // Another node may have released one since this was armed.
      if (openAt(id, first) > desk.now) {
        arm(id)
        return takeDue()
      }
      const [due] = runs.takeDue(desk.now, 1)
      const run = due === undefined ? undefined : desk.runs.get(due)
      arm(id)
      return run ?? takeDue()
    }
    return undefined
  }
  return {
    isBlocked: false,
    note: (run) => {
      set(run, isHeld(run) ? releaseOf(desk, run) : null)
    },
    forget: (run) => {
      set(run, null)
    },
    next: heads.next,
    takeDue,
  }
}
