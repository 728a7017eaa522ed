import { z } from 'zod'
import { named, type Shape } from './shape.ts'
/** What there may be to note about a schedule. */
export const SCHEDULE_NOTES = ['never_fires', 'ends_at_set'] as const

export const scheduleNote = named(
  'ScheduleNote',
  z.strictObject({
    code: z.enum(SCHEDULE_NOTES),
    params: z.record(z.string(), z.union([z.string(), z.number()])),
  }),
  'A note as a code with values.',
)
export type ScheduleNote = Shape<typeof scheduleNote>
