import { z } from 'zod'
import { SCHEDULE_NOTES, type ScheduleNote } from '../schedule-note.ts'
import { named, shaped } from './shaped.ts'

export const scheduleNote: z.ZodType<ScheduleNote> = named(
  'ScheduleNote',
  shaped<ScheduleNote>()({
    code: z.enum(SCHEDULE_NOTES),
    params: z.record(z.string(), z.union([z.string(), z.number()])),
  }),
)
