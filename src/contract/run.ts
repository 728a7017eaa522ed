import { z } from 'zod'
import { ERROR_CODES, type ErrorCode } from '../core/run/error-codes.ts'
import { MAX_AGENT_ERROR_CODE } from '../core/run/reported.ts'
import { RUN_STATES } from '../core/run/run-machine.ts'
import { TRIGGERS } from '../core/run/run.ts'
import { anyJson, moment, pageOf, why, omittedPayload, paging } from './common.ts'
import { delivery } from './delivery.ts'
import { named, type Shape } from './shape.ts'
import { probeAnswer } from './probe.ts'

export const errorCode = z.enum(Object.keys(ERROR_CODES) as readonly ErrorCode[])

export const usage = named(
  'Usage',
  z.strictObject({
    input_tokens: z.number().optional(),
    output_tokens: z.number().optional(),
    context_window: z.number().optional(),
    cost: z.number().optional(),
  }),
  'Tokens and money of a run, as its executor reported them.',
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
      'The conversation of the run: `session_key`, or the session that its runtime reported if the run has one of its own.',
    ),
  session_key: z
    .string()
    .nullable()
    .describe('The session that its runtime is told. A run of a schedule with `session: isolated` has one of its own.'),
  conversation: z
    .string()
    .nullable()
    .describe('The session to open: the reported one if it is a session of the org, else `session_key`.'),
  message_id: z
    .string()
    .nullable()
    .describe('The first message it carries, or, where it carries none, the reply that its runtime reported.'),
  trigger: z.enum(TRIGGERS),
  status: z.enum(RUN_STATES),
  reason: z.string().nullable().describe('The newest reason on record.'),
  lane: z.string(),
  priority: z.int(),
  nominal_time: moment.nullable(),
  not_before: moment.nullable(),
  deadline: moment.nullable(),
  created_at: moment,
  started_at: moment.nullable().describe('When its first attempt started.'),
  finished_at: moment.nullable(),
  duration_ms: z
    .int()
    .nullable()
    .describe('From that start to its end, waits included; null until it has ended, or if it never started.'),
  first_attempt: z.int(),
  attempt: z.int(),
  error_code: errorCode.nullable(),
  error_message: z.string().nullable(),
  agent_error_code: z
    .string()
    .nullable()
    .describe("The runtime's own error code, where it reported one that is not in our table."),
  agent_session_id: z.string().nullable().describe('The session and the reply as the runtime names them.'),
  agent_message_id: z.string().nullable(),
  result_summary: anyJson.describe('A text or JSON.'),
  output: anyJson,
  usage: usage.nullable(),
  payload: anyJson,
  ...omittedPayload,
  superseded: z.boolean(),
  retry_of: z.string().nullable(),
  parent_run_id: z.string().nullable(),
  owner: z.string().nullable().describe('The key or the agent (`agent:<id>`) under whose guard rails it was made.'),
  decision: why.describe('Why it was made, or was not to run; while it is held, why that is.'),
  held_decision: why.nullable().describe('Why it was held before `decision` was made; null for runs that never were.'),
}

export const run = named('Run', z.strictObject(fields), 'A run as every surface shows it. Times are RFC 3339 with `Z`.')
export type RunView = Shape<typeof run>

export const runPage = pageOf('RunPage', run)

/** One execution of a run. */
const attempt = z.strictObject({
  id: z.string(),
  number: z.int(),
  node_id: z.string().nullable(),
  started_at: moment,
  finished_at: moment.nullable(),
  status: z
    .enum(['success', 'failed', 'timeout', 'cancelled'])
    .nullable()
    .describe('How it ended; null while it goes on.'),
  error_code: errorCode.nullable(),
  error_message: z.string().nullable(),
  agent_error_code: z.string().nullable(),
})
export type AttemptView = Shape<typeof attempt>

/** One step on a run's way. */
const step = z.strictObject({
  at: moment,
  status: z.enum(RUN_STATES),
  reason: z.string().nullable(),
  attempt: z.int().nullable(),
})
export type TimelineEntry = Shape<typeof step>

export const runDetail = named(
  'RunDetail',
  z.strictObject({
    ...fields,
    attempts: z.array(attempt),
    deliveries: z.array(delivery).describe('Where its result was carried, or is on its way to.'),
    timeline: z.array(step),
    why,
    probe: probeAnswer.nullable().describe('What was asked before its agent was woken; null: nothing was.'),
    trace_id: z.string().nullable().describe('The trace it belongs to; null when it was not asked for.'),
  }),
  'A run with everything there is to know about it.',
)
export type RunDetail = Shape<typeof runDetail>

export const retryInput = named(
  'RetryInput',
  z.strictObject({ force: z.boolean().optional().describe('Also one that succeeded.') }),
  'How a run is repeated.',
)
export type RetryInput = Shape<typeof retryInput>

/** The filter of a list of runs; `status` takes several words with commas between them. */
export const runFilter = z.strictObject({
  schedule_id: z.string().min(1).max(512).optional(),
  agent_id: z.string().min(1).max(512).optional(),
  session: z.string().min(1).max(512).optional(),
  status: z.string().min(1).max(512).optional(),
  trigger: z.enum(TRIGGERS).optional(),
  agent_error_code: z.string().min(1).max(MAX_AGENT_ERROR_CODE).optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  ...paging,
})

/** Which runs are wanted; a program may name several states in a list. */
export type RunFilter = Omit<Shape<typeof runFilter>, 'status'> & {
  readonly status?: string | readonly string[] | undefined
}

/** Longer waits than a year are a mistake. */
const LONGEST_WAIT_SECONDS = 366 * 86_400

export const resultInput = named(
  'ResultInput',
  z.strictObject({
    job_run_id: z.string().optional(),
    attempt_id: z.string().optional(),
    status: z.enum(['success', 'failed', 'timeout', 'cancelled']).optional(),
    session_id: z.string().optional(),
    message_id: z.string().optional(),
    error_code: z.string().optional(),
    error_message: z.string().optional(),
    output: anyJson.optional(),
    summary: anyJson.optional().describe('A text or JSON.'),
    usage: usage.optional(),
    retryable: z.boolean().optional(),
    retry_after_seconds: z
      .int()
      .min(0)
      .max(LONGEST_WAIT_SECONDS)
      .optional()
      .describe(
        'Of a failure: how long what the agent called asked it to wait; its provider takes nothing more until then.',
      ),
    next_check: anyJson
      .optional()
      .describe(
        'When a heartbeat wants to be asked again: a moment, or seconds from now. Of other runs it is passed over.',
      ),
  }),
  'The one shape of a result: for answers, callbacks and workers.',
)
export type ResultInput = Shape<typeof resultInput>

export const callbackAnswer = named(
  'CallbackAnswer',
  z.strictObject({ status: z.enum(RUN_STATES), ignored: z.boolean() }),
)
export type CallbackAnswer = Shape<typeof callbackAnswer>
