import { z } from 'zod'
import { isoTime } from '../../api/common.ts'
import { named, type Shape, text } from '../../api/fields.ts'
/** The outcome of a line of an imported file. */
export const IMPORT_OUTCOMES = ['new', 'changed', 'unchanged', 'refused', 'taken', 'left_out'] as const

export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number]

const fields = {
  text: z.string().min(1).max(500_000).describe('Content of the file.'),
  plan: z.boolean().optional().describe('Only return the plan.'),
  timezone: z
    .string()
    .min(1)
    .max(100)
    .nullish()
    .describe("Default time zone for entries that set none. Default: the org's time zone."),
  agent_id: text(1, 200).nullish().describe('Agent that receives each line as a prompt.'),
  target_id: z.string().min(1).max(200).nullish().describe('Target for results.'),
  disabled: z.boolean().optional().describe('Create disabled schedules.'),
}

export const importInput = named(
  'ImportInput',
  z.strictObject(fields),
  'A jobs file of OpenClaw, and how to import it.',
)
export type ImportInput = Shape<typeof importInput>

export const crontabInput = named(
  'CrontabInput',
  z.strictObject({
    ...fields,
    system: z.boolean().optional().describe('Whether lines have a user field, as in /etc/crontab.'),
  }),
  'A crontab, and how to import it.',
)
export type CrontabInput = Shape<typeof crontabInput>

const importedLine = named(
  'ImportedLine',
  z.strictObject({
    line: z.int().describe('Line of the file, or number of the job.'),
    column: z.int().nullable().describe('Column of the error, from 1. Null: none, or unknown.'),
    text: z.string(),
    outcome: z.enum(IMPORT_OUTCOMES),
    name: z.string().nullable(),
    schedule_id: z.string().nullable().describe('Null: not created yet.'),
    agent_id: z.string().nullable(),
    sentence: z.string().nullable(),
    next_run_at: isoTime.nullable(),
    notes: z.array(z.string()).describe('What was not imported and why; of a refusal, what to do.'),
  }),
  'A line or job, and its outcome.',
)
export type ImportedLine = Shape<typeof importedLine>

export const importReport = named(
  'ImportReport',
  z.strictObject({
    source: z.enum(['crontab', 'openclaw']),
    plan: z.boolean(),
    timezone: z.string().describe('Time zone used for lines that set none.'),
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
  'The outcome of an import, line by line.',
)
export type ImportReport = Shape<typeof importReport>
