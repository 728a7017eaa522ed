import { z } from 'zod'
import { TRIGGERS } from '../../domain/run/run.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { anyJson, id, moment, pageOf, whyFields } from '../../api/common.ts'
import { invitation } from '../access/restrictions-schema.ts'
import { named, type Shape } from '../../contract/shape.ts'

/** No worker takes more at a time. */
const MOST_CAPACITY = 1_000
const MOST_AGENTS = 100
/** Longer than this no question is held open: what stands between us and a worker closes connections that say nothing. */
const LONGEST_WAIT_SECONDS = 30
const MOST_EVENTS = 100

export const claimInput = named(
  'ClaimInput',
  z.strictObject({
    worker_id: id.nullish().describe('The id from the first answer. Omitted: a new worker.'),
    name: z.string().min(1).max(200).optional().describe('Name for people.'),
    agents: z.array(z.string().min(1).max(200)).min(1).max(MOST_AGENTS).describe('Agents whose attempts it takes.'),
    capacity: z.int().min(1).max(MOST_CAPACITY).optional().describe('Maximum attempts at a time.'),
    holding: z
      .array(id)
      .max(MOST_CAPACITY)
      .optional()
      .describe('Attempts it is working on, so that it learns at once which to stop.'),
    draining: z.boolean().optional().describe('It takes no more work and finishes what it has.'),
    wait_seconds: z
      .number()
      .min(0)
      .max(LONGEST_WAIT_SECONDS)
      .optional()
      .describe('How long to wait for work, in seconds.'),
  }),
  'Left out: `capacity` 1, `wait_seconds` 20, nothing held. `worker_id` comes with the first answer.',
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
    nominal_time: moment.nullable(),
    session_id: z.string().nullable(),
    message: z.string().nullable(),
    schedule_payload: anyJson,
    payload: anyJson,
    deadline: moment.nullable(),
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
    lease_until: moment.describe('The worker counts as alive until then. Every claim and renewal extends it.'),
    renew_seconds: z.number().describe('How often to renew while it holds attempts.'),
    attempts: z.array(attempt),
    cancel: z.array(cancel),
  }),
)
export type ClaimAnswer = Shape<typeof claimAnswer>

export const eventsInput = named(
  'EventsInput',
  z.strictObject({
    events: z.array(anyJson).min(1).max(MOST_EVENTS).describe('Text or steps to show while the attempt is running.'),
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
    ends_by: moment.nullable().describe('Deadline of the attempt. Null before it starts and after it has ended.'),
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
    connected_at: moment,
    lease_until: moment,
    alive: z.boolean(),
    draining: z.boolean(),
  }),
  'A worker.',
)
export type WorkerView = Shape<typeof worker>

export const workerPage = pageOf('WorkerPage', worker)
