import { event, eventFilter } from '../contract/event.ts'
import { operation } from './operation.ts'

/** What happens, as it happens. */
export const eventOperations = {
  'events.stream': operation({
    ...{ method: 'GET', path: '/api/v1/events', tag: 'events' },
    permission: ['runs:read', 'schedules:read', 'sessions:read'],
    rails: 'list',
    summary: 'Streams what happens, as server-sent events',
    description:
      'Each event has the name of its kind, an id that grows, and an `Event` as data. Come back with the last id as ' +
      '`Last-Event-ID` (or `last_event_id`), and nothing is missing and nothing comes twice. Events are kept for 24 ' +
      'hours; whoever asks for older ones gets the event `reset` and what happens from then on. Without an id the ' +
      'stream begins now. Kinds that the key may not see are left out; with schedules:read and without runs:read, ' +
      '`run.changed`, `run.output` and `delivery.changed` are those of runs of schedules. Every 15 seconds something is sent, so that ' +
      'both sides know that the other is there. Whoever reads too slowly is cut off, and may come back.',
    http: true,
    query: eventFilter,
    answers: { 200: { contentType: 'text/event-stream', description: 'Events, until one side ends it', each: event } },
  }).by(({ http, principal, query }) => http.streamEvents({ principal, query })),
}
