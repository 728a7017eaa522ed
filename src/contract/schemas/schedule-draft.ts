import { z } from 'zod'
import { REQUIREMENT_KINDS } from '../../core/draft/requirements.ts'
import type {
  DraftInput,
  ProposedConversation,
  ProposedRequirement,
  ProposedTiming,
  ScheduleDraft,
  ScheduleProposal,
} from '../schedule-draft.ts'
import { anyJson, givenMoment, moment } from './common.ts'
import { usage } from './run.ts'
import { dstNote } from './schedule.ts'
import { named, shaped } from './shaped.ts'
import { scheduleDelivery } from './target.ts'

export const scheduleDraft: z.ZodType<ScheduleDraft> = named(
  'ScheduleDraft',
  shaped<ScheduleDraft>()({
    name: z.string(),
    agent_id: z.string().optional(),
    payload: anyJson,
    timezone: z.string(),
    session: z.string().optional(),
    timeout_seconds: z.int().optional(),
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

export const draftInput: z.ZodType<DraftInput> = named(
  'DraftInput',
  shaped<DraftInput>()({
    when: z.string().min(1).max(500).optional(),
    timezone: z.string().min(1).max(100).optional(),
    requirements: z.array(z.string().min(1).max(50)).max(100).optional(),
    output: z.string().max(10_000).optional(),
    session: z.enum(['isolated', 'conversation']).optional(),
  }),
)

const requirement = shaped<ProposedRequirement>()({
  id: z.string(),
  kind: z.enum(REQUIREMENT_KINDS),
  text: z.string(),
  said: z.string().nullable(),
  run_id: z.string(),
  taken: z.boolean(),
})

const timing = shaped<ProposedTiming>()({
  words: z.string(),
  run_id: z.string(),
  sentence: z.string(),
  next: z.array(moment),
  dst_notes: z.array(dstNote),
  notes: z.array(z.string()),
})

const conversation = shaped<ProposedConversation>()({
  key: z.string(),
  earlier: z.int(),
  channel: z.string().nullable(),
})

export const scheduleProposal: z.ZodType<ScheduleProposal> = named(
  'ScheduleProposal',
  shaped<ScheduleProposal>()({
    run_id: z.string(),
    prompt_run_id: z.string(),
    draft: scheduleDraft,
    timing: timing.nullable(),
    requirements: z.array(requirement),
    conversation: conversation.nullable(),
    target: z.strictObject({ id: z.string(), name: z.string() }).nullable(),
    observed: z.strictObject({ duration_ms: z.int().nullable(), usage: usage.nullable() }),
  }),
)
