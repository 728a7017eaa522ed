import { z } from 'zod'
import { BEAT_OUTCOMES } from '../../core/heartbeat/beat-ending.ts'
import { DELIVERY_STATES } from '../../core/delivery/delivery-states.ts'
import type {
  ActiveHoursView,
  ChecklistInput,
  HeartbeatInput,
  HeartbeatLogFilter,
  HeartbeatLogView,
  HeartbeatTestAnswer,
  HeartbeatView,
} from '../heartbeat.ts'
import { moment, oneOf, pageOf, paging, why, whyFields } from './common.ts'
import { named, shaped } from './shaped.ts'
import { probeCounts, probeInput } from './wake-probe.ts'

const YEAR_SECONDS = 366 * 86_400
const MOST_TEXT = 256 * 1024

const checklist: z.ZodType<ChecklistInput> = named(
  'Checklist',
  z.union([
    z.strictObject({ text: z.string().max(MOST_TEXT) }),
    z.strictObject({ file: z.string().min(1).max(1_000) }),
  ]),
  'What is looked after: words, or a file below `heartbeat.checklist_dir`.',
)

const timeOfDay = z.string().regex(/^\d{2}:\d{2}$/)
const interval = z.int().min(1).max(YEAR_SECONDS)

export const heartbeatInput: z.ZodType<HeartbeatInput> = named(
  'HeartbeatInput',
  shaped<HeartbeatInput>()({
    enabled: z.boolean().nullish(),
    interval_seconds: interval.nullish(),
    active_hours: z.strictObject({ start: timeOfDay, end: timeOfDay, timezone: z.string().nullish() }).nullish(),
    checklist: checklist.nullish(),
    prompt: z.string().min(1).max(MOST_TEXT).nullish(),
    target: z.string().min(1).max(600).nullish(),
    ack_max_chars: z.int().min(0).max(1_000_000).nullish(),
    session: z.string().min(1).max(512).nullish(),
    adaptive: z
      .union([
        z.boolean(),
        z.strictObject({
          ok_step: z.int().min(1).max(1_000_000).optional(),
          max_interval_seconds: interval.optional(),
        }),
      ])
      .nullish(),
    probe: probeInput.nullish(),
  }),
  'The whole heartbeat: what is left out takes its default. Setting a checklist switches it on unless `enabled` is false. ' +
    'Switched on without one it takes `<agent>/HEARTBEAT.md` below `heartbeat.checklist_dir`, if that file is there.',
)

export const heartbeat: z.ZodType<HeartbeatView> = named(
  'Heartbeat',
  shaped<HeartbeatView>()({
    agent_id: z.string(),
    org_id: z.string(),
    enabled: z.boolean(),
    interval_seconds: z.int(),
    active_hours: shaped<ActiveHoursView>()({ start: timeOfDay, end: timeOfDay, timezone: z.string() }).nullable(),
    checklist: checklist.nullable(),
    prompt: z.string(),
    target: z.string(),
    ack_max_chars: z.int(),
    session: z.string(),
    adaptive: z.strictObject({ ok_step: z.int(), max_interval_seconds: z.int() }).nullable(),
    probe: probeInput.nullable(),
    probe_counts: probeCounts.optional(),
    route: z.string().nullable(),
    no_route: z.string().nullable(),
    next_at: moment.nullable(),
    ok_streak: z.int(),
    current_interval_seconds: z.int(),
    version: z.int(),
    updated_at: moment.nullable(),
  }),
)

export const heartbeatTest: z.ZodType<HeartbeatTestAnswer> = named(
  'HeartbeatTest',
  shaped<HeartbeatTestAnswer>()({
    ran: z.boolean(),
    run_id: z.string().optional(),
    reason: z.string().optional(),
    sentence: z.string(),
  }),
)

const heartbeatLogEntry: z.ZodType<HeartbeatLogView> = named(
  'HeartbeatLogEntry',
  shaped<HeartbeatLogView>()({
    id: z.string(),
    agent_id: z.string(),
    kind: z.enum(['planned', 'asked']),
    due_at: moment.nullable(),
    at: moment,
    looks: z.int(),
    last_at: moment,
    outcome: oneOf(BEAT_OUTCOMES),
    reason: whyFields.reason,
    sentence: z.string(),
    why,
    target: z.string(),
    run_id: z.string().nullable(),
    content: z.string().nullable(),
    delivery_id: z.string().nullable(),
    delivery_status: oneOf(DELIVERY_STATES).nullable(),
    finished_at: moment.nullable(),
  }),
)

export const heartbeatLog = pageOf('HeartbeatLog', heartbeatLogEntry)

export const heartbeatLogFilter = shaped<HeartbeatLogFilter>()({ ...paging, outcome: z.string().max(200).optional() })
