import { z } from 'zod'
import { ERROR_CODES, type ErrorCode } from '../../domain/run/error-codes.ts'
import { RESULT_STATUSES } from '../../domain/run/outcome.ts'
import { MAX_AGENT_ERROR_CODE } from '../../core/run/reported.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { TRIGGERS } from '../../domain/run/run.ts'
import {
  anyJson,
  heldDecision,
  moment,
  owner,
  pageOf,
  why,
  whyFields,
  omittedPayload,
  paging,
} from '../../api/common.ts'
import { delivery } from '../deliveries/schema.ts'
import { storableJson, text, whole } from '../../api/fields.ts'
import { named, type Shape } from '../../contract/shape.ts'
import { probeAnswer } from '../probes/schema.ts'

export const errorCode = z.enum(Object.keys(ERROR_CODES) as readonly ErrorCode[])

export const usage = named(
  'Usage',
  z.strictObject({
    input_tokens: z.number().min(0).optional(),
    output_tokens: z.number().min(0).optional(),
    context_window: z.number().min(0).optional(),
    cost: z.number().min(0).optional(),
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
      'The conversation of the run: `session_key`, or the session its runtime reported if the run has one of its own.',
    ),
  session_key: z
    .string()
    .nullable()
    .describe('The session given to its runtime. Runs of a schedule with `session: isolated` each have their own.'),
  conversation: z
    .string()
    .nullable()
    .describe('The session to open: the reported one if it exists in the org, else `session_key`.'),
  message_id: z.string().nullable().describe('Its first message; without one, the reply its runtime reported.'),
  trigger: z.enum(TRIGGERS),
  status: z.enum(RUN_STATES),
  reason: whyFields.reason.nullable().describe('The latest reason.'),
  lane: z.string(),
  priority: z.int(),
  nominal_time: moment.nullable(),
  not_before: moment.nullable(),
  deadline: moment.nullable(),
  created_at: moment,
  started_at: moment.nullable().describe('Start of the first attempt.'),
  finished_at: moment.nullable(),
  duration_ms: z
    .int()
    .nullable()
    .describe('From the first start to the end, waits included. Null until it has ended, or if it never started.'),
  first_attempt: z.int(),
  attempt: z.int(),
  error_code: errorCode.nullable(),
  error_message: z.string().nullable(),
  agent_error_code: z.string().nullable().describe('Error code reported by the runtime that is not one of ours.'),
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
  decision: why.describe('Why it was created or skipped; while it is held, why.'),
  held_decision: heldDecision,
}

export const run = named('Run', z.strictObject(fields), 'A run. Times are RFC 3339 in UTC.')
export type RunView = Shape<typeof run>

export const runPage = pageOf('RunPage', run)

/** One execution of a run. */
const attempt = z.strictObject({
  id: z.string(),
  number: z.int(),
  node_id: z.string().nullable(),
  started_at: moment,
  finished_at: moment.nullable(),
  status: z.enum(RESULT_STATUSES).nullable().describe('Outcome. Null while it is running.'),
  error_code: errorCode.nullable(),
  error_message: z.string().nullable(),
  agent_error_code: z.string().nullable(),
})
export type AttemptView = Shape<typeof attempt>

/** One step on a run's way. */
const step = z.strictObject({
  at: moment,
  status: z.enum(RUN_STATES),
  reason: whyFields.reason.nullable(),
  attempt: z.int().nullable(),
})
export type TimelineEntry = Shape<typeof step>

export const runDetail = named(
  'RunDetail',
  z.strictObject({
    ...fields,
    attempts: z.array(attempt),
    deliveries: z.array(delivery).describe('Deliveries of its result.'),
    timeline: z.array(step),
    why,
    probe: probeAnswer.nullable().describe('Result of the probe before the agent was woken. Null: no probe.'),
    trace_id: z.string().nullable().describe('Trace id. Null: tracing was off.'),
  }),
  'A run with its attempts, deliveries and timeline.',
)
export type RunDetail = Shape<typeof runDetail>

export const retryInput = named(
  'RetryInput',
  z.strictObject({ force: z.boolean().optional().describe('Also retry a run that succeeded.') }),
  'How to retry a run.',
)
export type RetryInput = Shape<typeof retryInput>

/** The filter of a list of runs; `status` takes several words with commas between them. */
export const runFilter = z.strictObject({
  schedule_id: z.string().min(1).max(512).optional().describe('Runs of this schedule.'),
  agent_id: z.string().min(1).max(512).optional().describe('Runs of this agent.'),
  session: z.string().min(1).max(512).optional().describe('Runs of this session.'),
  status: z.string().min(1).max(512).optional().describe('States, separated by commas.'),
  trigger: z.enum(TRIGGERS).optional().describe('What triggered the run.'),
  agent_error_code: z.string().min(1).max(MAX_AGENT_ERROR_CODE).optional().describe('Error code of the agent.'),
  from: z.iso.datetime({ offset: true }).optional().describe('Created at or after this time.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Created before this time.'),
  ...paging,
})

/** Which runs are wanted; a program may name several states in a list. */
export type RunFilter = Omit<Shape<typeof runFilter>, 'status'> & {
  readonly status?: string | readonly string[] | undefined
}

/** Longer waits than a year are a mistake. */
const LONGEST_WAIT_SECONDS = 366 * 86_400

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
    retry_after_seconds: whole(0, LONGEST_WAIT_SECONDS)
      .optional()
      .describe('Of a failure: how long the agent was asked to wait. Its provider is closed until then.'),
    next_check: storableJson
      .optional()
      .describe('When a heartbeat wants its next check: a time, or seconds from now. Ignored for other runs.'),
  }),
  'The result of an attempt: in answers, callbacks and reports of workers.',
)
export type ResultInput = Shape<typeof resultInput>

export const callbackAnswer = named(
  'CallbackAnswer',
  z.strictObject({ status: z.enum(RUN_STATES), ignored: z.boolean() }),
)
export type CallbackAnswer = Shape<typeof callbackAnswer>
