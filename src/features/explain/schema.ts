import { z } from 'zod'
import { DELIVERY_STATES } from '../../domain/delivery/delivery.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { heldDecision, isoTime, why, whyFields } from '../../api/common.ts'
import { named, type Shape, zoneName } from '../../api/fields.ts'

/** Kinds of objects that an explanation can link to. */
export const LINK_KINDS = [
  ...(['run', 'schedule', 'session', 'agent', 'heartbeat', 'lane', 'budget', 'target', 'delivery'] as const),
  ...(['alert', 'node', 'audit', 'channel', 'provider'] as const),
] as const

export type LinkKind = (typeof LINK_KINDS)[number]

export const STEP_STATES = ['passed', 'closed', 'not_reached'] as const

export type StepState = (typeof STEP_STATES)[number]

export const STEP_STAGES = ['plan', 'admission', 'policies', 'gates', 'execution', 'delivery', 'backfill'] as const

export type StepStage = (typeof STEP_STAGES)[number]

export const FINDING_KINDS = [
  ...(['occurrence', 'schedule', 'run', 'heartbeat', 'engine', 'delivery', 'alert', 'target'] as const),
  ...(['session', 'agent', 'nothing'] as const),
] as const

export type FindingKind = (typeof FINDING_KINDS)[number]

/** The origin of the time zone in which a time without an offset was read. */
export const ZONE_SOURCES = ['given', 'schedule', 'org'] as const

export type ZoneSource = (typeof ZONE_SOURCES)[number]

const link = named(
  'ExplainLink',
  z.strictObject({
    kind: z.enum(LINK_KINDS),
    id: z.string(),
    role: z.string().describe('The name of the fact (`previous_run`), or its relation (`schedule`).'),
    api: z.string().describe('Path in the API.'),
    console: z.string().describe('Path in the console.'),
  }),
  'An object mentioned in an explanation, with its API path and console page.',
)
export type ExplainLink = Shape<typeof link>

const policy = named(
  'ExplainPolicy',
  z.strictObject({
    name: z.string(),
    value: z.string().nullable().describe('Null: the rule has no value, or the evidence has it.'),
    documentation: z.string().describe('Page of the documentation, relative to the repository root.'),
  }),
  'The policy, limit or gate that decided, with its value and documentation page.',
)
export type ExplainPolicy = Shape<typeof policy>

const step = named(
  'ExplainStep',
  z.strictObject({
    stage: z.enum(STEP_STAGES),
    name: z.string().describe('`overlap`, `session_limit`, `attempt 2`, …'),
    state: z.enum(STEP_STATES),
    sentence: z.string().nullable().describe('Result of the step. Null: nothing to report.'),
  }),
  'One check, in the order in which the engine makes them.',
)
export type ExplainStep = Shape<typeof step>

export const EXPLAIN_ACTIONS = [
  ...(['cancel', 'retry', 'run_now', 'enable', 'change_schedule', 'grow_lane', 'change_agent', 'see_workers'] as const),
  ...(['see_budget', 'see_provider', 'stop_session', 'change_session', 'enable_target', 'retry_delivery'] as const),
  'ask_moment',
] as const

/** A possible action. */
const action = z.strictObject({
  action: z.enum(EXPLAIN_ACTIONS).describe('Machine-readable name.'),
  sentence: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  command: z.string().describe('The same as a CLI command.'),
})
export type ExplainAction = Shape<typeof action>

const next = named(
  'ExplainNext',
  z.strictObject({ sentence: z.string(), actions: z.array(action) }),
  'What happens next, and the possible actions.',
)
export type ExplainNext = Shape<typeof next>

const explained = {
  sentence: z.string(),
  policy,
  links: z.array(link),
  steps: z.array(step),
  next,
}

export const runExplanation = named(
  'RunExplanation',
  z.strictObject({
    ...{
      run_id: z.string(),
      status: z.enum(RUN_STATES),
      decision: why,
      held_decision: heldDecision,
    },
    ...whyFields,
    ...explained,
  }),
  'Why a run is in its state and why it was created, in codes and in sentences.',
)
export type RunExplanation = Shape<typeof runExplanation>

export const occurrenceExplanation = named(
  'OccurrenceExplanation',
  z.strictObject({
    at: isoTime,
    run_id: z.string().nullable(),
    status: z.enum(RUN_STATES).nullable(),
    ...whyFields,
    ...explained,
  }),
  'What happened or will happen at an occurrence of a schedule, and why.',
)
export type OccurrenceExplanation = Shape<typeof occurrenceExplanation>

const finding = named(
  'ExplainFinding',
  z.strictObject({
    kind: z.enum(FINDING_KINDS),
    about: z
      .string()
      .nullable()
      .describe('Name of the schedule or id of the run that the finding is about. Null: nothing specific.'),
    status: z
      .enum([...RUN_STATES, ...DELIVERY_STATES])
      .nullable()
      .describe('State of the run or delivery that the finding is about.'),
    at: isoTime.nullable().describe('Null: it has no time.'),
    ...whyFields,
    ...{ sentence: z.string(), policy, links: z.array(link) },
  }),
  'One finding of an explanation.',
)
export type ExplainFinding = Shape<typeof finding>

/** The parsed question. */
const asked = z.strictObject({
  id: z.string().nullable(),
  at: isoTime.nullable(),
  local: z.string().nullable().describe('The same in local time.'),
  timezone: z.string().nullable(),
  timezone_from: z.enum(ZONE_SOURCES).nullable(),
  from: isoTime.nullable().describe('Start of the time range that was searched; `to` is its end.'),
  to: isoTime.nullable(),
})
export type ExplainAsked = Shape<typeof asked>

/** A planned occurrence. */
const planned = z.strictObject({ schedule_id: z.string(), name: z.string(), at: isoTime })
export type PlannedMoment = Shape<typeof planned>

/** How much was searched, so that an empty result can be judged. */
const search = z.strictObject({
  schedules: z.int(),
  schedules_in_all: z.int(),
  runs: z.int(),
  complete: z
    .boolean()
    .describe('False: not everything was searched. Name a schedule, agent or session, or a shorter time range.'),
})
export type ExplainSearch = Shape<typeof search>

const nearest = z.strictObject({ before: planned.nullable(), after: planned.nullable() })

export const explanation = named(
  'Explanation',
  z.strictObject({
    ...{
      asked,
      sentence: z.string(),
      findings: z.array(finding),
      steps: z.array(step).describe('Of a single object: the decisions about it.'),
    },
    ...{
      next: next.nullable(),
      nearest: nearest.nullable().describe('Of a time: what is planned before and after it.'),
      looked_at: search.nullable().describe('Of a time. Null: the question was about a single object.'),
    },
  }),
  'The answer to "why?", most relevant finding first.',
)
export type Explanation = Shape<typeof explanation>

const word = z.string().min(1).max(512)

/** The question. The service checks that exactly one of `id` and `at` is given. */
export const explainQuery = z.strictObject({
  id: word
    .optional()
    .describe(
      'A run, task, `job_run_id`, schedule, message, attempt, delivery, alert, heartbeat, target, agent or session; or ' +
        'the name of a schedule, or part of it.',
    ),
  at: word.optional().describe('RFC 3339, or local time without an offset: `2026-11-16T09:00`, `09:00`.'),
  timezone: zoneName
    .optional()
    .describe("Time zone of a local time. Default: that of the schedule if one is given, else the org's."),
  schedule_id: word.optional().describe('Only this schedule.'),
  agent_id: word.optional().describe('Only this agent.'),
  session: word.optional().describe('Only this session.'),
  within_seconds: z
    .int()
    .min(1)
    .max(86_400)
    .optional()
    .describe('How far before and after the time to search, in seconds. Default: 300.'),
})
export type ExplainQuery = Shape<typeof explainQuery>

/** The fields that every explanation has besides its reason. */
export type Explained = Pick<RunExplanation, keyof typeof explained>
