import type { Permission } from '../core/access.ts'

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

/** Something that happened. Ids grow in the order of commits inside an org. */
export interface EventView {
  readonly id: string
  readonly kind: EventKind
  readonly org_id: string
  readonly at: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

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

/** Which events somebody wants to hear of. Everything that is given has to fit. */
export interface EventFilter {
  /** Kinds, with commas between them. */
  readonly kinds?: string | undefined
  readonly run_id?: string | undefined
  /** The schedule itself, and its runs. */
  readonly schedule_id?: string | undefined
  /** Runs of the session. */
  readonly session?: string | undefined
  /** Runs of the agent. */
  readonly agent_id?: string | undefined
  /** For whoever cannot send the header `Last-Event-ID`, which wins. */
  readonly last_event_id?: string | undefined
}

/** The event that says that events were missed: look at everything again. Not one of `EVENT_KINDS`. */
export interface ResetView {
  /** The id that was asked for is older than what is kept, or none of this history. */
  readonly reason: 'too_old' | 'unknown'
  readonly asked: string
  /** What follows begins after it. */
  readonly id: string
}
