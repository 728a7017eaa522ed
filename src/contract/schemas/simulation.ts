import { z } from 'zod'
import { ERROR_CODES, type ErrorCode } from '../../core/run/error-codes.ts'
import { TRIGGERS } from '../../core/run/run.ts'
import { RUN_STATES } from '../../core/run/run-machine.ts'
import { SCHEDULE_STATES } from '../../core/schedule/schedule-life.ts'
import {
  ASSUMED_OUTCOMES,
  INTERVENTIONS,
  OUTAGE_EFFECTS,
  OUTAGE_KINDS,
  type AssumptionInput,
  type Intervention,
  type OutageInput,
  type PolicyChange,
  type SimulatedAttemptView,
  type SimulatedDepth,
  type SimulatedRangeView,
  type SimulatedRunView,
  type SimulatedScheduleView,
  type SimulationChange,
  type SimulationDiff,
  type SimulationTotals,
  type SimulationView,
} from '../simulation.ts'
import { id, moment, oneOf, whyFields } from './common.ts'
import { dstNote, scheduleInput } from './schedule.ts'
import { named, shaped } from './shaped.ts'

const YEAR_MS = 366 * 86_400_000
const shareOfAll = z.number().min(0).max(1)
const milliseconds = z.int().min(0).max(YEAR_MS)

export const assumption: z.ZodType<AssumptionInput> = named(
  'SimulationAssumption',
  shaped<AssumptionInput>()({
    duration_ms: z
      .union([
        milliseconds,
        z.strictObject({ min: milliseconds, max: milliseconds }),
        z.array(milliseconds).min(1).max(1_000),
      ])
      .optional(),
    failure_rate: shareOfAll.optional(),
    timeout_rate: shareOfAll.optional(),
    outcomes: z.array(z.enum(ASSUMED_OUTCOMES)).min(1).max(10_000).optional(),
    error_code: oneOf(Object.keys(ERROR_CODES) as readonly ErrorCode[]).optional(),
    stops_in_ms: milliseconds.nullable().optional(),
    tokens: z.int().min(0).max(1_000_000_000).optional(),
    cost: z.number().min(0).max(1_000_000).optional(),
    quiet_rate: shareOfAll.optional(),
    next_check_seconds: z
      .int()
      .min(0)
      .max(YEAR_MS / 1_000)
      .optional(),
  }),
  'How attempts go that nobody performs.',
)

const outage: z.ZodType<OutageInput> = named(
  'SimulationOutage',
  shaped<OutageInput>()({
    kind: z.enum(OUTAGE_KINDS),
    from: moment,
    to: moment,
    agent_id: id.optional(),
    effect: z.enum(OUTAGE_EFFECTS).optional(),
  }),
  'Something is out from a moment (inclusive) to another (exclusive).',
)

export const policyChange: z.ZodType<PolicyChange> = named(
  'SimulationPolicyChange',
  shaped<PolicyChange>()({ schedules: z.array(id).min(1).max(1_000).optional(), set: scheduleInput }),
  'Other policies than the schedules have.',
)

export const intervention: z.ZodType<Intervention> = named(
  'SimulationIntervention',
  shaped<Intervention>()({ at: moment, schedule_id: id, action: z.enum(INTERVENTIONS) }),
)

const { evidence: _evidence, ...spoken } = whyFields
const said = { ...spoken, sentence: z.string() }

const attempt = shaped<SimulatedAttemptView>()({
  number: z.int(),
  started_at: moment,
  finished_at: moment.nullable(),
  status: oneOf(RUN_STATES),
  error_code: z.string().nullable(),
})

const run: z.ZodType<SimulatedRunView> = named(
  'SimulatedRun',
  shaped<SimulatedRunView>()({
    ...said,
    id: z.string(),
    schedule_id: z.string(),
    nominal_time: moment.nullable(),
    trigger: oneOf(TRIGGERS),
    status: oneOf(RUN_STATES),
    decision: z.strictObject(said),
    held_decision: z.strictObject(said).nullable(),
    first_attempt: z.int(),
    attempt: z.int(),
    created_at: moment,
    not_before: moment.nullable(),
    started_at: moment.nullable(),
    finished_at: moment.nullable(),
    lateness_ms: z.number().nullable(),
    error_code: z.string().nullable(),
    tokens: z.number(),
    cost: z.number(),
    superseded: z.boolean(),
    superseded_by: z.string().nullable(),
    attempts: z.array(attempt),
  }),
)

const range = shaped<SimulatedRangeView>()({
  ...said,
  schedule_id: z.string(),
  first: moment,
  last: moment,
  count: z.int(),
  decided_at: moment,
})

const totals: z.ZodType<SimulationTotals> = named(
  'SimulationTotals',
  shaped<SimulationTotals>()({
    occurrences: z.int(),
    runs: z.int(),
    by_status: z.partialRecord(oneOf(RUN_STATES) as z.ZodEnum, z.int()),
    skipped_by_reason: z.partialRecord(spoken.reason as z.ZodEnum, z.int()),
    attempts: z.int(),
    superseded: z.int(),
    max_waiting: z.int(),
    max_running: z.int(),
    busy_ms: z.number(),
    tokens: z.number(),
    cost: z.number(),
    lateness_p50_ms: z.number().nullable(),
    lateness_p99_ms: z.number().nullable(),
    lateness_max_ms: z.number().nullable(),
  }),
)

const simulatedSchedule: z.ZodType<SimulatedScheduleView> = named(
  'SimulatedSchedule',
  shaped<SimulatedScheduleView>()({
    id: z.string(),
    name: z.string(),
    sentence: z.string(),
    kind: z.enum(['at', 'every', 'cron', 'rrule']),
    timezone: z.string(),
    agent_id: z.string(),
    state: oneOf(SCHEDULE_STATES).nullable(),
    next_run_at: moment.nullable(),
    fires: z.int(),
    failure_streak: z.int(),
    totals,
    dst_notes: z.array(dstNote),
  }),
)

const depth = shaped<SimulatedDepth>()({
  at: moment,
  waiting: z.int(),
  running: z.int(),
  tokens: z.number(),
  cost: z.number(),
})

/** The fields of a result, for what is more than one. */
export const simulationFields = {
  from: moment,
  to: moment,
  seed: z.int(),
  schedules: z.array(simulatedSchedule),
  rows: z.array(run),
  ranges: z.array(range),
  truncated: z.boolean(),
  depth: z.array(depth),
  totals,
  outages: z.array(outage),
}

export const simulation: z.ZodType<SimulationView> = named(
  'Simulation',
  shaped<SimulationView>()(simulationFields),
  'What would happen.',
)

const change = shaped<SimulationChange>()({
  schedule_id: z.string(),
  nominal_time: moment,
  kind: z.enum(['status', 'timing', 'only_before', 'only_after']),
  before: run.nullable(),
  after: run.nullable(),
})

export const simulationDiff: z.ZodType<SimulationDiff> = named(
  'SimulationDiff',
  shaped<SimulationDiff>()({
    changes: z.array(change),
    changed: z.int(),
    unchanged: z.int(),
    truncated: z.boolean(),
    before: totals,
    after: totals,
  }),
  'What two sets of policies make of the same window.',
)
