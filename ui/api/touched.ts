import type { EventView } from '../../src/features/events/schema.ts'

/** The beginning of the names under which something is remembered. */
export type Touched = readonly string[]

/**
 * What an event makes old. Everything that is read is remembered under `[group, operation, …]`, so a group is enough;
 * the page of one thing is only touched by events about it.
 */
export function touchedBy({ kind, subject }: Pick<EventView, 'kind' | 'subject'>): readonly Touched[] {
  switch (kind) {
    case 'schedule.changed':
      return [
        ['schedules', 'list'],
        ['schedules', 'get', subject],
        ['schedules', 'coming', subject],
        ['names', 'schedule', subject],
        ['backfills'],
        ['stats'],
        ['timeline'],
        ['audit'],
      ]
    case 'run.changed':
      return [
        ['runs', 'list'],
        ['runs', 'get', subject],
        ['schedules', 'list'],
        ['schedules', 'runs'],
        ['schedules', 'get'],
        ['backfills'],
        ...BUSY,
      ]
    case 'run.output':
      return []
    case 'message.merged':
    case 'message.dropped':
    case 'outbound':
      return [['sessions']]
    case 'delivery.changed':
      return [['deliveries'], ['runs', 'get']]
    case 'heartbeat.changed':
      return [['heartbeat']]
    case 'lane.changed':
      return [['lanes'], ['stats']]
    case 'config.reloaded':
      return [['config'], ['lanes']]
    case 'alert.raised':
    case 'alert.cleared':
      return [['alerts'], ['targets']]
  }
}

/** What counts work. */
const BUSY: readonly Touched[] = [['stats'], ['lanes'], ['sessions'], ['tasks']]
