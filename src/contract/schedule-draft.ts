import { z } from 'zod'
import { REQUIREMENT_KINDS } from '../domain/draft/requirements.ts'
import { anyJson, givenMoment, moment } from '../api/common.ts'
import { usage } from '../features/runs/schema.ts'
import { exclusion } from './schedule-fields.ts'
import { dstNote } from './schedule-preview.ts'
import { named, type Shape } from './shape.ts'
import { scheduleDelivery } from '../features/targets/schema.ts'

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
    at: givenMoment.optional(),
    anchor: givenMoment.optional(),
    starts_at: givenMoment.optional(),
    ends_at: givenMoment.optional(),
    max_fires: z.int().optional(),
    exclude: exclusion.optional(),
  }),
  'Fields of a schedule; say when it is to happen unless they do, and send them to `POST /api/v1/schedules`.',
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

/** Something that answers have to be like, as it would be told to the agent. */
const requirement = z.strictObject({
  id: z.string(),
  kind: z.enum(REQUIREMENT_KINDS),
  text: z.string(),
  said: z.string().nullable().describe('What someone said about an answer. Null: it is seen in the answer.'),
  run_id: z.string().describe('The run whose answer shows it, or whose message says it.'),
  taken: z.boolean().describe('Whether it applies by default.'),
})
export type ProposedRequirement = Shape<typeof requirement>

/** When it is to happen, as the conversation says it. */
const timing = z.strictObject({
  words: z.string().describe('The words that say it.'),
  run_id: z.string().describe('The run of the message they are in.'),
  sentence: z.string(),
  next: z.array(moment),
  dst_notes: z.array(dstNote),
  notes: z.array(z.string()).describe('Assumptions made where the words leave something open.'),
})
export type ProposedTiming = Shape<typeof timing>

/** The conversation a run is of. */
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
    timing: timing.nullable().describe('Null: the conversation does not say when.'),
    requirements: z.array(requirement),
    conversation: conversation
      .nullable()
      .describe('Null: the run has no conversation, or one the caller may not read.'),
    target: z
      .strictObject({ id: z.string(), name: z.string() })
      .nullable()
      .describe('The target that leads back to the conversation. Null: none.'),
    observed: z.strictObject({ duration_ms: z.int().nullable(), usage: usage.nullable() }),
  }),
  'A schedule proposed from a run, what it is based on, and the choices.',
)
export type ScheduleProposal = Shape<typeof scheduleProposal>
