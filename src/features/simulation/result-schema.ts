import { z } from 'zod'
import type { Flaw } from '../../domain/input.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import { TRIGGERS } from '../../domain/run/run.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import { id, isoTime, whyFields } from '../../api/common.ts'
import { fieldsRule, timeInput, named, type Shape, text, integerBetween } from '../../api/fields.ts'
import { errorCode } from '../runs/schema.ts'
import { OUTAGE_EFFECTS, OUTAGE_KINDS } from '../../api/outages.ts'
import { dstNote } from '../schedules/views-schema.ts'
import { schedulePatch } from '../schedules/schema.ts'

/** Assumed outcomes of an attempt. `timeout`: it never ends by itself, and its timeout ends it. */
export const ASSUMED_OUTCOMES = ['success', 'failed', 'timeout'] as const

export type AssumedOutcome = (typeof ASSUMED_OUTCOMES)[number]

/** Actions of a user on a schedule during the window. */
export const INTERVENTIONS = ['run_now', 'disable', 'enable'] as const

const YEAR_MS = 366 * 86_400_000
const rate = z.number().min(0).max(1)
const milliseconds = integerBetween(0, YEAR_MS)

type AssumptionFields = Readonly<Record<string, unknown>>

/** Contradictions between assumptions. Invalid single values are reported elsewhere and ignored here. */
function assumptionFlaws({
  duration_ms: duration,
  failure_rate: failureRate,
  timeout_rate: timeoutRate,
  outcomes,
}: AssumptionFields): Flaw[] {
  const share = (rate: unknown): number => (typeof rate === 'number' && rate >= 0 && rate <= 1 ? rate : 0)
  const { min, max } = Object(duration) as AssumptionFields
  const flaws: Flaw[] = []
  if (typeof min === 'number' && typeof max === 'number' && min > max)
    flaws.push({ field: 'duration_ms.min', value: min, message: 'must not be greater than max' })
  if (outcomes !== undefined && share(failureRate) + share(timeoutRate) > 0)
    flaws.push({
      field: 'outcomes',
      value: outcomes,
      message: 'cannot be combined with failure_rate or timeout_rate',
    })
  else if (share(failureRate) + share(timeoutRate) > 1)
    flaws.push({ field: 'timeout_rate', value: timeoutRate, message: 'and failure_rate must add up to at most 1' })
  return flaws
}

const assumptionFields = z.strictObject({
  duration_ms: z
    .union([
      milliseconds,
      z.strictObject({ min: milliseconds, max: milliseconds }),
      z.array(milliseconds).min(1).max(1_000),
    ])
    .optional()
    .describe('Duration of an attempt in milliseconds. Default: 1,000. A list is a list of observations.'),
  failure_rate: rate.optional().describe('Share of attempts that fail, 0 to 1. Default: 0.'),
  timeout_rate: rate.optional().describe('Share of attempts that time out, 0 to 1. Default: 0.'),
  outcomes: z
    .array(z.enum(ASSUMED_OUTCOMES))
    .min(1)
    .max(10_000)
    .optional()
    .describe('Outcomes of the attempts of each schedule, in order, repeated from the start.'),
  error_code: errorCode.optional().describe('Error code of failures. Default: `agent_error`.'),
  stops_in_ms: milliseconds
    .nullable()
    .optional()
    .describe('How long an attempt continues after it was told to stop. Default: 0. Null: it ignores it.'),
  tokens: integerBetween(0, 1_000_000_000).optional().describe('Tokens per attempt.'),
  cost: z.number().min(0).max(1_000_000).optional().describe('Cost per attempt, in whole units of money.'),
  quiet_rate: rate
    .optional()
    .describe(
      'Share of runs that find nothing new, 0 to 1. Default: 0, so that a cadence is not simulated as slower than it may be.',
    ),
  next_check_seconds: integerBetween(0, YEAR_MS / 1_000)
    .optional()
    .describe('Seconds until the next check that every agent asks for. Default: none asks.'),
})

export const assumption = named(
  'SimulationAssumption',
  assumptionFields.check(fieldsRule(assumptionFlaws)),
  'Assumptions about simulated attempts.',
)
export type AssumptionInput = Shape<typeof assumption>

const outage = named(
  'SimulationOutage',
  z.strictObject({
    kind: z.enum(OUTAGE_KINDS),
    from: isoTime,
    to: isoTime,
    agent_id: id.optional(),
    effect: z.enum(OUTAGE_EFFECTS).optional(),
  }),
  'An outage from a time (inclusive) to another (exclusive).',
)
export type OutageInput = Shape<typeof outage>

/** The id of a schedule, or its name where names are allowed. */
export const scheduleIdOrName = text(1, 512)

export const policyChange = named(
  'SimulationPolicyChange',
  z.strictObject({
    schedules: z.array(scheduleIdOrName).min(1).max(1_000).optional().describe('Ids or names. Default: all schedules.'),
    set: schedulePatch,
  }),
  'Changed policies of some or all schedules.',
)
export type PolicyChange = Shape<typeof policyChange>

export const intervention = named(
  'SimulationIntervention',
  z.strictObject({ at: timeInput, schedule_id: scheduleIdOrName, action: z.enum(INTERVENTIONS) }),
)
export type Intervention = Shape<typeof intervention>

const { evidence: _evidence, ...spoken } = whyFields
const reasonFields = { ...spoken, sentence: z.string() }

/** One attempt of a run in a simulation. */
const attempt = z.strictObject({
  number: z.int(),
  started_at: isoTime,
  finished_at: isoTime.nullable().describe('Null: still running at the end of the window.'),
  status: z.enum(RUN_STATES),
  error_code: errorCode.nullable(),
})
export type SimulatedAttemptView = Shape<typeof attempt>

const run = named(
  'SimulatedRun',
  z.strictObject({
    ...reasonFields,
    id: z.string(),
    schedule_id: z.string(),
    nominal_time: isoTime.nullable().describe('Null: a manual run.'),
    trigger: z.enum(TRIGGERS),
    status: z.enum(RUN_STATES).describe('State at the end of the window.'),
    decision: z.strictObject(reasonFields).describe('Why it was created or skipped.'),
    held_decision: z
      .strictObject(reasonFields)
      .nullable()
      .describe('Why it was held before that was decided; null for runs that never were.'),
    first_attempt: z.int(),
    attempt: z.int(),
    created_at: isoTime,
    not_before: isoTime.nullable(),
    started_at: isoTime.nullable().describe('Start of its last attempt.'),
    finished_at: isoTime.nullable(),
    lateness_ms: z
      .number()
      .nullable()
      .describe('From the nominal time to the first start. Null: not started, or not planned.'),
    error_code: errorCode.nullable(),
    tokens: z.number(),
    cost: z.number(),
    superseded: z.boolean(),
    superseded_by: z.string().nullable().describe('The occurrence that replaced it.'),
    attempts: z.array(attempt),
  }),
  'The outcome of one occurrence or manual run.',
)
export type SimulatedRunView = Shape<typeof run>

/** Occurrences that were skipped together and are not listed one by one. */
const range = z.strictObject({
  ...reasonFields,
  schedule_id: z.string(),
  first: isoTime,
  last: isoTime,
  count: z.int(),
  decided_at: isoTime,
})
export type SimulatedRangeView = Shape<typeof range>

const totals = named(
  'SimulationTotals',
  z.strictObject({
    occurrences: z.int().describe('Occurrences decided.'),
    runs: z.int().describe('Runs created, manual ones included.'),
    by_status: z.partialRecord(z.enum(RUN_STATES), z.int()),
    skipped_by_reason: z.partialRecord(spoken.reason, z.int()),
    attempts: z.int(),
    superseded: z.int(),
    max_waiting: z.int().describe('Most runs waiting at a time; `max_running` is the most running at a time.'),
    max_running: z.int(),
    busy_ms: z.number().describe('Total duration of all attempts.'),
    tokens: z.number(),
    cost: z.number(),
    lateness_p50_ms: z.number().nullable(),
    lateness_p99_ms: z.number().nullable(),
    lateness_max_ms: z.number().nullable(),
  }),
  'Totals of the window. Ranges count every occurrence in them.',
)
export type SimulationTotals = Shape<typeof totals>

const simulatedSchedule = named(
  'SimulatedSchedule',
  z.strictObject({
    id: z.string(),
    name: z.string(),
    sentence: z.string(),
    kind: z.enum(['at', 'every', 'cron', 'rrule']),
    timezone: z.string(),
    agent_id: z.string(),
    state: z.enum(SCHEDULE_STATES).nullable().describe('Null: it deleted itself.'),
    next_run_at: isoTime.nullable(),
    fires: z.int(),
    failure_streak: z.int(),
    totals,
    buckets: z
      .array(z.strictObject({ at: isoTime, by_status: z.partialRecord(z.enum(RUN_STATES), z.int()) }))
      .describe('All its runs by nominal time, also those that `rows` omits. Without empty ones.'),
    dst_notes: z.array(dstNote),
  }),
  'A simulated schedule and its state at the end.',
)
export type SimulatedScheduleView = Shape<typeof simulatedSchedule>

/** Runs waiting and running in an interval of the window. */
const depth = z.strictObject({
  at: isoTime,
  waiting: z.int().describe('Most runs waiting in the interval that starts here; `running` is the most running.'),
  running: z.int(),
  tokens: z.number(),
  cost: z.number(),
})
export type SimulatedDepth = Shape<typeof depth>

/** The fields of a result, shared by the schemas that extend it. */
export const simulationFields = {
  from: isoTime,
  to: isoTime,
  seed: z.int(),
  schedules: z.array(simulatedSchedule),
  rows: z.array(run).describe('In the order in which they were decided.'),
  ranges: z.array(range),
  truncated: z.boolean().describe('There are more rows or ranges than listed. Totals cover all of them.'),
  bucket_seconds: z.int().describe('Length of the `buckets` of schedules.'),
  depth: z.array(depth).describe('Intervals of equal length, oldest first.'),
  totals,
  outages: z.array(outage),
}

export const simulation = named('Simulation', z.strictObject(simulationFields), 'What would happen.')
export type SimulationView = Shape<typeof simulation>

/** An occurrence whose outcome differs between the two simulations. */
const change = z.strictObject({
  schedule_id: z.string(),
  nominal_time: isoTime,
  kind: z
    .enum(['status', 'timing', 'only_before', 'only_after'])
    .describe('`status`: it ends differently. `timing`: it ends the same, at other times or with other attempts.'),
  before: run.nullable(),
  after: run.nullable(),
})
export type SimulationChange = Shape<typeof change>

export const simulationDiff = named(
  'SimulationDiff',
  z.strictObject({
    changes: z.array(change),
    changed: z.int(),
    unchanged: z.int(),
    truncated: z
      .boolean()
      .describe('Not every occurrence could be compared, because at least one side lists only its first rows.'),
    before: totals,
    after: totals,
  }),
  'The differences between two sets of policies over the same window.',
)
export type SimulationDiff = Shape<typeof simulationDiff>

/** A duration: fixed, uniform between two bounds, or drawn from a list of observations. */
export type AssumedDuration = NonNullable<AssumptionInput['duration_ms']>

/** A recorded attempt. */
export interface RecordedAttempt {
  /** The nominal time of its run. */
  readonly nominal: string
  readonly attempt: number
  readonly duration_ms: number
  readonly outcome: AssumedOutcome
  readonly error_code?: ErrorCode | undefined
  readonly tokens?: number | undefined
  readonly cost?: number | undefined
  /** Its probe said no, so no agent was started. */
  readonly probe?: 'no' | undefined
}
