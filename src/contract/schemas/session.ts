import { z } from 'zod'
import {
  DROP_POLICIES,
  MAX_CAP,
  MAX_DEBOUNCE_MS,
  MAX_SESSION_CONCURRENT,
  SESSION_MODES,
} from '../../core/session/session-rules.ts'
import { RUN_STATES } from '../../core/run/run-machine.ts'
import { TRIGGERS } from '../../core/run/run.ts'
import type {
  MessageInput,
  MessageReceipt,
  MessageView,
  SessionChange,
  SessionFilter,
  SessionView,
  StopAnswer,
} from '../session.ts'
import { anyJson, givenMoment, moment, oneOf, pageOf, paging } from './common.ts'
import { errorCode } from './run.ts'
import { named, shaped } from './shaped.ts'

const MOST_KEY_BYTES = 512

/** No character of a text takes more than three bytes for each of its units, so that most keys need no counting. */
const fitsKey = (key: string): boolean =>
  key.length * 3 <= MOST_KEY_BYTES || new TextEncoder().encode(key).length <= MOST_KEY_BYTES

export const sessionKey = z
  .string()
  .min(1)
  .max(MOST_KEY_BYTES, { abort: true })
  .refine(fitsKey, `is longer than ${MOST_KEY_BYTES} bytes`)

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
    max_concurrent: z.int().min(1).max(MAX_SESSION_CONCURRENT).optional(),
    debounce_ms: z.int().min(0).max(MAX_DEBOUNCE_MS).optional(),
    not_before: givenMoment.optional(),
    deadline: givenMoment.optional(),
    parent_run_id: z.string().min(1).max(100).optional(),
    max_tokens: z.int().min(1).max(1_000_000_000).optional(),
  }),
  'A message; the texts `/stop` and `/stopall` are the commands. A `message_id` that the same caller has sent to the session in the last 24 hours repeats that message: nothing happens, and the answer names its run.',
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
    duplicate: z.literal(true).optional(),
  }),
)

const message: z.ZodType<MessageView> = named(
  'Message',
  shaped<MessageView>()({
    run_id: z.string(),
    trigger: z.enum(TRIGGERS),
    message_ids: z.array(z.string()),
    sender: z.string().nullable(),
    text: z.string().nullable(),
    attachments: z.array(anyJson),
    status: oneOf(RUN_STATES),
    reason: z.string().nullable(),
    reply: anyJson,
    error_code: errorCode.nullable(),
    error_message: z.string().nullable(),
    created_at: moment,
    started_at: moment.nullable(),
    finished_at: moment.nullable(),
  }),
  'What was said to a session and what came of it: one for each run, whoever woke it.',
)

export const messagePage = pageOf('MessagePage', message)

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

/** Which sessions are listed. */
export const sessionFilter = shaped<SessionFilter>()({ isolated: z.boolean().optional(), ...paging })

export const sessionPage = pageOf('SessionPage', session)

export const sessionChange: z.ZodType<SessionChange> = named(
  'SessionChange',
  shaped<SessionChange>()({
    mode: z.enum(SESSION_MODES).nullish(),
    cap: z.int().min(1).max(MAX_CAP).nullish(),
    drop: z.enum(DROP_POLICIES).nullish(),
    debounce_ms: z.int().min(0).max(MAX_DEBOUNCE_MS).nullish(),
    max_concurrent: z.int().min(1).max(MAX_SESSION_CONCURRENT).nullish(),
  }),
  'What is left out stays; null gives a rule back to the deployment.',
)
