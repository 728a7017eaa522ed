import { z } from 'zod'
import type { WordsInput, WordsView } from '../words.ts'
import { moment } from './common.ts'
import { dstNote, scheduleInput } from './schedule.ts'
import { named, shaped } from './shaped.ts'

export const wordsInput: z.ZodType<WordsInput> = named(
  'WordsInput',
  shaped<WordsInput>()({ text: z.string().min(1).max(500), timezone: z.string().min(1).max(100).nullish() }),
)

export const words: z.ZodType<WordsView> = named(
  'Words',
  shaped<WordsView>()({
    fields: scheduleInput,
    sentence: z.string(),
    next: z.array(moment),
    dst_notes: z.array(dstNote),
    notes: z.array(z.string()),
    rest: z.string().nullable(),
  }),
)
