import { z } from 'zod'
import {
  DROP_POLICIES,
  MAX_CAP,
  MAX_DEBOUNCE_MS,
  MAX_SESSION_CONCURRENT,
  SESSION_MODES,
} from '../../domain/session/session.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { TRIGGERS } from '../../domain/run/run.ts'
import { anyJson, id, isoTime, pageOf, paging, whyFields } from '../../api/common.ts'
import {
  fieldsRule,
  integerBetween,
  named,
  sessionKeyText,
  type Shape,
  storableList,
  text,
  timeInput,
  validatedLater,
} from '../../api/fields.ts'
import { refusalCode } from '../../api/problem.ts'
import { errorCode } from '../runs/schema.ts'

/** Maximum characters of a text. Longer content belongs in attachments by reference. */
const MAX_MESSAGE_TEXT = 1_000_000

/** More than any model can write. */
const MAX_MESSAGE_TOKENS = 1_000_000_000

/** Rules that a message can also set for itself. */
const sharedRules = {
  mode: z.enum(SESSION_MODES),
  max_concurrent: integerBetween(1, MAX_SESSION_CONCURRENT),
  debounce_ms: integerBetween(0, MAX_DEBOUNCE_MS),
}

const messageFields = {
  text: text(0, MAX_MESSAGE_TEXT),
  sender: text(1, 512)
    .optional()
    .describe('Sender of the message. Messages of one sender within the debounce time become one run.'),
  attachments: storableList.optional(),
  message_id: text(1, 512)
    .optional()
    .describe('Message id set by the sender. A message with the same id within 24 hours is a repetition.'),
  sent_at: timeInput.optional(),
  lane: text(1, 100).optional().describe('Lane of the run.'),
  mode: sharedRules.mode.optional().describe('Queue mode, for this message only.'),
  max_concurrent: sharedRules.max_concurrent.optional(),
  debounce_ms: sharedRules.debounce_ms.optional(),
  not_before: timeInput.optional().describe('Earliest time to start.'),
  deadline: timeInput.optional().describe('Latest time to start.'),
  parent_run_id: text(1, 100).optional(),
  max_tokens: integerBetween(1, MAX_MESSAGE_TOKENS)
    .optional()
    .describe('Maximum tokens of the run; budgets reserve this amount.'),
}

const hasContent = fieldsRule<{ readonly text?: unknown; readonly attachments?: readonly unknown[] | undefined }>(
  ({ text: content, attachments }) =>
    typeof content === 'string' && content.trim() === '' && (attachments ?? []).length === 0
      ? [{ field: 'text', value: content, message: 'is empty', allowed: 'a text, or attachments' }]
      : [],
)

export const messageInput = named(
  'MessageInput',
  z.strictObject(messageFields).check(hasContent),
  'A message. The texts `/stop` and `/stopall` are commands. A `message_id` that the same caller sent to the ' +
    'session within the last 24 hours repeats that message: nothing happens, and the answer contains its run.',
)
export type MessageInput = Shape<typeof messageInput>

export const messageReceipt = named(
  'MessageReceipt',
  z.strictObject({
    run_id: z.string(),
    message_id: z.string(),
    state: z.enum(RUN_STATES),
    position: z.int().nullable(),
    merged_into: z.string().optional(),
    dropped_run_id: z.string().optional(),
    duplicate: z
      .literal(true)
      .optional()
      .describe('This `message_id` was sent before; this is the run of the first one.'),
  }),
)
export type MessageReceipt = Shape<typeof messageReceipt>

export const stopAnswer = named(
  'StopAnswer',
  z.strictObject({ stopped: z.int(), drained: z.int() }),
  'The answer to /stop, /stopall and reset.',
)
export type StopAnswer = Shape<typeof stopAnswer>

/** Maximum number of messages in a call. */
const MAX_MESSAGES = 1_000

/** A message to a session that its entry names. */
export const sessionMessageInput = named(
  'SessionMessageInput',
  z
    .strictObject({
      session: sessionKeyText.describe('Key of the session. `agent:<agent>:…` names the agent.'),
      ...messageFields,
    })
    .check(hasContent),
  'A message, and the session it goes to.',
)

export const messagesInput = named(
  'MessagesInput',
  z.strictObject({ messages: z.array(validatedLater(sessionMessageInput)).min(1).max(MAX_MESSAGES) }),
  'Messages to any sessions.',
)

const { position: _position, ...receiptFields } = messageReceipt.shape

const messageOutcome = z.union([
  z.strictObject({ ok: z.literal(true), ...receiptFields }),
  z.strictObject({ ok: z.literal(true), ...stopAnswer.shape }),
  z.strictObject({
    ok: z.literal(false),
    code: refusalCode,
    message: z.string(),
    run_id: z.string().optional().describe('The run that records the refused message.'),
    retry_after_seconds: z.int().min(1).optional(),
  }),
])
export type MessageOutcome = Shape<typeof messageOutcome>

export const messagesAnswer = named(
  'MessagesAnswer',
  z.strictObject({ items: z.array(messageOutcome), accepted: z.int(), refused: z.int() }),
  'The outcome of each message, in the order of the request: a receipt, the answer to `/stop` or `/stopall`, or why' +
    ' it was refused.',
)
export type MessagesAnswer = Shape<typeof messagesAnswer>

const message = named(
  'Message',
  z.strictObject({
    run_id: z.string(),
    trigger: z.enum(TRIGGERS),
    message_ids: z.array(z.string()).describe('Messages merged into the run, oldest first. Empty for other triggers.'),
    sender: z.string().nullable(),
    text: z.string().nullable().describe('Text of the message, or the prompt of the schedule. Null: not text.'),
    attachments: z.array(anyJson),
    status: z.enum(RUN_STATES),
    reason: whyFields.reason.nullable(),
    reply: anyJson.describe('The reply. Null: none yet.'),
    error_code: errorCode.nullable(),
    error_message: z.string().nullable(),
    created_at: isoTime,
    started_at: isoTime.nullable(),
    finished_at: isoTime.nullable(),
  }),
  'A message of a session and its reply: one entry per run, whatever its trigger.',
)
export type MessageView = Shape<typeof message>

export const messagePage = pageOf('MessagePage', message)

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
    created_at: isoTime,
  }),
)
export type SessionView = Shape<typeof session>

/** Filter of the list of sessions. */
export const sessionFilter = z.strictObject({
  isolated: z.boolean().optional().describe('Include the sessions of isolated schedule runs.'),
  agent_id: id.optional().describe('Sessions whose key names this agent: `agent:<id>:…`.'),
  ...paging,
})
export type SessionFilter = Shape<typeof sessionFilter>

export const sessionPage = pageOf('SessionPage', session)

export const sessionChange = named(
  'SessionChange',
  z.strictObject({
    mode: sharedRules.mode.nullish().describe('How messages are queued.'),
    cap: integerBetween(1, MAX_CAP).nullish().describe('Maximum number of queued messages.'),
    drop: z.enum(DROP_POLICIES).nullish().describe('Which message is dropped when the queue is full.'),
    debounce_ms: sharedRules.debounce_ms.nullish().describe('Messages this close together become one run.'),
    max_concurrent: sharedRules.max_concurrent.nullish().describe('Maximum number of concurrent runs.'),
  }),
  'Omitted fields stay unchanged; null restores the setting of the deployment.',
)
export type SessionChange = Shape<typeof sessionChange>

/** A change of session rules through the library: omitted rules stay unchanged. */
export type SessionPatch = { readonly [Name in keyof SessionChange]?: NonNullable<SessionChange[Name]> }
