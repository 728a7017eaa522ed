import type { ScheduleView } from '../contract/schedule.ts'

/** A schedule with its timing also under the names of the seeds, so that a client of theirs reads back what it wrote. */
export const withSeedNames = (view: ScheduleView): ScheduleView => ({ ...view, ...seedTimingOf(view) })

function seedTimingOf({ kind, at, cron, every_seconds: seconds, everyMs }: ScheduleView): Partial<ScheduleView> {
  switch (kind) {
    case 'at':
      return { schedule_type: 'once', ...(at === undefined ? {} : { run_at: at }) }
    case 'every': {
      const interval = seconds ?? (everyMs === undefined ? undefined : everyMs / 1_000)
      return { schedule_type: 'interval', ...(interval === undefined ? {} : { interval_seconds: interval }) }
    }
    case 'cron':
      return { schedule_type: 'cron', ...(cron === undefined ? {} : { cron_expr: cron }) }
    case 'rrule':
      return { schedule_type: 'rrule' }
  }
}
