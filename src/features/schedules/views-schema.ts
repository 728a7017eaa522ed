import { z } from 'zod'
import { anyJson, id, isoTime, plainTimeInput as writtenTime } from '../../api/common.ts'
import { timeInput, named, type Shape, integerBetween } from '../../api/fields.ts'
import { refusalCode } from '../../api/problem.ts'
import { REQUIREMENT_KINDS } from '../../domain/draft/requirements.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import { usage } from '../runs/schema.ts'
import { upcomingOccurrence, scheduleNote } from './rules-schema.ts'
import { exclusion, scheduleFields, scheduleInput, scheduleRule } from './schema.ts'
import { scheduleDelivery } from '../targets/schema.ts'

export const previewInput = named(
  'PreviewInput',
  z
    .strictObject({
      ...scheduleFields,
      count: integerBetween(1, 1_000).nullish().describe('Occurrences to show. Default: 5.'),
      from: timeInput.nullish().describe('Start of the preview. Default: now.'),
    })
    .check(scheduleRule),
  'The fields of a schedule, and the number of occurrences to show. Default: 5.',
)
export type PreviewInput = Shape<typeof previewInput>

/** A clock change in the previewed period, and its effect on the schedule. */
export const dstNote = z.strictObject({
  at: isoTime,
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
    ...{ sentence: z.string(), next: z.array(isoTime), dst_notes: z.array(dstNote) },
    coming: z
      .array(upcomingOccurrence)
      .optional()
      .describe('The same occurrences with their certainty. Only with a cadence.'),
    notes: z.array(z.string()).optional().describe('Warnings, such as that it can never fire.'),
    note_codes: z.array(scheduleNote).optional(),
  }),
  'The next occurrences of a schedule.',
)
export type SchedulePreview = Shape<typeof preview>

/** The parts of a preview that every surface shows. */
export type PreviewView = Pick<SchedulePreview, 'sentence' | 'next' | 'dst_notes'>

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
    next: z.array(isoTime),
    dst_notes: z.array(dstNote),
    notes: z.array(z.string()).describe('Assumptions made where the text leaves something open.'),
    rest: z.string().nullable().describe('The text after a colon: the prompt. Null: none.'),
  }),
  'What a text means: fields of a schedule, a sentence and the next occurrences.',
)
export type WordsView = Shape<typeof words>

/** Actions of a bulk request. */
const BULK_ACTIONS = ['enable', 'disable', 'delete'] as const

export type BulkAction = (typeof BULK_ACTIONS)[number]

export const bulkInput = named(
  'BulkInput',
  z.strictObject({ action: z.enum(BULK_ACTIONS), ids: z.array(id).min(1).max(100) }),
  'One action on many schedules.',
)
export type BulkInput = Shape<typeof bulkInput>

export const bulkAnswer = named(
  'BulkAnswer',
  z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        ok: z.boolean(),
        state: z
          .enum(SCHEDULE_STATES)
          .optional()
          .describe('State of the schedule now. Omitted if it is gone or nothing was done.'),
        code: refusalCode.optional(),
        message: z.string().optional(),
      }),
    ),
    done: z.int(),
    refused: z.int(),
  }),
  'The outcome for each schedule, in the order of the request.',
)
export type BulkAnswer = Shape<typeof bulkAnswer>

/** Ids separated by commas, at most as many as a page of schedules has. */
export const outcomesFilter = z.strictObject({
  ids: z.string().min(1).max(8_192),
  limit: z.int().min(1).max(50).optional().describe('Number of runs per schedule. Default: 20.'),
})
export type OutcomesFilter = Shape<typeof outcomesFilter>

const scheduleOutcome = named(
  'ScheduleOutcome',
  z.strictObject({ id: z.string(), status: z.enum(RUN_STATES), created_at: isoTime }),
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

export const scheduleDraft = named(
  'ScheduleDraft',
  z.strictObject({
    name: z.string(),
    agent_id: z.string().optional().describe('Omitted if the agent is gone, or was only a name on a task.'),
    payload: anyJson,
    timezone: z.string(),
    session: z.string().optional().describe('The session to continue. Omitted: each run has its own.'),
    timeout_seconds: z.int().optional().describe('Set when the run took so long that the default would be tight.'),
    delivery: scheduleDelivery.optional(),
    cron: z.string().optional(),
    every_seconds: z.number().optional(),
    rrule: z.string().optional(),
    at: writtenTime.optional(),
    anchor: writtenTime.optional(),
    starts_at: writtenTime.optional(),
    ends_at: writtenTime.optional(),
    max_fires: z.int().optional(),
    exclude: exclusion.optional(),
  }),
  'Fields of a schedule. Add a timing if they contain none, and send them to `POST /api/v1/schedules`.',
)
export type ScheduleDraft = Shape<typeof scheduleDraft>

export const draftInput = named(
  'DraftInput',
  z.strictObject({
    when: z.string().min(1).max(500).optional().describe('The time in words: "every weekday at 9 in Berlin".'),
    timezone: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe("Default time zone for words that name none. Default: the org's time zone."),
    requirements: z
      .array(z.string().min(1).max(50))
      .max(100)
      .optional()
      .describe('Ids of the proposed requirements to apply. Default: those that are `taken`.'),
    output: z
      .string()
      .max(10_000)
      .optional()
      .describe('Requirements on the answer, in place of all proposed ones. Empty: none.'),
    session: z
      .enum(['isolated', 'conversation'])
      .optional()
      .describe('Whether runs start fresh or continue the conversation. Default: `isolated`.'),
  }),
  'Choices for a draft. Omitted: as proposed.',
)
export type DraftInput = Shape<typeof draftInput>

/** A requirement on the answers, in the words that the agent gets. */
const requirement = z.strictObject({
  id: z.string(),
  kind: z.enum(REQUIREMENT_KINDS),
  text: z.string(),
  said: z.string().nullable().describe('The message that states it. Null: it was inferred from an answer.'),
  run_id: z.string().describe('The run whose message or answer it comes from.'),
  taken: z.boolean().describe('Whether it applies by default.'),
})
export type ProposedRequirement = Shape<typeof requirement>

/** The timing found in the conversation. */
const timing = z.strictObject({
  words: z.string().describe('The words that state it.'),
  run_id: z.string().describe('The run whose message contains them.'),
  sentence: z.string(),
  next: z.array(isoTime),
  dst_notes: z.array(dstNote),
  notes: z.array(z.string()).describe('Assumptions made where the words leave something open.'),
})
export type ProposedTiming = Shape<typeof timing>

/** The conversation that a run belongs to. */
const conversation = z.strictObject({
  key: z.string(),
  earlier: z.int().describe('Earlier messages of the same person, which a run with its own session does not see.'),
  channel: z.string().nullable().describe('The channel of the conversation. Null: none.'),
})
export type ProposedConversation = Shape<typeof conversation>

export const scheduleProposal = named(
  'ScheduleProposal',
  z.strictObject({
    run_id: z.string(),
    prompt_run_id: z
      .string()
      .describe('The run whose message is the prompt; an earlier run if this one only changed its answer.'),
    draft: scheduleDraft.describe('What `POST` returns when nothing is chosen.'),
    timing: timing.nullable().describe('Null: the conversation names no time.'),
    requirements: z.array(requirement),
    conversation: conversation
      .nullable()
      .describe('Null: the run has no conversation, or one the caller may not read.'),
    target: z
      .strictObject({ id: z.string(), name: z.string() })
      .nullable()
      .describe('The target that delivers to the conversation. Null: none.'),
    observed: z.strictObject({ duration_ms: z.int().nullable(), usage: usage.nullable() }),
  }),
  'A schedule proposed from a run, what it is based on, and the choices.',
)
export type ScheduleProposal = Shape<typeof scheduleProposal>
