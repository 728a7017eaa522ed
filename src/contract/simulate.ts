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
  'Assumptions about some schedules. They override those about all.',
)
export type NamedAssumption = Shape<typeof namedAssumption>

const outageAsked = named(
  'SimulationOutageAsked',
  z.strictObject({
    kind: z.enum(OUTAGE_KINDS),
    from: givenMoment,
    to: givenMoment.optional().describe('Exclusive. Omitted: `seconds` gives the length.'),
    seconds: z.int().min(1).max(MOST_WINDOW_SECONDS).optional(),
    agent_id: id.optional().describe('Only with `agent`: which agent. Default: all.'),
    effect: z.enum(OUTAGE_EFFECTS).optional().describe('Only with `agent`. Default: `network`.'),
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
      .describe('Schedules to simulate as if they were created.'),
    ids: z.array(id).min(1).max(MOST_SCHEDULES).optional().describe('Ids of stored schedules.'),
    all: z.boolean().optional().describe('All active stored schedules.'),
    agent_id: id.optional().describe('With `all`: only those of this agent.'),
    from: givenMoment.optional().describe('Default: now.'),
    to: givenMoment.optional(),
    window_seconds: z.int().min(1).max(MOST_WINDOW_SECONDS).optional().describe('In place of `to`. Default: one day.'),
    assume: assumption.optional().describe('Assumptions about attempts. They override what was observed.'),
    assume_for: z.array(namedAssumption).max(MOST_SCHEDULES).optional(),
    observed: z.boolean().optional().describe('Whether stored schedules behave as their last runs did. Default: true.'),
    outages: z.array(outageAsked).max(1_000).optional(),
    changes: z.array(policyChange).max(100).optional(),
    against: z.array(policyChange).max(100).optional().describe('Other changes to compare with `changes`.'),
    interventions: z.array(intervention).max(1_000).optional(),
    budgets: z.boolean().optional().describe("Whether the org's budgets apply. Default: true."),
    replay: z.boolean().optional().describe('Replay the past: attempts and outages are those on record.'),
    seed: z.int().min(0).max(4_294_967_295).optional().describe('The same seed gives the same answer. Default: 1.'),
    max_rows: z
      .int()
      .min(0)
      .max(MOST_ROWS)
      .optional()
      .describe('Maximum occurrences to list. Default: 2,000. Totals cover all of them.'),
  }),
  'At least one of schedules, ids and all says what is simulated; everything else has a default.',
)
export type SimulateInput = Shape<typeof simulateInput>

const basis = named(
  'SimulationBasis',
  z.strictObject({
    schedule_id: z.string(),
    source: z.enum(['given', 'stored']).describe('`given`: in the request. `stored`: in the database.'),
    observed_runs: z.int().describe('Recorded runs used for durations and outcomes. 0: assumptions only.'),
    recorded_attempts: z.int().describe('Recorded attempts of the window that are replayed.'),
  }),
  'What is known about a simulated schedule.',
)
export type SimulationBasis = Shape<typeof basis>

export const simulateAnswer = named(
  'SimulateAnswer',
  z.strictObject({
    ...simulationFields,
    basis: z.array(basis),
    against: simulation.nullable().describe('The same window with the changes of `against`. Null: none were given.'),
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
