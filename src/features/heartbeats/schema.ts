import { z } from 'zod'
import { RECORDED_HEARTBEAT_OUTCOMES } from '../../domain/heartbeat/heartbeat-ending.ts'
import { DELIVERY_STATES } from '../../domain/delivery/delivery.ts'
import {
  parseActiveHours,
  parseChecklistFile,
  parseChecklistForm,
  parseFilledText,
  parseHeartbeatTarget,
} from '../../domain/heartbeat/heartbeat-config.ts'
import { UTC } from '../../domain/time/zone.ts'
import { isoTime, pageOf, why, whyFields, paging } from '../../api/common.ts'
import { named, rule, sessionKeyText, type Shape, text, integerBetween } from '../../api/fields.ts'
import { probeCounts, probeInput } from '../probes/schema.ts'

const YEAR_SECONDS = 366 * 86_400
/** A longer checklist belongs in a file. */
const MAX_CHECKLIST_TEXT = 256 * 1024

const checklist = named(
  'Checklist',
  z
    .union([
      z.strictObject({ text: text(0, MAX_CHECKLIST_TEXT) }),
      z.strictObject({ file: text(1, 1_000).check(rule(parseChecklistFile)) }),
    ])
    .check(rule(parseChecklistForm)),
  'A checklist: text, or the path of a file below `heartbeat.checklist_dir`.',
)
export type ChecklistInput = Shape<typeof checklist>

const timeOfDay = z.string().regex(/^\d{2}:\d{2}$/)
const interval = integerBetween(1, YEAR_SECONDS)

const activeHours = z
  .strictObject({
    start: z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/),
    end: z.string().regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/),
    timezone: z.string().nullish().describe('Default: the time zone of the org.'),
  })
  .check(rule((field, hours) => parseActiveHours(field, hours, UTC)))

export const heartbeatInput = named(
  'HeartbeatInput',
  z.strictObject({
    enabled: z.boolean().nullish().describe('Whether the heartbeat is enabled.'),
    interval_seconds: interval.nullish().describe('Interval between heartbeats.'),
    active_hours: activeHours.nullish().describe('Hours of the day in which heartbeats run.'),
    prompt: text(1, MAX_CHECKLIST_TEXT).check(rule(parseFilledText)).nullish().describe('Prompt before the checklist.'),
    checklist: checklist.nullish().describe('Checklist of the agent.'),
    target: text(1, 600)
      .check(rule(parseHeartbeatTarget))
      .nullish()
      .describe('Where messages are sent: `last`, `none`, a channel, `channel:recipient`, or a target id.'),
    ack_max_chars: integerBetween(0, 1_000_000)
      .nullish()
      .describe('Maximum characters besides `HEARTBEAT_OK` in a reply that still counts as an acknowledgement.'),
    session: sessionKeyText.check(rule(parseFilledText)).nullish().describe("Session of the heartbeat's messages."),
    adaptive: z
      .union([
        z.boolean(),
        z.strictObject({
          ok_step: integerBetween(1, 1_000_000).optional(),
          max_interval_seconds: interval.optional(),
        }),
      ])
      .nullish()
      .describe('Whether the interval grows while all heartbeats are acknowledged.'),
    probe: probeInput.nullish().describe('Probe that runs before the agent is woken, after all free checks.'),
  }),
  'The whole heartbeat: omitted fields take their defaults. Setting a checklist enables it unless `enabled` is ' +
    'false. Enabled without a checklist, it uses `<agent>/HEARTBEAT.md` below `heartbeat.checklist_dir` if that file exists.',
)
export type HeartbeatInput = Shape<typeof heartbeatInput>

export const heartbeat = named(
  'Heartbeat',
  z.strictObject({
    agent_id: z.string(),
    org_id: z.string(),
    enabled: z.boolean(),
    interval_seconds: z.int(),
    active_hours: z.strictObject({ start: timeOfDay, end: timeOfDay, timezone: z.string() }).nullable(),
    checklist: checklist.nullable(),
    prompt: z.string(),
    target: z.string(),
    ack_max_chars: z.int(),
    session: z.string(),
    adaptive: z.strictObject({ ok_step: z.int(), max_interval_seconds: z.int() }).nullable(),
    probe: probeInput.nullable(),
    probe_counts: probeCounts
      .optional()
      .describe('How often the probe ran and what it saved. Only for a single heartbeat whose probe has run.'),
    route: z.string().nullable().describe('Where a message would be sent now. Null: no route.'),
    no_route: z.string().nullable().describe('Why there is no route, and how to fix it. Null: there is a route.'),
    next_at: isoTime.nullable().describe('Next check. Null while the heartbeat is disabled.'),
    ok_streak: z.int().describe('Consecutive acknowledgements.'),
    current_interval_seconds: z.int().describe('The interval after adapting to the streak.'),
    version: z.int().describe('0: never set.'),
    updated_at: isoTime.nullable(),
  }),
  'The heartbeat of an agent.',
)
export type HeartbeatView = Shape<typeof heartbeat>

export const heartbeatTest = named(
  'HeartbeatTest',
  z.strictObject({
    ran: z.boolean(),
    run_id: z.string().optional(),
    reason: whyFields.reason.optional(),
    sentence: z.string(),
  }),
  'Whether the heartbeat ran, and if not, why.',
)
export type HeartbeatTestAnswer = Shape<typeof heartbeatTest>

const heartbeatLogEntry = named(
  'HeartbeatLogEntry',
  z.strictObject({
    id: z.string(),
    agent_id: z.string(),
    kind: z.enum(['planned', 'asked']).describe('`asked`: requested or repeated by a person.'),
    due_at: isoTime.nullable(),
    at: isoTime,
    looks: z.int().describe('How often it was checked while the agent was busy.'),
    last_at: isoTime,
    outcome: z.enum(RECORDED_HEARTBEAT_OUTCOMES),
    reason: whyFields.reason,
    sentence: z.string(),
    why,
    target: z.string(),
    run_id: z.string().nullable(),
    content: z.string().nullable().describe('The message as sent.'),
    delivery_id: z.string().nullable(),
    delivery_status: z.enum(DELIVERY_STATES).nullable(),
    finished_at: isoTime.nullable(),
  }),
  'The outcome of one heartbeat.',
)
export type HeartbeatLogView = Shape<typeof heartbeatLogEntry>

export const heartbeatLog = pageOf('HeartbeatLog', heartbeatLogEntry)

/** The filter of the heartbeat log. */
export const heartbeatLogFilter = z.strictObject({
  ...paging,
  outcome: z.string().max(200).optional().describe('One or more outcomes, separated by commas.'),
})
export type HeartbeatLogFilter = Shape<typeof heartbeatLogFilter>
