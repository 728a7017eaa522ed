import { z } from 'zod'
import { ERROR_CODES, type ErrorCode } from '../../core/run/error-codes.ts'
import { MAX_AGENT_ERROR_CODE } from '../../core/run/reported.ts'
import { RUN_STATES } from '../../core/run/run-machine.ts'
import { TRIGGERS } from '../../core/run/run.ts'
import type {
  AttemptView,
  CallbackAnswer,
  ResultInput,
  RetryInput,
  RunDetail,
  RunFilter,
  RunView,
  TimelineEntry,
  UsageView,
} from '../run.ts'
import { anyJson, moment, omittedPayload, oneOf, pageOf, paging, why } from './common.ts'
import { delivery } from './delivery.ts'
import { named, shaped } from './shaped.ts'
import { probeAnswer } from './wake-probe.ts'

export const errorCode = oneOf(Object.keys(ERROR_CODES) as readonly ErrorCode[])

export const usage: z.ZodType<UsageView> = named(
  'Usage',
  shaped<UsageView>()({
    input_tokens: z.number().optional(),
    output_tokens: z.number().optional(),
    context_window: z.number().optional(),
    cost: z.number().optional(),
  }),
)

const fields = {
  id: z.string(),
  job_run_id: z.string(),
  org_id: z.string(),
  schedule_id: z.string().nullable(),
  agent_id: z.string(),
  session_id: z.string().nullable(),
  session_key: z.string().nullable(),
  conversation: z.string().nullable(),
  message_id: z.string().nullable(),
  trigger: z.enum(TRIGGERS),
  status: oneOf(RUN_STATES),
  reason: z.string().nullable(),
  lane: z.string(),
  priority: z.int(),
  nominal_time: moment.nullable(),
  not_before: moment.nullable(),
  deadline: moment.nullable(),
  created_at: moment,
  started_at: moment.nullable(),
  finished_at: moment.nullable(),
  duration_ms: z.int().nullable(),
  first_attempt: z.int(),
  attempt: z.int(),
  error_code: errorCode.nullable(),
  error_message: z.string().nullable(),
  agent_error_code: z.string().nullable(),
  agent_session_id: z.string().nullable(),
  agent_message_id: z.string().nullable(),
  result_summary: anyJson,
  output: anyJson,
  usage: usage.nullable(),
  payload: anyJson,
  ...omittedPayload,
  superseded: z.boolean(),
  retry_of: z.string().nullable(),
  parent_run_id: z.string().nullable(),
  owner: z.string().nullable(),
  decision: why,
  held_decision: why.nullable(),
}

export const run: z.ZodType<RunView> = named('Run', shaped<RunView>()(fields))
export const runPage = pageOf('RunPage', run)

const attempt = shaped<AttemptView>()({
  id: z.string(),
  number: z.int(),
  node_id: z.string().nullable(),
  started_at: moment,
  finished_at: moment.nullable(),
  status: z.enum(['success', 'failed', 'timeout', 'cancelled']).nullable(),
  error_code: errorCode.nullable(),
  error_message: z.string().nullable(),
  agent_error_code: z.string().nullable(),
})

const step = shaped<TimelineEntry>()({
  at: moment,
  status: oneOf(RUN_STATES),
  reason: z.string().nullable(),
  attempt: z.int().nullable(),
})

export const runDetail: z.ZodType<RunDetail> = named(
  'RunDetail',
  shaped<RunDetail>()({
    ...fields,
    attempts: z.array(attempt),
    deliveries: z.array(delivery),
    timeline: z.array(step),
    why,
    probe: probeAnswer.nullable(),
    trace_id: z.string().nullable(),
  }),
)

export const retryInput: z.ZodType<RetryInput> = named(
  'RetryInput',
  shaped<RetryInput>()({ force: z.boolean().optional() }),
)

/** The filter of a list of runs; `status` takes several words with commas between them. */
export const runFilter = shaped<RunFilter & { readonly status?: string | undefined }>()({
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

/** Longer waits than a year are a mistake. */
const LONGEST_WAIT_SECONDS = 366 * 86_400

export const resultInput: z.ZodType<ResultInput> = named(
  'ResultInput',
  shaped<ResultInput>()({
    job_run_id: z.string().optional(),
    attempt_id: z.string().optional(),
    status: z.enum(['success', 'failed', 'timeout', 'cancelled']).optional(),
    session_id: z.string().optional(),
    message_id: z.string().optional(),
    error_code: z.string().optional(),
    error_message: z.string().optional(),
    output: anyJson.optional(),
    summary: anyJson.optional(),
    usage: usage.optional(),
    retryable: z.boolean().optional(),
    retry_after_seconds: z.int().min(0).max(LONGEST_WAIT_SECONDS).optional(),
    next_check: anyJson.optional(),
  }),
)

export const callbackAnswer: z.ZodType<CallbackAnswer> = named(
  'CallbackAnswer',
  shaped<CallbackAnswer>()({ status: oneOf(RUN_STATES), ignored: z.boolean() }),
)
