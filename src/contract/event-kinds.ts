// Apart from the schemas, because commands show these words and load no schema.
import type { Permission } from '../domain/access/access.ts'

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
  'heartbeat.changed',
] as const

export type EventKind = (typeof EVENT_KINDS)[number]

/** What a caller must hold to receive events of a kind. */
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
  'heartbeat.changed': 'agents:read',
}

/** With schedules:read alone, those of these kinds that are about runs of schedules are received. */
export const SCHEDULE_RUN_EVENTS: ReadonlySet<string> = new Set<EventKind>([
  'run.changed',
  'run.output',
  'delivery.changed',
])
