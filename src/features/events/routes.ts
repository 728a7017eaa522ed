import { event, eventFilter } from './schema.ts'
import { operation } from '../../operations/handler.ts'

/** The API of events. */
export const eventOperations = {
  'events.stream': operation({
    ...{ method: 'GET', path: '/api/v1/events', tag: 'events' },
    permission: ['runs:read', 'schedules:read', 'sessions:read'],
    restrictedAccess: 'list',
    summary: 'Stream events (server-sent events)',
    description:
      'Each event has the name of its kind, an increasing id, and an `Event` as data. Reconnect with the last id ' +
      'as `Last-Event-ID` (or `last_event_id`) to continue without gaps or duplicates. Events are kept for 24 ' +
      'hours; for older ids the stream sends the event `reset` and continues from now. Without an id the stream ' +
      'starts now. Kinds that the key may not see are left out; with schedules:read but not runs:read, ' +
      '`run.changed`, `run.output` and `delivery.changed` cover scheduled runs only. A keep-alive is sent every 15 ' +
      'seconds. Clients that read too slowly are disconnected and may reconnect.',
    http: true,
    query: eventFilter,
    answers: { 200: { contentType: 'text/event-stream', description: 'Events, until one side ends it', each: event } },
  }).by(({ http, principal, query }) => http.streamEvents({ principal, query })),
}
