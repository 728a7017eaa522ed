import { z } from 'zod'
import { moment } from '../api/common.ts'
import { givenMoment, whole } from '../api/fields.ts'
import { comingMoment } from './pace.ts'
import { scheduleFields, scheduleRule } from './schedule-fields.ts'
import { scheduleNote } from './schedule-note.ts'
import { named, type Shape } from './shape.ts'

export const previewInput = named(
  'PreviewInput',
  z
    .strictObject({
      ...scheduleFields,
      count: whole(1, 1_000).nullish().describe('Occurrences to show. Default: 5.'),
      from: givenMoment.nullish().describe('Start of the preview. Default: now.'),
    })
    .check(scheduleRule),
  'The fields of a schedule, and the number of occurrences to show. Default: 5.',
)
export type PreviewInput = Shape<typeof previewInput>

/** A change of the clock on the way, and what it does to the schedule. */
export const dstNote = z.strictObject({
  at: moment,
  zone: z.string(),
  kind: z.enum(['gap', 'repeat']),
  offset_before: z.string(),
  offset_after: z.string(),
  effect: z.enum(['none', 'skipped', 'fires_after_gap', 'shifted', 'first_pass_only', 'both_passes']),
  sentence: z.string(),
})
export type DstNoteView = Shape<typeof dstNote>

export const preview = named(
  'Preview',
  z.strictObject({
    ...{ sentence: z.string(), next: z.array(moment), dst_notes: z.array(dstNote) },
    coming: z
      .array(comingMoment)
      .optional()
      .describe('The same occurrences with their certainty. Only with a cadence.'),
    notes: z.array(z.string()).optional().describe('Warnings, such as that it can never fire.'),
    note_codes: z.array(scheduleNote).optional(),
  }),
  'The next occurrences of a schedule.',
)
export type SchedulePreview = Shape<typeof preview>

/** What a schedule would do. */
export type PreviewView = Pick<SchedulePreview, 'sentence' | 'next' | 'dst_notes'>
