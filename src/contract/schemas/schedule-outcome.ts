import { z } from 'zod'
import { RUN_STATES } from '../../core/run/run-machine.ts'
import type { OutcomesFilter, ScheduleOutcome, ScheduleOutcomes } from '../schedule.ts'
import { moment, oneOf } from './common.ts'
import { named, shaped } from './shaped.ts'

/** Schedules named at once: as many as a page of them has, with commas. */
export const outcomesFilter = shaped<OutcomesFilter>()({
  ids: z.string().min(1).max(8_192),
  limit: z.int().min(1).max(50).optional(),
})

const scheduleOutcome = named(
  'ScheduleOutcome',
  shaped<ScheduleOutcome>()({ id: z.string(), status: oneOf(RUN_STATES), created_at: moment }),
)

export const scheduleOutcomes: z.ZodType<ScheduleOutcomes> = named(
  'ScheduleOutcomes',
  shaped<ScheduleOutcomes>()({
    items: z.array(z.strictObject({ schedule_id: z.string(), runs: z.array(scheduleOutcome) })),
  }),
)
