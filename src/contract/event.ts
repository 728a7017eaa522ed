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
