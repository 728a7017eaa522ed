import { z } from 'zod'
import type { Flaw } from '../../domain/input.ts'
import { parseMoment } from '../../domain/instant.ts'
import { OUTAGE_EFFECTS, OUTAGE_KINDS } from '../../api/outages.ts'
import { fieldsRule, givenMoment, text, whole } from '../../api/fields.ts'
import {
  assumption,
  intervention,
  policyChange,
  scheduleWord,
  simulation,
  simulationDiff,
  simulationFields,
} from './result-schema.ts'
import { scheduleInput } from '../../contract/schedule.ts'
import { named, type Shape } from '../../contract/shape.ts'

/** More schedules than these are not simulated at once. */
export const MOST_SCHEDULES = 1_000

/** The longest window, in seconds: 92 days. */
export const MOST_WINDOW_SECONDS = 92 * 86_400

/** More occurrences than these are never told one by one. */
export const MOST_ROWS = 10_000

const windowSeconds = whole(1, MOST_WINDOW_SECONDS)

type Given = Readonly<Record<string, unknown>>

const namedAssumption = named(
  'SimulationAssumptionFor',
  z.strictObject({
    schedules: z.array(scheduleWord).min(1).max(MOST_SCHEDULES).describe('Ids or names.'),
    assume: assumption,
  }),
  'Assumptions about some schedules. They override those about all.',
)
export type NamedAssumption = Shape<typeof namedAssumption>

/** What is wrong with an outage as a whole; single values may be wrong, too. */
function outageFlaws(given: Given): readonly Flaw[] {
  const { kind, from, to, seconds } = given
  const flaws: Flaw[] = []
  if (from !== undefined && (to === undefined) === (seconds === undefined))
    flaws.push({ field: 'to', value: to, message: 'or seconds, exactly one of them, says when it is over' })
  else if (isBefore(to, from)) flaws.push({ field: 'to', value: to, message: 'is not after from' })
  const [name] = (['agent_id', 'effect'] as const).filter((one) => given[one] !== undefined)
  if (kind !== undefined && kind !== 'agent' && name !== undefined)
    flaws.push({ field: name, value: given[name], message: 'belongs to an outage of kind agent' })
  return flaws
}

/** Whether two times that can be read are in the wrong order. */
function isBefore(to: unknown, from: unknown): boolean {
  const [end, start] = [parseMoment('', to), parseMoment('', from)]
  return end.ok && start.ok && end.value <= start.value
}

const outageAsked = named(
  'SimulationOutageAsked',
  z
    .strictObject({
      kind: z.enum(OUTAGE_KINDS),
      from: givenMoment,
      to: givenMoment.optional().describe('Exclusive. Omitted: `seconds` gives the length.'),
      seconds: windowSeconds.optional(),
      agent_id: text(1, 512).optional().describe('Only with `agent`: which agent. Default: all.'),
      effect: z.enum(OUTAGE_EFFECTS).optional().describe('Only with `agent`. Default: `network`.'),
    })
    .check(fieldsRule(outageFlaws)),
  'Something is out from a moment on: up to another (exclusive), or for so many seconds.',
)
export type OutageAsked = Shape<typeof outageAsked>

/** What is wrong with the choice of what is simulated. */
function choiceFlaws({ schedules, ids, all, agent_id: agent }: Given): readonly Flaw[] {
  if (schedules === undefined && ids === undefined && all !== true)
    return [
      {
        ...{ field: 'schedules', value: undefined, message: 'is missing' },
        allowed: 'schedules as they would be created, ids of stored ones, or all: true',
      },
    ]
  if (agent === undefined || all === true) return []
  return [{ field: 'agent_id', value: agent, message: 'narrows down all: true, which is not given' }]
}

function simulationFlaws(given: Given): readonly Flaw[] {
  const { replay, schedules, outages, to, window_seconds: length } = given
  const flaws: Flaw[] = [...choiceFlaws(given)]
  if (replay === true && schedules !== undefined)
    flaws.push({ field: 'schedules', value: undefined, message: 'have no history to replay; name stored ones by id' })
  if (replay === true && outages !== undefined)
    flaws.push({ field: 'outages', value: undefined, message: 'are those on record when history is replayed' })
  if (to !== undefined && length !== undefined)
    flaws.push({ field: 'window_seconds', value: length, message: 'cannot be given together with to' })
  return flaws
}

export const simulateInput = named(
  'SimulateInput',
  z
    .strictObject({
      schedules: z
        .array(scheduleInput)
        .min(1)
        .max(MOST_SCHEDULES)
        .optional()
        .describe('Schedules to simulate as if they were created.'),
      ids: z.array(text(1, 512)).min(1).max(MOST_SCHEDULES).optional().describe('Ids of stored schedules.'),
      all: z.boolean().optional().describe('All active stored schedules.'),
      agent_id: text(1, 200).optional().describe('With `all`: only those of this agent.'),
      from: givenMoment.optional().describe('Default: now.'),
      to: givenMoment.optional(),
      window_seconds: windowSeconds.optional().describe('In place of `to`. Default: one day.'),
      assume: assumption.optional().describe('Assumptions about attempts. They override what was observed.'),
      assume_for: z.array(namedAssumption).max(MOST_SCHEDULES).optional(),
      observed: z
        .boolean()
        .optional()
        .describe('Whether stored schedules behave as their last runs did. Default: true.'),
      outages: z.array(outageAsked).max(1_000).optional(),
      changes: z.array(policyChange).max(100).optional(),
      against: z.array(policyChange).max(100).optional().describe('Other changes to compare with `changes`.'),
      interventions: z.array(intervention).max(1_000).optional(),
      budgets: z.boolean().optional().describe("Whether the org's budgets apply. Default: true."),
      replay: z.boolean().optional().describe('Replay the past: attempts and outages are those on record.'),
      seed: whole(0, 4_294_967_295).optional().describe('The same seed gives the same answer. Default: 1.'),
      max_rows: whole(0, MOST_ROWS)
        .optional()
        .describe('Maximum occurrences to list. Default: 2,000. Totals cover all of them.'),
    })
    .check(fieldsRule(simulationFlaws)),
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
