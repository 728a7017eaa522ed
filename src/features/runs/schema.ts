import { z } from 'zod'
import { ERROR_CODES, type ErrorCode } from '../../domain/run/error-codes.ts'
import { LOG_LEVELS } from '../../domain/run/log-entry.ts'
import { RESULT_STATUSES } from '../../domain/run/outcome.ts'
import { MAX_AGENT_ERROR_CODE_LENGTH } from '../../domain/run/reports.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { EDITED_PARTS, TRIGGERS } from '../../domain/run/run.ts'
import {
  anyJson,
  heldDecision,
  isoTime,
  owner,
  pageOf,
  why,
  whyFields,
  omittedPayload,
  paging,
} from '../../api/common.ts'
import { delivery } from '../deliveries/schema.ts'
import { named, type Shape, storableJson, text, integerBetween } from '../../api/fields.ts'
import { probeAnswer } from '../probes/schema.ts'

export const errorCode = z.enum(Object.keys(ERROR_CODES) as readonly ErrorCode[])

const MAX_PRICE_DATE_LENGTH = 30

export const usage = named(
  'Usage',
  z.strictObject({
    input_tokens: z.number().min(0).optional(),
    output_tokens: z.number().min(0).optional(),
    cached_input_tokens: z.number().min(0).optional().describe('The part of `input_tokens` read from a cache.'),
    reasoning_tokens: z.number().min(0).optional().describe('The part of `output_tokens` used for reasoning.'),
    context_window: z.number().min(0).optional(),
    cost: z.number().min(0).optional(),
    prices_as_of: z
      .string()
      .max(MAX_PRICE_DATE_LENGTH)
      .optional()
      .describe('The date of the list prices that the cost was computed with; missing: no list prices were used.'),
  }),
  'Tokens and cost of a run, as its executor reported them.',
)
export type UsageView = Shape<typeof usage>

const fields = {
  id: z.string(),
  job_run_id: z.string(),
  org_id: z.string(),
  schedule_id: z.string().nullable(),
  agent_id: z.string(),
  session_id: z
    .string()
    .nullable()
    .describe(
      'The session of the run: `session_key`, or the session reported by its runtime if the run has one of its own.',
    ),
  session_key: z
    .string()
    .nullable()
    .describe('The session passed to its runtime. Runs of a schedule with `session: isolated` each have their own.'),
  conversation: z
    .string()
    .nullable()
    .describe('The session to open: the reported one if it exists in the org, else `session_key`.'),
  message_id: z.string().nullable().describe('Its first message; without one, the reply reported by its runtime.'),
  trigger: z.enum(TRIGGERS),
  status: z.enum(RUN_STATES),
  reason: whyFields.reason.nullable().describe('The latest reason.'),
  lane: z.string(),
  priority: z.int(),
  nominal_time: isoTime.nullable(),
  not_before: isoTime.nullable(),
  deadline: isoTime.nullable(),
  created_at: isoTime,
  started_at: isoTime.nullable().describe('Start of the first attempt.'),
  finished_at: isoTime.nullable(),
  duration_ms: z
    .int()
    .nullable()
    .describe(
      'From the start of the first attempt to the end, waits included. Null if the run has not ended or never started.',
    ),
  first_attempt: z.int(),
  attempt: z.int(),
  error_code: errorCode.nullable(),
  error_message: z.string().nullable(),
  agent_error_code: z.string().nullable().describe('Error code reported by the runtime, if not one of `error_code`.'),
  agent_session_id: z
    .string()
    .nullable()
    .describe('Session id as the runtime names it; `agent_message_id` is its reply.'),
  agent_message_id: z.string().nullable(),
  result_summary: anyJson.describe('Text or JSON.'),
  output: anyJson,
  usage: usage.nullable(),
  payload: anyJson,
  ...omittedPayload,
  superseded: z.boolean(),
  retry_of: z.string().nullable(),
  parent_run_id: z.string().nullable(),
  owner,
  decision: why.describe('Why the run was created, skipped or held.'),
  held_decision: heldDecision,
}

export const run = named('Run', z.strictObject(fields), 'A run. Times are RFC 3339 in UTC.')
export type RunView = Shape<typeof run>

export const runPage = pageOf('RunPage', run)

/** One attempt of a run. */
const attempt = z.strictObject({
  id: z.string(),
  number: z.int(),
  node_id: z.string().nullable(),
  started_at: isoTime,
  finished_at: isoTime.nullable(),
  status: z.enum(RESULT_STATUSES).nullable().describe('Outcome. Null while it is running.'),
  error_code: errorCode.nullable(),
  error_message: z.string().nullable(),
  agent_error_code: z.string().nullable(),
})
export type AttemptView = Shape<typeof attempt>

/** One step in the timeline of a run. */
const timelineEntry = z.strictObject({
  at: isoTime,
  status: z.enum(RUN_STATES),
  reason: whyFields.reason.nullable(),
  attempt: z.int().nullable(),
})
export type TimelineEntry = Shape<typeof timelineEntry>

export const runDetail = named(
  'RunDetail',
  z.strictObject({
    ...fields,
    attempts: z.array(attempt),
    deliveries: z.array(delivery).describe('Deliveries of its result.'),
    timeline: z.array(timelineEntry),
    why,
    edits: z
      .strictObject({ parts: z.array(z.enum(EDITED_PARTS)), model: z.string().nullable() })
      .nullable()
      .describe('What this retry changed. Null: nothing, or it is not a retry.'),
    probe: probeAnswer.nullable().describe('Result of the probe before the agent was woken. Null: no probe.'),
    trace_id: z.string().nullable().describe('Trace id. Null: tracing was off.'),
  }),
  'A run with its attempts, deliveries and timeline.',
)
export type RunDetail = Shape<typeof runDetail>

const logEntry = named(
  'RunLogEntry',
  z.strictObject({
    id: z.string().describe('Unique within the run, as in `ids` of the event `run.output`.'),
    attempt: z.int(),
    at: isoTime,
    kind: z.enum(['output', 'log', 'step']).describe('Words of the output, a log line, or any other JSON.'),
    text: z.string().nullable().describe('The words, or the message of the log line.'),
    level: z.enum(LOG_LEVELS).nullable(),
    source: z.string().nullable().describe('Where a log line comes from, such as `stderr`.'),
    data: anyJson.describe('The fields of a log line, or the step.'),
  }),
  'What an attempt printed while it was running.',
)
export type RunLogEntry = Shape<typeof logEntry>

export const runLogPage = pageOf('RunLogPage', logEntry)

export const runLogFilter = z.strictObject({
  attempt: z.int().min(1).optional().describe('Only this attempt.'),
  limit: z.int().min(1).max(1_000).optional().describe('Page size, 200 by default.'),
  cursor: paging.cursor,
})
export type RunLogFilter = Shape<typeof runLogFilter>

const diffLine = z.strictObject({
  change: z.enum(['same', 'removed', 'added']).describe('`removed`: only in `a`; `added`: only in `b`.'),
  text: z.string(),
})
export type DiffLine = Shape<typeof diffLine>

const difference = z.number().nullable().describe('The value of `b` minus that of `a`. Null: one of them is unknown.')

export const runComparison = named(
  'RunComparison',
  z.strictObject({
    a: run,
    b: run,
    changes: z.strictObject({
      duration_ms: difference,
      input_tokens: difference,
      output_tokens: difference,
      cost: difference,
      attempts: difference,
    }),
    payload: z.array(diffLine).describe('The payloads by line; JSON is indented.'),
    output: z.array(diffLine).describe('The outputs by line; JSON is indented.'),
  }),
  'Two runs side by side.',
)
export type RunComparison = Shape<typeof runComparison>

export const retryInput = named(
  'RetryInput',
  z.strictObject({
    force: z.boolean().optional().describe('Also retry a run that succeeded.'),
    payload: storableJson.optional().describe('Another payload.'),
    prompt: text(1, 100_000)
      .optional()
      .describe(
        'Replace the prompt (the text of a message, or the prompt of a schedule). Cannot be combined with `payload`.',
      ),
    model: text(1, 200).optional().describe("Replace the agent's model (only for agents of kind `chat`)."),
  }),
  'How to retry a run, and what to change.',
)
export type RetryInput = Shape<typeof retryInput>

/** The filter of a list of runs; `status` takes several states separated by commas. */
export const runFilter = z.strictObject({
  schedule_id: z.string().min(1).max(512).optional().describe('Runs of this schedule.'),
  agent_id: z.string().min(1).max(512).optional().describe('Runs of this agent.'),
  session: z.string().min(1).max(512).optional().describe('Runs of this session.'),
  status: z.string().min(1).max(512).optional().describe('States, separated by commas.'),
  trigger: z.enum(TRIGGERS).optional().describe('What triggered the run.'),
  agent_error_code: z.string().min(1).max(MAX_AGENT_ERROR_CODE_LENGTH).optional().describe('Error code of the agent.'),
  from: z.iso.datetime({ offset: true }).optional().describe('Created at or after this time.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Created before this time.'),
  ...paging,
})

/** The filter in TypeScript, where `status` may also be a list of states. */
export type RunFilter = Omit<Shape<typeof runFilter>, 'status'> & {
  readonly status?: string | readonly string[] | undefined
}

/** A wait of more than a year must be a mistake. */
const MAX_RETRY_AFTER_SECONDS = 366 * 86_400

const reportedText = text(0, 1_000_000)

export const resultInput = named(
  'ResultInput',
  z.strictObject({
    job_run_id: reportedText.optional(),
    attempt_id: reportedText.optional(),
    status: z.enum(RESULT_STATUSES).optional(),
    session_id: reportedText.optional(),
    message_id: reportedText.optional(),
    error_code: reportedText.optional(),
    error_message: reportedText.optional(),
    output: storableJson.optional(),
    summary: storableJson.optional().describe('Text or JSON.'),
    usage: usage.optional(),
    retryable: z.boolean().optional(),
    retry_after_seconds: integerBetween(0, MAX_RETRY_AFTER_SECONDS)
      .optional()
      .describe('After a failure: how long the agent was asked to wait. Its provider is closed until then.'),
    next_check: storableJson
      .optional()
      .describe('When a heartbeat wants its next check: a time, or seconds from now. Ignored for other runs.'),
  }),
  'The result of an attempt, in responses of agents, callbacks and reports of workers.',
)
export type ResultInput = Shape<typeof resultInput>

export const callbackAnswer = named(
  'CallbackAnswer',
  z.strictObject({ status: z.enum(RUN_STATES), ignored: z.boolean() }),
)
export type CallbackAnswer = Shape<typeof callbackAnswer>
