import { z } from 'zod'
import { moment } from './common.ts'
import { dstNote } from './schedule-preview.ts'
import { scheduleInput } from './schedule.ts'
import { named, type Shape } from './shape.ts'

export const wordsInput = named(
  'WordsInput',
  z.strictObject({
    text: z.string().min(1).max(500),
    timezone: z
      .string()
      .min(1)
      .max(100)
      .nullish()
      .describe("Where the clock hangs if the text names no place; the org's zone unless given."),
  }),
  'When something is to happen, as a person says it.',
)
export type WordsInput = Shape<typeof wordsInput>

export const words = named(
  'Words',
  z.strictObject({
    fields: scheduleInput,
    sentence: z.string(),
    next: z.array(moment),
    dst_notes: z.array(dstNote),
    notes: z.array(z.string()).describe('Everything that was decided because the text left it open.'),
    rest: z.string().nullable().describe('What stands behind a colon: what there is to do. Null: nothing does.'),
  }),
  'What a sentence means: fields for a schedule, and the same again in other words and in dates.',
)
export type WordsView = Shape<typeof words>
