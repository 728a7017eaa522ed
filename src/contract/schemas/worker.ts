import { z } from 'zod'
import { RUN_STATES } from '../../core/run/run-machine.ts'
import type {
  ClaimAnswer,
  ClaimInput,
  EventsInput,
  WorkerAnswer,
  WorkerAttempt,
  WorkerCancel,
  WorkerView,
} from '../worker.ts'
import { anyJson, id, moment, oneOf, pageOf } from './common.ts'
import { invitation } from './guard-rails.ts'
import { named, shaped } from './shaped.ts'

/** No worker takes more at a time. */
const MOST_CAPACITY = 1_000
const MOST_AGENTS = 100
/** Longer than this no question is held open: what stands between us and a worker closes connections that say nothing. */
const LONGEST_WAIT_SECONDS = 30
const MOST_EVENTS = 100

export const claimInput: z.ZodType<ClaimInput> = named(
  'ClaimInput',
  shaped<ClaimInput>()({
    worker_id: id.nullish(),
    name: z.string().min(1).max(200).optional(),
    agents: z.array(z.string().min(1).max(200)).min(1).max(MOST_AGENTS),
    capacity: z.int().min(1).max(MOST_CAPACITY).optional(),
    holding: z.array(id).max(MOST_CAPACITY).optional(),
    draining: z.boolean().optional(),
    wait_seconds: z.number().min(0).max(LONGEST_WAIT_SECONDS).optional(),
  }),
  'Left out: `capacity` 1, `wait_seconds` 20, nothing held. `worker_id` comes with the first answer.',
)

const attempt: z.ZodType<WorkerAttempt> = named(
  'WorkerAttempt',
  shaped<WorkerAttempt>()({
    agent_id: z.string(),
    trigger_type: z.string(),
    manual: z.boolean(),
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
    escapement: invitation.optional(),
  }),
)

const cancel: z.ZodType<WorkerCancel> = named(
  'WorkerCancel',
  shaped<WorkerCancel>()({ attempt_id: z.string(), reason: z.string() }),
)

export const claimAnswer: z.ZodType<ClaimAnswer> = named(
  'ClaimAnswer',
  shaped<ClaimAnswer>()({
    worker_id: z.string(),
    lease_until: moment,
    renew_seconds: z.number(),
    attempts: z.array(attempt),
    cancel: z.array(cancel),
  }),
)

export const eventsInput: z.ZodType<EventsInput> = named(
  'EventsInput',
  shaped<EventsInput>()({ events: z.array(anyJson).min(1).max(MOST_EVENTS) }),
)

export const workerAnswer: z.ZodType<WorkerAnswer> = named(
  'WorkerAnswer',
  shaped<WorkerAnswer>()({
    status: oneOf(RUN_STATES),
    ignored: z.boolean(),
    cancel: z.boolean(),
    reason: z.string().nullable(),
    ends_by: moment.nullable(),
  }),
)

const worker: z.ZodType<WorkerView> = named(
  'Worker',
  shaped<WorkerView>()({
    id: z.string(),
    name: z.string(),
    agents: z.array(z.string()),
    capacity: z.int(),
    held: z.int(),
    connected_at: moment,
    lease_until: moment,
    alive: z.boolean(),
    draining: z.boolean(),
  }),
)

export const workerPage = pageOf('WorkerPage', worker)
