import { z } from 'zod'
import {
  IMPORT_OUTCOMES,
  type CrontabInput,
  type ImportedLine,
  type ImportInput,
  type ImportReport,
} from '../import.ts'
import { moment } from './common.ts'
import { named, shaped } from './shaped.ts'

const fields = {
  text: z.string().min(1).max(500_000),
  plan: z.boolean().optional(),
  timezone: z.string().min(1).max(100).nullish(),
  agent_id: z.string().min(1).max(200).nullish(),
  target_id: z.string().min(1).max(200).nullish(),
  disabled: z.boolean().optional(),
}

export const importInput: z.ZodType<ImportInput> = named('ImportInput', shaped<ImportInput>()(fields))

export const crontabInput: z.ZodType<CrontabInput> = named(
  'CrontabInput',
  shaped<CrontabInput>()({ ...fields, system: z.boolean().optional() }),
)

const importedLine: z.ZodType<ImportedLine> = named(
  'ImportedLine',
  shaped<ImportedLine>()({
    line: z.int(),
    column: z.int().nullable(),
    text: z.string(),
    outcome: z.enum(IMPORT_OUTCOMES),
    name: z.string().nullable(),
    schedule_id: z.string().nullable(),
    agent_id: z.string().nullable(),
    sentence: z.string().nullable(),
    next_run_at: moment.nullable(),
    notes: z.array(z.string()),
  }),
)

export const importReport: z.ZodType<ImportReport> = named(
  'ImportReport',
  shaped<ImportReport>()({
    source: z.enum(['crontab', 'openclaw']),
    plan: z.boolean(),
    timezone: z.string(),
    lines: z.array(importedLine),
    counts: z.strictObject({
      new: z.int(),
      changed: z.int(),
      unchanged: z.int(),
      refused: z.int(),
      taken: z.int(),
      left_out: z.int(),
    }),
  }),
)
