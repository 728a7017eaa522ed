import { z } from 'zod'
import { moment } from './common.ts'
import { named, type Shape } from './shape.ts'
/** What becomes of a line of a file that is imported. */
export const IMPORT_OUTCOMES = ['new', 'changed', 'unchanged', 'refused', 'taken', 'left_out'] as const

export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number]

const fields = {
  text: z.string().min(1).max(500_000).describe('What stands in the file.'),
  plan: z.boolean().optional().describe('Says what would become of it, and changes nothing.'),
  timezone: z
    .string()
    .min(1)
    .max(100)
    .nullish()
    .describe("Where the clock hangs where the file says nothing; the org's zone unless given."),
  agent_id: z.string().min(1).max(200).nullish().describe('The agent that gets all of it as prompts.'),
  target_id: z.string().min(1).max(200).nullish().describe('The target that results go to.'),
  disabled: z.boolean().optional().describe('Makes schedules that are switched off.'),
}

export const importInput = named(
  'ImportInput',
  z.strictObject(fields),
  'A jobs file of OpenClaw, and how it is to be taken over.',
)
export type ImportInput = Shape<typeof importInput>

export const crontabInput = named(
  'CrontabInput',
  z.strictObject({
    ...fields,
    system: z.boolean().optional().describe('Whether lines have a field for the user, as /etc/crontab has.'),
  }),
  'A crontab, and how it is to be taken over.',
)
export type CrontabInput = Shape<typeof crontabInput>

const importedLine = named(
  'ImportedLine',
  z.strictObject({
    line: z.int().describe('Of the file; of a file of jobs the how manieth job.'),
    column: z
      .int()
      .nullable()
      .describe('Where in the line it cannot be read, from 1 on; null: nowhere, or nobody can tell.'),
    text: z.string(),
    outcome: z.enum(IMPORT_OUTCOMES),
    name: z.string().nullable(),
    schedule_id: z.string().nullable().describe('Null while there is none.'),
    agent_id: z.string().nullable(),
    sentence: z.string().nullable(),
    next_run_at: moment.nullable(),
    notes: z.array(z.string()).describe('What was not carried over, and why; of a refusal what to do.'),
  }),
  'A line, or a job, and what became of it or would.',
)
export type ImportedLine = Shape<typeof importedLine>

export const importReport = named(
  'ImportReport',
  z.strictObject({
    source: z.enum(['crontab', 'openclaw']),
    plan: z.boolean(),
    timezone: z.string().describe('In which zone lines were read that name none.'),
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
  'What became of a file, line by line, or would.',
)
export type ImportReport = Shape<typeof importReport>
