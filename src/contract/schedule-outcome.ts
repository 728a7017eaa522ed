import { z } from 'zod'
import { RUN_STATES } from '../domain/run/run-machine.ts'

import { moment } from '../api/common.ts'
import { named, type Shape } from './shape.ts'

/** Schedules named at once: as many as a page of them has, with commas. */
export const outcomesFilter = z.strictObject({
  ids: z.string().min(1).max(8_192),
  limit: z.int().min(1).max(50).optional().describe('Runs of each schedule. Default: 20.'),
})
export type OutcomesFilter = Shape<typeof outcomesFilter>

const scheduleOutcome = named(
  'ScheduleOutcome',
  z.strictObject({ id: z.string(), status: z.enum(RUN_STATES), created_at: moment }),
  'The state of one run of a schedule.',
)
export type ScheduleOutcome = Shape<typeof scheduleOutcome>

export const scheduleOutcomes = named(
  'ScheduleOutcomes',
  z.strictObject({
    items: z.array(z.strictObject({ schedule_id: z.string(), runs: z.array(scheduleOutcome) })),
  }),
  'The last runs of schedules, newest first.',
)
export type ScheduleOutcomes = Shape<typeof scheduleOutcomes>
