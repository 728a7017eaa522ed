import { z } from 'zod'
import { anyObject, id, moment } from '../api/common.ts'
import { EVENT_KINDS } from './event-kinds.ts'
import { named, type Shape } from './shape.ts'

export const event = named(
  'Event',
  z.strictObject({
    id: z.string(),
    kind: z.enum(EVENT_KINDS),
    org_id: z.string(),
    at: moment,
    subject: z.string(),
    data: anyObject,
  }),
  'An event. Ids increase in commit order within an org.',
)
export type EventView = Shape<typeof event>

const eventId = z.string().max(40)

/** Which events somebody wants to hear of. Everything that is given has to fit. */
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

/** The event that says that events were missed: look at everything again. Not one of `EVENT_KINDS`. */
export interface ResetView {
  /** The id that was asked for is older than what is kept, or none of this history. */
  readonly reason: 'too_old' | 'unknown'
  readonly asked: string
  /** What follows begins after it. */
  readonly id: string
}
