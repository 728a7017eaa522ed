import { z } from 'zod'
import type { Flaw } from '../../domain/input.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import { TRIGGERS } from '../../domain/run/run.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import { id, moment, whyFields } from '../../api/common.ts'
import { fieldsRule, givenMoment, text, whole } from '../../api/fields.ts'
import { errorCode } from '../runs/schema.ts'
import { OUTAGE_EFFECTS, OUTAGE_KINDS } from '../../api/outages.ts'
import { dstNote } from '../../contract/schedule-preview.ts'
import { schedulePatch } from '../../contract/schedule.ts'
import { named, type Shape } from '../../contract/shape.ts'

/** How an attempt may be assumed to go. `timeout`: it never answers, and its time limit ends it. */
export const ASSUMED_OUTCOMES = ['success', 'failed', 'timeout'] as const

export type AssumedOutcome = (typeof ASSUMED_OUTCOMES)[number]

/** What somebody does to a schedule on the way. */
export const INTERVENTIONS = ['run_now', 'disable', 'enable'] as const

const YEAR_MS = 366 * 86_400_000
const shareOfAll = z.number().min(0).max(1)
const milliseconds = whole(0, YEAR_MS)

type Assumed = Readonly<Record<string, unknown>>

/** What is assumed of attempts and contradicts itself. It is asked whatever single values are. */
function assumptionFlaws({
  duration_ms: duration,
  failure_rate: fails,
  timeout_rate: hangs,
  outcomes,
}: Assumed): Flaw[] {
  const share = (rate: unknown): number => (typeof rate === 'number' && rate >= 0 && rate <= 1 ? rate : 0)
  const { min, max } = Object(duration) as Assumed
  const flaws: Flaw[] = []
  if (typeof min === 'number' && typeof max === 'number' && min > max)
    flaws.push({ field: 'duration_ms.min', value: min, message: 'is more than max' })
  if (outcomes !== undefined && share(fails) + share(hangs) > 0)
    flaws.push({ field: 'outcomes', value: outcomes, message: 'cannot be given together with rates' })
  else if (share(fails) + share(hangs) > 1)
    flaws.push({ field: 'timeout_rate', value: hangs, message: 'is, with failure_rate, more than 1' })
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
  failure_rate: shareOfAll.optional().describe('Share of attempts that fail, 0 to 1. Default: 0.'),
  timeout_rate: shareOfAll.optional().describe('Share of attempts that time out, 0 to 1. Default: 0.'),
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
  tokens: whole(0, 1_000_000_000).optional().describe('Tokens per attempt.'),
  cost: z.number().min(0).max(1_000_000).optional().describe('Cost per attempt, in whole units of money.'),
  quiet_rate: shareOfAll
    .optional()
    .describe(
      'Share of runs that find nothing new, 0 to 1. Default: 0, so that a cadence is not simulated as slower than it may be.',
    ),
  next_check_seconds: whole(0, YEAR_MS / 1_000)
    .optional()
    .describe('Seconds until the next check that every agent asks for. Default: none asks.'),
})

export const assumption = named(
  'SimulationAssumption',
  assumptionFields.check(fieldsRule(assumptionFlaws)),
  'How attempts go that nobody performs.',
)
export type AssumptionInput = Shape<typeof assumption>

const outage = named(
  'SimulationOutage',
  z.strictObject({
    kind: z.enum(OUTAGE_KINDS),
    from: moment,
    to: moment,
    agent_id: id.optional(),
    effect: z.enum(OUTAGE_EFFECTS).optional(),
  }),
  'Something is out from a moment (inclusive) to another (exclusive).',
)
export type OutageInput = Shape<typeof outage>

/** The id of a schedule, or its name where names are let. */
export const scheduleWord = text(1, 512)

export const policyChange = named(
  'SimulationPolicyChange',
  z.strictObject({
    schedules: z.array(scheduleWord).min(1).max(1_000).optional().describe('Ids or names. Default: all schedules.'),
    set: schedulePatch,
  }),
  'Other policies than the schedules have.',
)
export type PolicyChange = Shape<typeof policyChange>

export const intervention = named(
  'SimulationIntervention',
  z.strictObject({ at: givenMoment, schedule_id: scheduleWord, action: z.enum(INTERVENTIONS) }),
)
export type Intervention = Shape<typeof intervention>

const { evidence: _evidence, ...spoken } = whyFields
const said = { ...spoken, sentence: z.string() }

/** One attempt of a run in a simulation. */
const attempt = z.strictObject({
  number: z.int(),
  started_at: moment,
  finished_at: moment.nullable().describe('Null: still running at the end of the window.'),
  status: z.enum(RUN_STATES),
  error_code: errorCode.nullable(),
})
export type SimulatedAttemptView = Shape<typeof attempt>

const run = named(
  'SimulatedRun',
  z.strictObject({
    ...said,
    id: z.string(),
    schedule_id: z.string(),
    nominal_time: moment.nullable().describe('Null: a manual run.'),
    trigger: z.enum(TRIGGERS),
    status: z.enum(RUN_STATES).describe('State at the end of the window.'),
    decision: z.strictObject(said).describe('Why it was created or skipped.'),
    held_decision: z
      .strictObject(said)
      .nullable()
      .describe('Why it was held before that was decided; null for runs that never were.'),
    first_attempt: z.int(),
    attempt: z.int(),
    created_at: moment,
    not_before: moment.nullable(),
    started_at: moment.nullable().describe('Start of its last attempt.'),
    finished_at: moment.nullable(),
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

/** Occurrences that were skipped together and are not told one by one. */
const range = z.strictObject({
  ...said,
  schedule_id: z.string(),
  first: moment,
  last: moment,
  count: z.int(),
  decided_at: moment,
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
    next_run_at: moment.nullable(),
    fires: z.int(),
    failure_streak: z.int(),
    totals,
    dst_notes: z.array(dstNote),
  }),
  'A simulated schedule and its state at the end.',
)
export type SimulatedScheduleView = Shape<typeof simulatedSchedule>

/** How full it was in a stretch of the window. */
const depth = z.strictObject({
  at: moment,
  waiting: z.int().describe('Most runs waiting in the interval that starts here; `running` is the most running.'),
  running: z.int(),
  tokens: z.number(),
  cost: z.number(),
})
export type SimulatedDepth = Shape<typeof depth>

/** The fields of a result, for what is more than one. */
export const simulationFields = {
  from: moment,
  to: moment,
  seed: z.int(),
  schedules: z.array(simulatedSchedule),
  rows: z.array(run).describe('In the order in which they were decided.'),
  ranges: z.array(range),
  truncated: z.boolean().describe('There are more rows or ranges than listed. Totals cover all of them.'),
  depth: z.array(depth).describe('Intervals of equal length, oldest first.'),
  totals,
  outages: z.array(outage),
}

export const simulation = named('Simulation', z.strictObject(simulationFields), 'What would happen.')
export type SimulationView = Shape<typeof simulation>

/** An occurrence that goes otherwise with other policies. */
const change = z.strictObject({
  schedule_id: z.string(),
  nominal_time: moment,
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
  'What two sets of policies make of the same window.',
)
export type SimulationDiff = Shape<typeof simulationDiff>

/** How long something takes: always as long, anything between two bounds, or one of what was observed. */
export type AssumedDuration = NonNullable<AssumptionInput['duration_ms']>

/** How an attempt that is on record went. */
export interface RecordedAttempt {
  /** The moment its run was planned for. */
  readonly nominal: string
  readonly attempt: number
  readonly duration_ms: number
  readonly outcome: AssumedOutcome
  readonly error_code?: ErrorCode | undefined
  readonly tokens?: number | undefined
  readonly cost?: number | undefined
  /** Its probe said no: no agent was started. */
  readonly probe?: 'no' | undefined
}
