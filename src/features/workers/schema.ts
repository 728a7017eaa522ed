import { z } from 'zod'
import { TRIGGERS } from '../../domain/run/run.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { anyJson, id, isoTime, pageOf, whyFields } from '../../api/common.ts'
import { invitation } from '../access/restrictions-schema.ts'
import { named, type Shape } from '../../api/fields.ts'

export type { LogEvent, LogLevel } from '../../domain/run/log-entry.ts'

/** Maximum attempts of a worker at a time. */
const MAX_WORKER_CAPACITY = 1_000
const MAX_WORKER_AGENTS = 100
/** Maximum length of a long poll: proxies close idle connections. */
const MAX_CLAIM_WAIT_SECONDS = 30
const MAX_WORKER_EVENTS = 100

export const claimInput = named(
  'ClaimInput',
  z.strictObject({
    worker_id: id.nullish().describe('The id from the first answer. Omitted: a new worker.'),
    name: z.string().min(1).max(200).optional().describe('Name for people.'),
    agents: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(MAX_WORKER_AGENTS)
      .describe('Agents whose attempts the worker takes.'),
    capacity: z.int().min(1).max(MAX_WORKER_CAPACITY).optional().describe('Maximum attempts at a time.'),
    holding: z
      .array(id)
      .max(MAX_WORKER_CAPACITY)
      .optional()
      .describe('Attempts that the worker is executing, so that the response can name those to stop.'),
    draining: z.boolean().optional().describe('Whether the worker takes no more work and only finishes what it has.'),
    wait_seconds: z
      .number()
      .min(0)
      .max(MAX_CLAIM_WAIT_SECONDS)
      .optional()
      .describe('How long to wait for work, in seconds.'),
  }),
  'Defaults: `capacity` 1, `wait_seconds` 20, no attempts held. The first answer contains the `worker_id`.',
)
export type ClaimInput = Shape<typeof claimInput>

const attempt = named(
  'WorkerAttempt',
  z.strictObject({
    agent_id: z.string(),
    trigger_type: z.enum([...TRIGGERS, 'scheduled']),
    manual: z.boolean().describe('Whether this run of a schedule is manual: run-now, a backfill or a retry.'),
    schedule_id: z.string().nullable(),
    job_run_id: z.string(),
    run_id: z.string(),
    attempt: z.int(),
    attempt_id: z.string(),
    nominal_time: isoTime.nullable(),
    session_id: z.string().nullable(),
    message: z.string().nullable(),
    schedule_payload: anyJson,
    payload: anyJson,
    deadline: isoTime.nullable(),
    traceparent: z.string().nullable(),
    escapement: invitation
      .optional()
      .describe('Only for agents with `self_service`: the API and the key of this attempt.'),
  }),
  'An attempt handed to a worker.',
)
export type WorkerAttempt = Shape<typeof attempt>

const cancel = named(
  'WorkerCancel',
  z.strictObject({ attempt_id: z.string(), reason: whyFields.reason }),
  'An attempt that a worker should stop.',
)
export type WorkerCancel = Shape<typeof cancel>

export const claimAnswer = named(
  'ClaimAnswer',
  z.strictObject({
    worker_id: z.string(),
    lease_until: isoTime.describe('The worker counts as alive until then. Every claim and renewal extends it.'),
    renew_seconds: z.number().describe('How often to renew the lease while the worker holds attempts.'),
    attempts: z.array(attempt),
    cancel: z.array(cancel),
  }),
)
export type ClaimAnswer = Shape<typeof claimAnswer>

export const eventsInput = named(
  'EventsInput',
  z.strictObject({
    events: z
      .array(anyJson)
      .min(1)
      .max(MAX_WORKER_EVENTS)
      .describe('Text of the output, log lines (`type: log`) or steps, in order.'),
  }),
)
export type EventsInput = Shape<typeof eventsInput>

export const workerAnswer = named(
  'WorkerAnswer',
  z.strictObject({
    status: z.enum(RUN_STATES).describe('State of its run.'),
    ignored: z.boolean().describe('Nothing changed: the attempt is no longer the current one, or has ended.'),
    cancel: z.boolean().describe('The worker should stop this attempt.'),
    reason: whyFields.reason.nullable().describe('Why it should stop.'),
    ends_by: isoTime.nullable().describe('Deadline of the attempt. Null before it starts and after it has ended.'),
  }),
  'The answer to a report about an attempt.',
)
export type WorkerAnswer = Shape<typeof workerAnswer>

const worker = named(
  'Worker',
  z.strictObject({
    id: z.string(),
    name: z.string(),
    agents: z.array(z.string()),
    capacity: z.int(),
    held: z.int().describe('Attempts it holds.'),
    connected_at: isoTime,
    lease_until: isoTime,
    alive: z.boolean(),
    draining: z.boolean(),
  }),
  'A worker.',
)
export type WorkerView = Shape<typeof worker>

export const workerPage = pageOf('WorkerPage', worker)
