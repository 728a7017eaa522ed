import { z } from 'zod'
import { DROP_POLICIES, SESSION_MODES } from '../../core/session/session-rules.ts'
import type { MessageInput, MessageReceipt, SessionPatch, SessionView, StopAnswer } from '../session.ts'
import { anyJson, givenMoment, moment, pageOf } from './common.ts'
import { named, shaped } from './shaped.ts'

/** At most 512 bytes of UTF-8; the service counts them. */
export const sessionKey = z.string().min(1).max(512)

export const messageInput: z.ZodType<MessageInput> = named(
  'MessageInput',
  shaped<MessageInput>()({
    text: z.string().max(1_000_000),
    sender: z.string().min(1).max(512).optional(),
    attachments: z.array(anyJson).optional(),
    message_id: z.string().min(1).max(512).optional(),
    sent_at: givenMoment.optional(),
    lane: z.string().min(1).max(100).optional(),
    mode: z.enum(SESSION_MODES).optional(),
    max_concurrent: z.int().min(1).max(10_000).optional(),
    debounce_ms: z.int().min(0).max(60_000).optional(),
    not_before: givenMoment.optional(),
    deadline: givenMoment.optional(),
    parent_run_id: z.string().min(1).max(100).optional(),
  }),
  'A message; the texts `/stop` and `/stopall` are the commands.',
)

export const messageReceipt: z.ZodType<MessageReceipt> = named(
  'MessageReceipt',
  shaped<MessageReceipt>()({
    run_id: z.string(),
    message_id: z.string(),
    state: z.string(),
    position: z.int().nullable(),
    merged_into: z.string().optional(),
    dropped_run_id: z.string().optional(),
  }),
)

export const stopAnswer: z.ZodType<StopAnswer> = named(
  'StopAnswer',
  shaped<StopAnswer>()({ stopped: z.int(), drained: z.int() }),
)

export const session: z.ZodType<SessionView> = named(
  'Session',
  shaped<SessionView>()({
    key: z.string(),
    org_id: z.string(),
    mode: z.enum(SESSION_MODES),
    cap: z.int(),
    drop: z.enum(DROP_POLICIES),
    debounce_ms: z.int(),
    max_concurrent: z.int(),
    generation: z.int(),
    tokens: z.number().nullable(),
    context_window: z.number().nullable(),
    active: z.int(),
    waiting: z.int(),
    created_at: moment,
  }),
)

export const sessionPage = pageOf('SessionPage', session)

export const sessionPatch: z.ZodType<SessionPatch> = named(
  'SessionPatch',
  shaped<SessionPatch>()({
    mode: z.enum(SESSION_MODES).optional(),
    cap: z.int().min(1).optional(),
    drop: z.enum(DROP_POLICIES).optional(),
    debounce_ms: z.int().min(0).max(60_000).optional(),
    max_concurrent: z.int().min(1).max(10_000).optional(),
  }),
)
