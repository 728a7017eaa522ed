import { z } from 'zod'
import { moment } from '../api/common.ts'
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
      .describe("Default time zone for text that names none. Default: the org's time zone."),
  }),
  'A time in natural language.',
)
export type WordsInput = Shape<typeof wordsInput>

export const words = named(
  'Words',
  z.strictObject({
    fields: scheduleInput,
    sentence: z.string(),
    next: z.array(moment),
    dst_notes: z.array(dstNote),
    notes: z.array(z.string()).describe('Assumptions made where the text leaves something open.'),
    rest: z.string().nullable().describe('The text after a colon: the prompt. Null: none.'),
  }),
  'What a text means: fields of a schedule, a sentence and the next occurrences.',
)
export type WordsView = Shape<typeof words>
