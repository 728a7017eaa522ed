import { z } from 'zod'
import {
  DROP_POLICIES,
  MAX_CAP,
  MAX_DEBOUNCE_MS,
  MAX_SESSION_CONCURRENT,
  SESSION_MODES,
} from '../core/session/session-rules.ts'
import { RUN_STATES } from '../core/run/run-machine.ts'
import { TRIGGERS } from '../core/run/run.ts'
import { anyJson, givenMoment, moment, pageOf, paging } from './common.ts'
import { errorCode } from './run.ts'
import { named, type Shape } from './shape.ts'

const MOST_KEY_BYTES = 512

/** No character of a text takes more than three bytes for each of its units, so that most keys need no counting. */
const fitsKey = (key: string): boolean =>
  key.length * 3 <= MOST_KEY_BYTES || new TextEncoder().encode(key).length <= MOST_KEY_BYTES

export const sessionKey = z
  .string()
  .min(1)
  .max(MOST_KEY_BYTES, { abort: true })
  .refine(fitsKey, `is longer than ${MOST_KEY_BYTES} bytes`)

export const messageInput = named(
  'MessageInput',
  z.strictObject({
    text: z.string().max(1_000_000),
    sender: z.string().min(1).max(512).optional(),
    attachments: z.array(anyJson).optional(),
    message_id: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe("The sender's own name for the message: the same one again within 24 hours is not another message."),
    sent_at: givenMoment.optional(),
    lane: z.string().min(1).max(100).optional(),
    mode: z.enum(SESSION_MODES).optional(),
    max_concurrent: z.int().min(1).max(MAX_SESSION_CONCURRENT).optional(),
    debounce_ms: z.int().min(0).max(MAX_DEBOUNCE_MS).optional(),
    not_before: givenMoment.optional(),
    deadline: givenMoment.optional(),
    parent_run_id: z.string().min(1).max(100).optional(),
    max_tokens: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .optional()
      .describe('The most tokens that the run may need; budgets set so many aside.'),
  }),
  'A message; the texts `/stop` and `/stopall` are the commands. A `message_id` that the same caller has sent to the session in the last 24 hours repeats that message: nothing happens, and the answer names its run.',
)
export type MessageInput = Shape<typeof messageInput>

export const messageReceipt = named(
  'MessageReceipt',
  z.strictObject({
    run_id: z.string(),
    message_id: z.string(),
    state: z.string(),
    position: z.int().nullable(),
    merged_into: z.string().optional(),
    dropped_run_id: z.string().optional(),
    duplicate: z
      .literal(true)
      .optional()
      .describe('The sender has sent this `message_id` before: this is the run of the first one.'),
  }),
)
export type MessageReceipt = Shape<typeof messageReceipt>

const message = named(
  'Message',
  z.strictObject({
    run_id: z.string(),
    trigger: z.enum(TRIGGERS),
    message_ids: z
      .array(z.string())
      .describe('The messages that were merged into it, the first one first; of other triggers none.'),
    sender: z.string().nullable(),
    text: z.string().nullable().describe('What was said; of a schedule its prompt. Null when that is no text.'),
    attachments: z.array(anyJson),
    status: z.enum(RUN_STATES),
    reason: z.string().nullable(),
    reply: anyJson.describe('What was answered; null while there is no answer.'),
    error_code: errorCode.nullable(),
    error_message: z.string().nullable(),
    created_at: moment,
    started_at: moment.nullable(),
    finished_at: moment.nullable(),
  }),
  'What was said to a session and what came of it: one for each run, whoever woke it.',
)
export type MessageView = Shape<typeof message>

export const messagePage = pageOf('MessagePage', message)

export const stopAnswer = named(
  'StopAnswer',
  z.strictObject({ stopped: z.int(), drained: z.int() }),
  'The answer to /stop, /stopall and reset.',
)
export type StopAnswer = Shape<typeof stopAnswer>

export const session = named(
  'Session',
  z.strictObject({
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
export type SessionView = Shape<typeof session>

/** Which sessions are listed. */
export const sessionFilter = z.strictObject({
  isolated: z.boolean().optional().describe('Also the sessions that runs of schedules have of their own.'),
  ...paging,
})
export type SessionFilter = Shape<typeof sessionFilter>

export const sessionPage = pageOf('SessionPage', session)

export const sessionChange = named(
  'SessionChange',
  z.strictObject({
    mode: z.enum(SESSION_MODES).nullish(),
    cap: z.int().min(1).max(MAX_CAP).nullish(),
    drop: z.enum(DROP_POLICIES).nullish(),
    debounce_ms: z.int().min(0).max(MAX_DEBOUNCE_MS).nullish(),
    max_concurrent: z.int().min(1).max(MAX_SESSION_CONCURRENT).nullish(),
  }),
  'What is left out stays; null gives a rule back to the deployment.',
)
export type SessionChange = Shape<typeof sessionChange>

/** The rules of a session as a program gives them: what is left out stays. */
export type SessionPatch = { readonly [Name in keyof SessionChange]?: NonNullable<SessionChange[Name]> }
