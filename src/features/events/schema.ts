import { z } from 'zod'
import { anyObject, id, isoTime } from '../../api/common.ts'
import { named, type Shape } from '../../api/fields.ts'
import type { Permission } from '../../domain/access/access.ts'

// These are separate from the API schemas, because the CLI lists the kinds without loading a schema.
export const EVENT_KINDS = [
  'schedule.changed',
  'run.changed',
  'run.output',
  'message.merged',
  'message.dropped',
  'outbound',
  'delivery.changed',
  'lane.changed',
  'config.reloaded',
  'alert.raised',
  'alert.cleared',
  'alert.changed',
  'heartbeat.changed',
] as const

export type EventKind = (typeof EVENT_KINDS)[number]

/** The permission required to receive events of a kind. */
export const EVENT_PERMISSIONS: Readonly<Record<EventKind, Permission>> = {
  'schedule.changed': 'schedules:read',
  'run.changed': 'runs:read',
  'run.output': 'runs:read',
  'message.merged': 'sessions:read',
  'message.dropped': 'sessions:read',
  outbound: 'sessions:read',
  'delivery.changed': 'runs:read',
  'lane.changed': 'runs:read',
  'config.reloaded': 'admin:*',
  'alert.raised': 'runs:read',
  'alert.cleared': 'runs:read',
  'alert.changed': 'runs:read',
  'heartbeat.changed': 'agents:read',
}

/** With schedules:read alone, events of these kinds are received for scheduled runs. */
export const SCHEDULE_RUN_EVENTS: ReadonlySet<string> = new Set<EventKind>([
  'run.changed',
  'run.output',
  'delivery.changed',
])

export const event = named(
  'Event',
  z.strictObject({
    id: z.string(),
    kind: z.enum(EVENT_KINDS),
    org_id: z.string(),
    at: isoTime,
    subject: z.string(),
    data: anyObject,
  }),
  'An event. Ids increase in commit order within an org.',
)
export type EventView = Shape<typeof event>

const eventId = z.string().max(40)

/** Filters of events; all given filters must match. */
export const eventFilter = z.strictObject({
  kinds: z.string().min(1).max(1_000).optional().describe('Event kinds, separated by commas.'),
  run_id: id.optional().describe('The run.'),
  schedule_id: id.optional().describe('The schedule and its runs.'),
  session: id.optional().describe('Runs of the session.'),
  agent_id: id.optional().describe('Runs of the agent.'),
  last_event_id: eventId
    .optional()
    .describe('For clients that cannot send the header `Last-Event-ID`, which takes precedence.'),
})
export type EventFilter = Shape<typeof eventFilter>

/** The event sent when events were missed, so that clients reload everything. Not one of `EVENT_KINDS`. */
export interface ResetView {
  /** The requested id is older than the stored history, or is not part of it. */
  readonly reason: 'too_old' | 'unknown'
  readonly asked: string
  /** The stream continues after this id. */
  readonly id: string
}
