import { z } from 'zod'
import { RUN_STATES } from '../core/run/run-machine.ts'
import { anyJson, id, moment, pageOf } from './common.ts'
import { invitation } from './guard-rails.ts'
import { named, type Shape } from './shape.ts'

/** No worker takes more at a time. */
const MOST_CAPACITY = 1_000
const MOST_AGENTS = 100
/** Longer than this no question is held open: what stands between us and a worker closes connections that say nothing. */
const LONGEST_WAIT_SECONDS = 30
const MOST_EVENTS = 100

export const claimInput = named(
  'ClaimInput',
  z.strictObject({
    worker_id: id.nullish().describe('The id the first answer gave it; left out: it has just come.'),
    name: z.string().min(1).max(200).optional().describe('What people call it.'),
    agents: z.array(z.string().min(1).max(200)).min(1).max(MOST_AGENTS).describe('The agents whose work it takes.'),
    capacity: z.int().min(1).max(MOST_CAPACITY).optional().describe('Attempts it takes at a time.'),
    holding: z
      .array(id)
      .max(MOST_CAPACITY)
      .optional()
      .describe('The attempts it works on: it is told at once when it should stop one.'),
    draining: z.boolean().optional().describe('It takes nothing more and ends what it holds.'),
    wait_seconds: z.number().min(0).max(LONGEST_WAIT_SECONDS).optional().describe('How long to wait for news.'),
  }),
  'Left out: `capacity` 1, `wait_seconds` 20, nothing held. `worker_id` comes with the first answer.',
)
export type ClaimInput = Shape<typeof claimInput>

const attempt = named(
  'WorkerAttempt',
  z.strictObject({
    agent_id: z.string(),
    trigger_type: z.string(),
    manual: z
      .boolean()
      .describe('Whether a person or a program asked for this run of a schedule: run-now, a backfill or a retry.'),
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
      .describe('Only for agents with `self_service`: where to ask, and the key of this attempt.'),
  }),
  'One attempt of a run, as a worker is handed it: what an agent over HTTP is told, and whose work it is.',
)
export type WorkerAttempt = Shape<typeof attempt>

const cancel = named(
  'WorkerCancel',
  z.strictObject({ attempt_id: z.string(), reason: z.string() }),
  'An attempt that a worker should stop, and why.',
)
export type WorkerCancel = Shape<typeof cancel>

export const claimAnswer = named(
  'ClaimAnswer',
  z.strictObject({
    worker_id: z.string(),
    lease_until: moment.describe('Until then it is believed to be alive. Every claim and every renewal moves it.'),
    renew_seconds: z.number().describe('How often to renew while something is held.'),
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
      .max(MOST_EVENTS)
      .describe('Pieces of text, steps: whatever is worth showing while the attempt goes on.'),
  }),
)
export type EventsInput = Shape<typeof eventsInput>

export const workerAnswer = named(
  'WorkerAnswer',
  z.strictObject({
    status: z.enum(RUN_STATES).describe('The state of its run.'),
    ignored: z
      .boolean()
      .describe('It changed nothing: the attempt is not the current one any more, or nothing was left to change.'),
    cancel: z.boolean().describe('The worker should stop working on it.'),
    reason: z.string().nullable().describe('Why it should.'),
    ends_by: moment
      .nullable()
      .describe('When the attempt must be over; null while it has not begun, and once it has ended.'),
  }),
  'What a worker is answered about an attempt.',
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
  'A worker, as people see it.',
)
export type WorkerView = Shape<typeof worker>

export const workerPage = pageOf('WorkerPage', worker)
