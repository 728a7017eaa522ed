import { z } from 'zod'
import {
  MOST_ROWS,
  MOST_SCHEDULES,
  MOST_WINDOW_SECONDS,
  type NamedAssumption,
  type OutageAsked,
  type SimulateAnswer,
  type SimulateInput,
  type SimulationBasis,
} from '../simulate.ts'
import { OUTAGE_EFFECTS, OUTAGE_KINDS } from '../simulation.ts'
import { givenMoment, id } from './common.ts'
import { scheduleInput } from './schedule.ts'
import { named, shaped } from './shaped.ts'
import { assumption, intervention, policyChange, simulation, simulationDiff, simulationFields } from './simulation.ts'

const namedAssumption = named(
  'SimulationAssumptionFor',
  shaped<NamedAssumption>()({ schedules: z.array(id).min(1).max(MOST_SCHEDULES), assume: assumption }),
)

const outageAsked = named(
  'SimulationOutageAsked',
  shaped<OutageAsked>()({
    kind: z.enum(OUTAGE_KINDS),
    from: givenMoment,
    to: givenMoment.optional(),
    seconds: z.int().min(1).max(MOST_WINDOW_SECONDS).optional(),
    agent_id: id.optional(),
    effect: z.enum(OUTAGE_EFFECTS).optional(),
  }),
  'Something is out from a moment on: up to another (exclusive), or for so many seconds.',
)

export const simulateInput: z.ZodType<SimulateInput> = named(
  'SimulateInput',
  shaped<SimulateInput>()({
    schedules: z.array(scheduleInput).min(1).max(MOST_SCHEDULES).optional(),
    ids: z.array(id).min(1).max(MOST_SCHEDULES).optional(),
    all: z.boolean().optional(),
    agent_id: id.optional(),
    from: givenMoment.optional(),
    to: givenMoment.optional(),
    window_seconds: z.int().min(1).max(MOST_WINDOW_SECONDS).optional(),
    assume: assumption.optional(),
    assume_for: z.array(namedAssumption).max(MOST_SCHEDULES).optional(),
    observed: z.boolean().optional(),
    outages: z.array(outageAsked).max(1_000).optional(),
    changes: z.array(policyChange).max(100).optional(),
    against: z.array(policyChange).max(100).optional(),
    interventions: z.array(intervention).max(1_000).optional(),
    budgets: z.boolean().optional(),
    replay: z.boolean().optional(),
    seed: z.int().min(0).max(4_294_967_295).optional(),
    max_rows: z.int().min(0).max(MOST_ROWS).optional(),
  }),
  'At least one of schedules, ids and all says what is simulated; everything else has a default.',
)

const basis = named(
  'SimulationBasis',
  shaped<SimulationBasis>()({
    schedule_id: z.string(),
    source: z.enum(['given', 'stored']),
    observed_runs: z.int(),
    recorded_attempts: z.int(),
  }),
)

export const simulateAnswer: z.ZodType<SimulateAnswer> = named(
  'SimulateAnswer',
  shaped<SimulateAnswer>()({
    ...simulationFields,
    basis: z.array(basis),
    against: simulation.nullable(),
    diff: simulationDiff.nullable(),
  }),
  'What would happen, what it is based on, and what other policies would change.',
)
