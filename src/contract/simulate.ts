import { z } from 'zod'
import { OUTAGE_EFFECTS, OUTAGE_KINDS } from './outage-words.ts'
import { assumption, intervention, policyChange, simulation, simulationDiff, simulationFields } from './simulation.ts'
import { givenMoment, id } from './common.ts'
import { scheduleInput } from './schedule.ts'
import { named, type Shape } from './shape.ts'

/** More schedules than these are not simulated at once. */
export const MOST_SCHEDULES = 1_000

/** The longest window, in seconds: 92 days. */
export const MOST_WINDOW_SECONDS = 92 * 86_400

/** More occurrences than these are never told one by one. */
export const MOST_ROWS = 10_000

const namedAssumption = named(
  'SimulationAssumptionFor',
  z.strictObject({ schedules: z.array(id).min(1).max(MOST_SCHEDULES).describe('Ids or names.'), assume: assumption }),
  'What is assumed of some of the schedules, over what is assumed of all.',
)
export type NamedAssumption = Shape<typeof namedAssumption>

const outageAsked = named(
  'SimulationOutageAsked',
  z.strictObject({
    kind: z.enum(OUTAGE_KINDS),
    from: givenMoment,
    to: givenMoment.optional().describe('Exclusive; left out: `seconds` says how long.'),
    seconds: z.int().min(1).max(MOST_WINDOW_SECONDS).optional(),
    agent_id: id.optional().describe('Only with `agent`: which one; all of them unless given.'),
    effect: z.enum(OUTAGE_EFFECTS).optional().describe('Only with `agent`; `network` unless given.'),
  }),
  'Something is out from a moment on: up to another (exclusive), or for so many seconds.',
)
export type OutageAsked = Shape<typeof outageAsked>

export const simulateInput = named(
  'SimulateInput',
  z.strictObject({
    schedules: z
      .array(scheduleInput)
      .min(1)
      .max(MOST_SCHEDULES)
      .optional()
      .describe('Schedules as they would be created.'),
    ids: z.array(id).min(1).max(MOST_SCHEDULES).optional().describe('Stored schedules by id.'),
    all: z.boolean().optional().describe('Every stored schedule that is active.'),
    agent_id: id.optional().describe('Of all active ones: those of this agent.'),
    from: givenMoment.optional().describe('Now unless given.'),
    to: givenMoment.optional(),
    window_seconds: z
      .int()
      .min(1)
      .max(MOST_WINDOW_SECONDS)
      .optional()
      .describe('In place of `to`; a day unless given.'),
    assume: assumption
      .optional()
      .describe('What is assumed of attempts: over what was observed, for everything it says.'),
    assume_for: z.array(namedAssumption).max(MOST_SCHEDULES).optional(),
    observed: z
      .boolean()
      .optional()
      .describe('Whether stored schedules go as their last runs on record went; true unless given.'),
    outages: z.array(outageAsked).max(1_000).optional(),
    changes: z.array(policyChange).max(100).optional(),
    against: z
      .array(policyChange)
      .max(100)
      .optional()
      .describe('Other changes, in place of `changes`: the answer then says what they change.'),
    interventions: z.array(intervention).max(1_000).optional(),
    budgets: z.boolean().optional().describe('Whether the budgets of the org hold; true unless given.'),
    replay: z
      .boolean()
      .optional()
      .describe('From history: the window is past, and attempts and outages are those on record.'),
    seed: z.int().min(0).max(4_294_967_295).optional().describe('The same seed gives the same answer; 1 unless given.'),
    max_rows: z
      .int()
      .min(0)
      .max(MOST_ROWS)
      .optional()
      .describe('How many occurrences are told one by one; 2,000 unless given. Totals are of all of them.'),
  }),
  'At least one of schedules, ids and all says what is simulated; everything else has a default.',
)
export type SimulateInput = Shape<typeof simulateInput>

const basis = named(
  'SimulationBasis',
  z.strictObject({
    schedule_id: z.string(),
    source: z.enum(['given', 'stored']).describe('`given`: in the request. `stored`: on record.'),
    observed_runs: z
      .int()
      .describe('How many runs on record say how long it takes and how it ends; 0: it goes as assumed.'),
    recorded_attempts: z.int().describe('How many attempts of the window are on record and are taken as they went.'),
  }),
  'What is known of a schedule that took part, and from where.',
)
export type SimulationBasis = Shape<typeof basis>

export const simulateAnswer = named(
  'SimulateAnswer',
  z.strictObject({
    ...simulationFields,
    basis: z.array(basis),
    against: simulation
      .nullable()
      .describe('The same window under the policies of `against`; null when none were given.'),
    diff: simulationDiff.nullable(),
  }),
  'What would happen, what it is based on, and what other policies would change.',
)
export type SimulateAnswer = Shape<typeof simulateAnswer>

/** How far a simulation is: milliseconds of its window. */
export interface SimulationProgress {
  readonly done: number
  readonly total: number
}
