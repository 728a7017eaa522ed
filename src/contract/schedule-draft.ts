import { z } from 'zod'
import { REQUIREMENT_KINDS } from '../core/draft/requirements.ts'
import { anyJson, givenMoment, moment } from './common.ts'
import { usage } from './run.ts'
import { dstNote } from './schedule-preview.ts'
import { named, type Shape } from './shape.ts'
import { scheduleDelivery } from './target.ts'

export const scheduleDraft = named(
  'ScheduleDraft',
  z.strictObject({
    name: z.string(),
    agent_id: z.string().optional().describe('Left out when the agent is gone, or was only a name on a task.'),
    payload: anyJson,
    timezone: z.string(),
    session: z
      .string()
      .optional()
      .describe(
        'The conversation that the run is of, where it is to go on in it; left out: a session of its own for each run.',
      ),
    timeout_seconds: z.int().optional().describe('Where the run has taken so long that what is usual would be scarce.'),
    delivery: scheduleDelivery.optional(),
    cron: z.string().optional(),
    every_seconds: z.number().optional(),
    rrule: z.string().optional(),
    at: givenMoment.optional(),
    anchor: givenMoment.optional(),
    starts_at: givenMoment.optional(),
    ends_at: givenMoment.optional(),
    max_fires: z.int().optional(),
    exclude: z.array(anyJson).optional(),
  }),
  'Fields of a schedule; say when it is to happen unless they do, and send them to `POST /api/v1/schedules`.',
)
export type ScheduleDraft = Shape<typeof scheduleDraft>

export const draftInput = named(
  'DraftInput',
  z.strictObject({
    when: z.string().min(1).max(500).optional().describe('When, in words: "every weekday at 9 in Berlin".'),
    timezone: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe("Where the clock hangs if the words name no place; the org's zone unless given."),
    requirements: z
      .array(z.string().min(1).max(50))
      .max(100)
      .optional()
      .describe('Which of the proposed requirements are asked for, by their ids; those that are `taken` unless given.'),
    output: z
      .string()
      .max(10_000)
      .optional()
      .describe('What is asked of the answer, in place of all requirements; empty: nothing.'),
    session: z
      .enum(['isolated', 'conversation'])
      .optional()
      .describe('Whether its runs begin anew or go on in the conversation; `isolated` unless given.'),
  }),
  'What somebody decides about a draft. What is left out is as the proposal has it.',
)
export type DraftInput = Shape<typeof draftInput>

/** Something that answers have to be like, as it would be told to the agent. */
const requirement = z.strictObject({
  id: z.string(),
  kind: z.enum(REQUIREMENT_KINDS),
  text: z.string(),
  said: z.string().nullable().describe('What somebody said about an answer; null: it is seen in the answer.'),
  run_id: z.string().describe('The run whose answer shows it, or whose message says it.'),
  taken: z.boolean().describe('Whether it is asked for unless somebody decides otherwise.'),
})
export type ProposedRequirement = Shape<typeof requirement>

/** When it is to happen, as the conversation says it. */
const timing = z.strictObject({
  words: z.string().describe('The words that say it.'),
  run_id: z.string().describe('The run whose message they are in.'),
  sentence: z.string(),
  next: z.array(moment),
  dst_notes: z.array(dstNote),
  notes: z.array(z.string()).describe('Everything that was decided because the words left it open.'),
})
export type ProposedTiming = Shape<typeof timing>

/** The conversation a run is of. */
const conversation = z.strictObject({
  key: z.string(),
  earlier: z
    .int()
    .describe(
      'Messages of the same person before the one that asks: a run with a session of its own does not know them.',
    ),
  channel: z.string().nullable().describe('The channel it is held on; null: it is held here.'),
})
export type ProposedConversation = Shape<typeof conversation>

export const scheduleProposal = named(
  'ScheduleProposal',
  z.strictObject({
    run_id: z.string(),
    prompt_run_id: z
      .string()
      .describe(
        'The run whose message is the prompt: an earlier one where the message of this run only wanted its answer otherwise.',
      ),
    draft: scheduleDraft.describe('What `POST` answers when nothing is chosen.'),
    timing: timing.nullable().describe('Null: the conversation does not say when, and nobody guesses.'),
    requirements: z.array(requirement),
    conversation: conversation
      .nullable()
      .describe('Null: the run is of no conversation, or of one that whoever asks may not read.'),
    target: z
      .strictObject({ id: z.string(), name: z.string() })
      .nullable()
      .describe('The target that leads back to the conversation; null: there is none.'),
    observed: z.strictObject({ duration_ms: z.int().nullable(), usage: usage.nullable() }),
  }),
  'A schedule made of a run: what it would be, what that is based on, and what can be chosen.',
)
export type ScheduleProposal = Shape<typeof scheduleProposal>
