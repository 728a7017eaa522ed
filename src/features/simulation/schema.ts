import { z } from 'zod'
import type { Flaw } from '../../domain/input.ts'
import { parseTimeOrMs } from '../../domain/instant.ts'
import { OUTAGE_EFFECTS, OUTAGE_KINDS } from '../../api/outages.ts'
import { fieldsRule, timeInput, named, type Shape, text, integerBetween } from '../../api/fields.ts'
import {
  assumption,
  intervention,
  policyChange,
  scheduleIdOrName,
  simulation,
  simulationDiff,
  simulationFields,
} from './result-schema.ts'
import { scheduleInput } from '../schedules/schema.ts'

/** Maximum schedules of one simulation. */
export const MAX_SIMULATED_SCHEDULES = 1_000

/** Maximum window in seconds: 92 days. */
export const MAX_WINDOW_SECONDS = 92 * 86_400

/** Maximum occurrences listed in a result. */
export const MAX_LISTED_ROWS = 10_000

const windowSeconds = integerBetween(1, MAX_WINDOW_SECONDS)

type Given = Readonly<Record<string, unknown>>

const namedAssumption = named(
  'SimulationAssumptionFor',
  z.strictObject({
    schedules: z.array(scheduleIdOrName).min(1).max(MAX_SIMULATED_SCHEDULES).describe('Ids or names.'),
    assume: assumption,
  }),
  'Assumptions about some schedules. They override those about all.',
)
export type NamedAssumption = Shape<typeof namedAssumption>

/** Flaws between the fields of an outage. */
function outageFlaws(given: Given): readonly Flaw[] {
  const { kind, from, to, seconds } = given
  const flaws: Flaw[] = []
  if (from !== undefined && (to === undefined) === (seconds === undefined))
    flaws.push({ field: 'to', value: to, message: 'or seconds is required; give exactly one' })
  else if (endsBeforeStart(to, from)) flaws.push({ field: 'to', value: to, message: 'must be after from' })
  const [name] = (['agent_id', 'effect'] as const).filter((one) => given[one] !== undefined)
  if (kind !== undefined && kind !== 'agent' && name !== undefined)
    flaws.push({ field: name, value: given[name], message: 'is only allowed for an outage of kind agent' })
  return flaws
}

/** Whether two valid times are in the wrong order. */
function endsBeforeStart(to: unknown, from: unknown): boolean {
  const [end, start] = [parseTimeOrMs('', to), parseTimeOrMs('', from)]
  return end.ok && start.ok && end.value <= start.value
}

const outageAsked = named(
  'SimulationOutageAsked',
  z
    .strictObject({
      kind: z.enum(OUTAGE_KINDS),
      from: timeInput,
      to: timeInput.optional().describe('Exclusive. Omitted: `seconds` gives the length.'),
      seconds: windowSeconds.optional(),
      agent_id: text(1, 512).optional().describe('Only with `agent`: which agent. Default: all.'),
      effect: z.enum(OUTAGE_EFFECTS).optional().describe('Only with `agent`. Default: `network`.'),
    })
    .check(fieldsRule(outageFlaws)),
  'An outage from a time, up to another (exclusive) or for a number of seconds.',
)
export type OutageAsked = Shape<typeof outageAsked>

/** Flaws in the selection of schedules. */
function selectionFlaws({ schedules, ids, all, agent_id: agent }: Given): readonly Flaw[] {
  if (schedules === undefined && ids === undefined && all !== true)
    return [
      {
        ...{ field: 'schedules', value: undefined, message: 'is missing' },
        allowed: 'new schedules, ids of stored ones, or all: true',
      },
    ]
  if (agent === undefined || all === true) return []
  return [{ field: 'agent_id', value: agent, message: 'is only allowed with all: true' }]
}

function simulationFlaws(given: Given): readonly Flaw[] {
  const { replay, schedules, outages, to, window_seconds: length } = given
  const flaws: Flaw[] = [...selectionFlaws(given)]
  if (replay === true && schedules !== undefined)
    flaws.push({
      field: 'schedules',
      value: undefined,
      message: 'cannot be replayed, because new schedules have no history; use ids of stored ones',
    })
  if (replay === true && outages !== undefined)
    flaws.push({
      field: 'outages',
      value: undefined,
      message: 'cannot be combined with replay, which uses the recorded outages',
    })
  if (to !== undefined && length !== undefined)
    flaws.push({ field: 'window_seconds', value: length, message: 'cannot be combined with to' })
  return flaws
}

export const simulateInput = named(
  'SimulateInput',
  z
    .strictObject({
      schedules: z
        .array(scheduleInput)
        .min(1)
        .max(MAX_SIMULATED_SCHEDULES)
        .optional()
        .describe('Schedules to simulate as if they were created.'),
      ids: z.array(text(1, 512)).min(1).max(MAX_SIMULATED_SCHEDULES).optional().describe('Ids of stored schedules.'),
      all: z.boolean().optional().describe('All active stored schedules.'),
      agent_id: text(1, 200).optional().describe('With `all`: only those of this agent.'),
      from: timeInput.optional().describe('Default: now.'),
      to: timeInput.optional(),
      window_seconds: windowSeconds.optional().describe('In place of `to`. Default: one day.'),
      assume: assumption.optional().describe('Assumptions about attempts. They override what was observed.'),
      assume_for: z.array(namedAssumption).max(MAX_SIMULATED_SCHEDULES).optional(),
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
      seed: integerBetween(0, 4_294_967_295).optional().describe('The same seed gives the same answer. Default: 1.'),
      max_rows: integerBetween(0, MAX_LISTED_ROWS)
        .optional()
        .describe('Maximum occurrences to list. Default: 2,000. Totals cover all of them.'),
    })
    .check(fieldsRule(simulationFlaws)),
  'At least one of schedules, ids and all is required; every other field has a default.',
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
  'The data that the simulation of a schedule is based on.',
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
  'The simulated runs, the data they are based on, and the effect of other policies.',
)
export type SimulateAnswer = Shape<typeof simulateAnswer>

/** The progress of a simulation, in milliseconds of its window. */
export interface SimulationProgress {
  readonly done: number
  readonly total: number
}
